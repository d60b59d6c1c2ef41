"""Runs a command line of `cocco` and tells its errors, each in one line."""

from __future__ import annotations

import gc
import io
import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from cocco.cli.options import parser
from cocco.cli.options.usage import say_old_spellings
from cocco.cli.running.interrupts import hear
from cocco.cli.running.progress import alive

MAX_MESSAGE = 600  #: characters of an error message; our choice: a few lines on a terminal


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (by default that of the process) and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a layer may have any name, the terminal any encoding
    warnings.showwarning = _note
    if arguments is None:
        gc.set_threshold(10_000)  # most of what a command makes stays
    try:
        say_old_spellings(are_said=False)  # of an earlier command line in this process
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        say_old_spellings(are_said=code != 2)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _malformed(_reason(error))
    except ValueError as error:
        return _malformed(str(error))
    except ArithmeticError as error:
        return _malformed(f"a number of the input is too large for this program: {error}")
    except RecursionError:
        return _malformed("the input is nested or chained too deep for this program")
    except MemoryError:
        return _malformed("the input takes more memory than there is")


def _run(arguments: list[str]) -> int:
    options = parser.parse(arguments)
    options.line = shlex.join(["cocco", *arguments])  # kept in run folders
    if "hardware_file" in options:
        from cocco.cli.options.hardware import settle
        from cocco.cli.running.runs import settle_plans

        settle(options, settle_plans(options))
    command = import_module(f"cocco.cli.commands.{options.command}")
    hear()
    with alive("cocco", options.command, getattr(options, "progress", False)):
        code: int = command.run(options)
    return code


def _note(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one line; Python gives each only once."""
    print(f"cocco: note: {message}", file=sys.stderr)


def _reason(error: OSError) -> str:
    """Return what could not be written and why: standard output where no file is named. What is read says so itself."""
    if error.errno is None:  # it is ours
        return str(error)
    return f"{error.filename or 'standard output'}: cannot be written: {error.strerror}"


def _malformed(message: str) -> int:
    """Print the message as one printable line of bearable length; return the exit code."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(message.split()))
    if len(line) > MAX_MESSAGE:
        line = f"{line[: MAX_MESSAGE - 20]} ... {line[-15:]}"
    _say(f"cocco: error: {line}")
    return 2


def _say(line: str) -> None:
    """Print a line on stderr; where that cannot be written, the exit code says it alone."""
    with suppress(OSError):
        print(line, file=sys.stderr)
