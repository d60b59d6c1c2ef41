"""Ctrl-C while the modules of a command are imported, and after its answer: the process ends, in one line.

Python would print where it was, and a module that is half imported may raise an error of its own instead. In its last
milliseconds Python gives up its handlers, and the signal would kill the process of a command that is done.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys

STOPPED = 130  #: exit code after Ctrl-C, whatever was found until then: 128 + SIGINT, as shells have it


def leave_at_once() -> None:
    """Make Ctrl-C end the process from now on, until `hear`, unless another handler is installed already."""
    if _installed(signal.default_int_handler, _leave):
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # first, so it is done last


def hear() -> None:
    """Raise KeyboardInterrupt at Ctrl-C again; where Python cannot raise it, a hundredth of a second later."""
    if _installed(_leave, signal.default_int_handler):
        sys.unraisablehook = _once_more


def answered() -> None:
    """Make Ctrl-C end the process again, after `hear`, until Python has closed all else; from then on ignore it."""
    _installed(signal.default_int_handler, _leave)


def _installed(before: object, handler: object) -> bool:
    """Return whether a handler of Ctrl-C has taken the place of another."""
    if signal.getsignal(signal.SIGINT) is not before:
        return False
    try:
        signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]
    except ValueError:  # not in the main thread, which is the one that is interrupted
        return False
    return True


def _once_more(lost: sys.UnraisableHookArgs) -> None:
    """Send the signal again if it came in a finalizer or a listener of the garbage collector, which cannot raise."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        from threading import Timer  # another thread, since the exception would be lost in here as well

        Timer(0.01, signal.raise_signal, [signal.SIGINT]).start()
    else:
        sys.__unraisablehook__(lost)


def _leave(*_: object) -> None:
    try:
        os.write(2, b"cocco: stopped\n")
    finally:
        os._exit(STOPPED)
