"""cocco show --hardware: every number of the hardware, as a file that --hardware reads."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from cocco.cli.hardware import PAPER_BUFFERS
from cocco.cli.output import print_json
from cocco.cli.usage import UsageError
from simulator import Accelerator
from simulator.hardware_files import BUFFERS, hardware_text, read_hardware


def show_hardware(options: Namespace) -> int:
    """Print the hardware of a file, or the default, as YAML with units and sources, or as JSON."""
    if options.hardware is None:
        raise UsageError("show needs a NETWORK, or --hardware")
    if options.network is not None:
        raise UsageError("--hardware not allowed with a NETWORK: show one of them")
    found: dict[str, Any] = read_hardware(options.hardware) if options.hardware else {}
    if not any(name in found for name in BUFFERS):
        found = PAPER_BUFFERS | found
    accelerator = Accelerator(**found)
    if options.json:
        print_json(accelerator.to_json())
    else:
        print(hardware_text(accelerator), end="")
    return 0
