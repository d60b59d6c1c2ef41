"""The command that proves a plan: it executes the plan on the hardware that was found for it."""

from __future__ import annotations

import shlex
from argparse import Namespace
from pathlib import Path

from cocco.cli.options.hardware import DEFAULTS, MAPPER, flag
from cocco.cli.options.networks import STEP_OPTIONS, Loaded
from cocco.exploration.answers.front import buffer_bytes
from cocco.exploration.answers.result import Result
from cocco.output.text.layout.numbers import capacity
from simulator.hardware_files import MACHINE


def proof(options: Namespace, network: Loaded, result: Result, path: Path) -> str:
    """Return the command for the plan of a network in a file."""
    words = ["cocco", "evaluate", network.word, *as_read(network.options), "--partition", str(path)]
    for column, size in buffer_bytes(result.accelerator).items():
        words += [flag(column.removesuffix("_bytes")), capacity(size).replace(" bytes", "").replace(" ", "")]
    if options.hardware_file is not None:
        words += ["--hardware", options.hardware_file]
    if options.logic is not None:
        words += ["--logic", options.logic]
    if options.link is not None:
        words += ["--link", f"{options.link:g}GB/s"]
    defaults = {name: getattr(DEFAULTS, name) for name in MACHINE} | {"tile_rule": "exact", "mapper": MAPPER}
    for name, default in defaults.items():
        if (value := getattr(options, name)) != default:
            words += [flag(name), "none" if value is None else str(value)]
    if getattr(options, "addresses", False) or options.metric == "latency":
        words.append("--addresses")
    return shlex.join([*words, "--verify"])


def as_read(options: Namespace) -> list[str]:
    """Return the options by which a network was read: which step of a language model, what of an ONNX file."""
    words = []
    for key in STEP_OPTIONS:
        if (value := getattr(options, key, None)) is not None:
            words += [flag(key), ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    if getattr(options, "bits", None):
        words += ["--bits", ",".join(f"{kind}={bits}" for kind, bits in options.bits.items())]
    for name, extent in getattr(options, "extents", None) or ():
        words += ["--extent", f"{name}={extent}"]
    for shape, kind in getattr(options, "inputs", None) or ():
        words += ["--input", ",".join(map(str, shape)) + (f":{kind}" if kind else "")]
    if getattr(options, "unsupported", "error") != "error":
        words += ["--unsupported", options.unsupported]
    return words
