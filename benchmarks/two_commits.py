"""How fast this tree is against another commit: CPU seconds of the same commands in both, in turn.

    git worktree add ../before COMMIT && (cd ../before && python setup.py build_ext --inplace)
    python -m benchmarks.two_commits ../before [--times N]

Not in CI: building the other commit takes a minute of two processors. A ratio above 1 is slower than before; the least
of each is compared, since what a machine does beside only adds.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
COMMANDS = (
    "networks",
    "explore resnet50 --shared --alpha 0.002",
    "explore googlenet --method ga --keep none --samples 50000",
    "partition googlenet --shared-buffer 512KB --metric energy --samples 2000",
    "evaluate resnet50 layerwise --shared-buffer 1MB --verify",
)


def run(tree: Path, command: str) -> tuple[float, bytes]:
    """Return the CPU seconds of a command in a tree, and what it printed."""
    words = [*command.split(), "--json"] + ["--fresh"] * command.startswith(("explore", "partition"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(
        [sys.executable, "-m", "cocco.cli", *words], cwd=tree, env=environment, capture_output=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="a built tree of another commit")
    parser.add_argument("--times", type=int, default=3)
    chosen = parser.parse_args()
    print(f"{'':75}{'before':>8}{'now':>8}{'ratio':>7}   CPU seconds")
    for command in COMMANDS:
        pairs = [[run(tree, command) for tree in (chosen.other.resolve(), HERE)] for _ in range(chosen.times)]
        before, now = (min(seconds for seconds, _ in column) for column in zip(*pairs))
        same = "" if pairs[0][0][1] == pairs[0][1][1] else "   another answer"
        print(f"{command:75}{before:8.2f}{now:8.2f}{now / before:7.2f}{same}", flush=True)


if __name__ == "__main__":
    main()
