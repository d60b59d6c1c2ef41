"""The `cocco` command. Exit codes: 0 done, 1 no answer, 2 malformed input, 130 stopped by Ctrl-C.

Nothing is imported before Ctrl-C is heard, and nothing heavy before the command that needs it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (by default that of the process) and return its exit code."""
    try:
        from cocco.cli.running.interrupts import answered, hear, leave_at_once

        if arguments is None:
            leave_at_once()
        try:
            from cocco.cli.line import run

            return run(arguments)
        finally:
            (answered if arguments is None else hear)()
    except KeyboardInterrupt:
        import sys

        print("cocco: stopped", file=sys.stderr)
        return 130
