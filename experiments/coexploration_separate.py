"""Table 1 of the paper: which memory, with separate buffers, by which method."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from experiments.common import coexploration, command

QUESTION = "Which method finds the best memory, with separate buffers (Table 1)?"
SECONDS = command.Seconds(quick=25, full=520)

run = partial(coexploration.run, "separate")
plot = partial(coexploration.plot, title="Separate buffers")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line of this script and return its exit code."""
    name = "coexploration_separate"
    return command.main(name, run, plot, question=QUESTION, seconds=SECONDS, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
