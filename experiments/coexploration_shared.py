"""Table 2 of the paper: which memory, with one shared buffer, by which method."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

from experiments.common import coexploration, command

QUESTION = "Which method finds the best memory, with one shared buffer (Table 2)?"
SECONDS = command.Seconds(quick=15, full=510)

run = partial(coexploration.run, "shared")
plot = partial(coexploration.plot, title="One shared buffer")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line of this script and return its exit code."""
    name = "coexploration_shared"
    return command.main(name, run, plot, question=QUESTION, seconds=SECONDS, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
