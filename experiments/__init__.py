"""Which question has which answer: sweeps over many searches, and one script per figure or table (docs/sweeps.md)."""

import sys

if sys.argv[:1] == ["-m"]:  # Python looks for the script that it runs; Ctrl-C is heard before that imports the rest
    try:
        from cocco.cli.interrupts import leave_at_once

        leave_at_once()
    except KeyboardInterrupt:
        sys.exit(130)
