"""Table 1 of the paper: which memory, with separate buffers, by which method."""

from __future__ import annotations

from experiments.common import command
from experiments.common.experiment import Seconds
from experiments.paper import coexploration

QUESTION = "Which method finds the best memory, with separate buffers (Table 1)?"
EXPERIMENT = coexploration.experiment("separate", QUESTION, Seconds(quick=25, full=208))
run, plot = EXPERIMENT.run, EXPERIMENT.plot


if __name__ == "__main__":
    command.script(EXPERIMENT)
