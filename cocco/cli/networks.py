"""The networks that a command names: built in, or read from files, and what the reader has to say about them."""

from __future__ import annotations

import sys
from argparse import Namespace

import workloads
from cocco.output.text.numbers import counted
from workloads import Network

SHOWN = 4  #: operators that a note names


def load(name: str, options: Namespace) -> Network:
    """Return a network; operators of an ONNX file that hand their input on are said on stderr."""
    if not name.lower().endswith(".onnx"):
        return workloads.load(name)
    network = workloads.load(name, unsupported=options.unsupported)
    passed = [note for note in network.notes if note.how == "passed"]
    if passed:
        named = ", ".join(f"{note.node} ({note.op})" for note in passed[:SHOWN])
        more = ", ..." if len(passed) > SHOWN else ""
        print(
            f"cocco: note: {network.name}: {counted(len(passed), 'operator')} not understood, their input is handed "
            f"on: {named}{more}",
            file=sys.stderr,
        )
    return network
