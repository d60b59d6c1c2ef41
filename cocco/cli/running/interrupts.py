"""Ctrl-C while the modules of a command are imported: the process ends, in one line.

Python would print where it was, and a module that is half imported may raise an error of its own instead.
"""

from __future__ import annotations

import os
import signal

STOPPED = 130  #: exit code after Ctrl-C, whatever was found until then: 128 + SIGINT, as shells have it


def leave_at_once() -> None:
    """Make Ctrl-C end the process from now on, until `hear`, unless another handler is installed already."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        try:
            signal.signal(signal.SIGINT, _leave)
        except ValueError:  # not in the main thread, which is the one that is interrupted
            return


def hear() -> None:
    """Raise KeyboardInterrupt at Ctrl-C again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(*_: object) -> None:
    try:
        os.write(2, b"cocco: stopped\n")
    finally:
        os._exit(STOPPED)
