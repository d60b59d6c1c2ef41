"""Table 2 of the paper: which memory, with one shared buffer, by which method."""

from __future__ import annotations

from experiments.common import command
from experiments.common.experiment import Seconds
from experiments.paper import coexploration

QUESTION = "Which method finds the best memory, with one shared buffer (Table 2)?"
EXPERIMENT = coexploration.experiment("shared", QUESTION, Seconds(quick=15, full=262))
run, plot = EXPERIMENT.run, EXPERIMENT.plot


if __name__ == "__main__":
    command.script(EXPERIMENT)
