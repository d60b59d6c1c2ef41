"""The networks that a command names: built in, or read from files, and what the reader has to say about them."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import workloads
from cocco.cli.options.usage import UsageError
from cocco.output.text.layout.numbers import counted
from workloads.errors import NetworkError
from workloads.language.step import LENGTH
from workloads.network.network import Network
from workloads.network.rewriting.in_blocks import LEFT, MADE, attention_text
from workloads.others import is_python

OPERATORS_SHOWN = 4  #: operators that a note names
STEP_OPTIONS = (
    "phase",
    "length",
    "past",
    "layers",
    "masks",
    "chips",
    "stage",
    "prefix",
    "experts",
    "attention",
)  #: options of networks: all but the last of language models


class Loaded(NamedTuple):
    """A network, and the word and the options that name it."""

    network: Network
    word: str
    options: Namespace


def load_all(options: Namespace) -> list[Loaded]:
    """Return the networks that a command line names; chunks of a prompt, or stages, are one each."""
    return [each for name in options.networks for each in _several(name, options)]


def are_stages(options: Namespace) -> bool:
    """Whether all stages of a pipeline of chips are asked for."""
    return options.parallel == "layers" and options.stage is None


def are_chunks(options: Namespace) -> bool:
    """Whether a prompt is asked for in chunks."""
    return isinstance(options.past, tuple) and options.phase != "decode"


def _several(name: str, options: Namespace) -> Iterator[Loaded]:
    """Yield the network that a name means, or the stages of a pipeline, or the chunks of a prompt.

    All but the last chunk are without norm and head.
    """
    if are_stages(options):
        if len(options.networks) > 1 or not options.chips or are_chunks(options):
            raise UsageError("--parallel layers needs --chips, one network and one --past: its stages are networks")
        for stage in range(1, options.chips + 1):
            asked = Namespace(**vars(options) | {"stage": stage})
            yield Loaded(load(name, asked), name, asked)
        return
    if not are_chunks(options):
        yield Loaded(load(name, options), name, options)
        return
    if len(options.networks) > 1 or options.stage is not None:
        raise UsageError("several chunks of --past are those of one whole network; name it alone, without --stage")
    length, first = options.length or LENGTH, options.past[0]
    wanted = tuple(range(first, first + length * len(options.past), length))
    if options.past != wanted:
        said, rule = (",".join(map(str, each)) for each in (options.past, wanted))
        raise UsageError(f"--past {said}: chunks of {length} follow each other, as in --past {rule}")
    steps = [Namespace(**vars(options) | {"past": past}) for past in options.past]
    last = load(name, steps[-1])
    if options.layers is None:
        count = sum(layer.name.endswith("_norm1") for layer in last.layers)
        steps[:-1] = [Namespace(**vars(each) | {"layers": count}) for each in steps[:-1]]
    yield from (Loaded(load(name, each), name, each) for each in steps[:-1])
    yield Loaded(last, name, steps[-1])


def load(name: str, options: Namespace) -> Network:
    """Return a network with the requested bits."""
    if getattr(options, "parallel", None) == "layers" and options.stage is None:
        raise UsageError("--parallel layers: explore takes all stages; name one with --stage, such as --stage 1")
    network, bits = _read(name, options), getattr(options, "bits", None)
    _say_attention(network, options)
    return network.retyped(bits) if bits else network


def _read(name: str, options: Namespace) -> Network:
    """Return a network; operators of an ONNX file that pass their input on are named on stderr."""
    _check_source(name)
    asked = {key: value for key in STEP_OPTIONS if (value := getattr(options, key, None)) is not None}
    attention, masks = asked.pop("attention", "layers"), asked.get("masks")
    is_onnx, is_module = _is_onnx(name), is_python(name)
    _check_imported(name, options)
    if not is_onnx and not is_module and not _is_archive(name):
        return workloads.load(name, attention=attention, **asked)
    asked.pop("masks", None)
    if asked:
        raise NetworkError(
            f"{name}: takes no option {next(iter(asked))!r}; only language models by name or config.json do"
        )
    how = {"inputs": options.inputs or ()} if is_module else {}
    how |= {"extents": dict(options.extents or [])} if is_onnx else {}
    how |= {"unsupported": options.unsupported, "masks": masks or "model"}
    network = workloads.load(name, attention=attention, **how)
    _say_batches(network)
    passed = [note for note in network.notes if note.how == "passed"]
    if passed:
        named = ", ".join(f"{note.node} ({note.op})" for note in passed[:OPERATORS_SHOWN])
        more = ", ..." if len(passed) > OPERATORS_SHOWN else ""
        print(
            f"cocco: note: {network.name}: {counted(len(passed), 'operator')} not understood; "
            f"their input is passed on: {named}{more}",
            file=sys.stderr,
        )
    return network


def _say_attention(network: Network, options: Namespace) -> None:
    """Warn on stderr if attention was requested in blocks but not all of it is."""
    found = {note.how for note in network.notes}
    if getattr(options, "attention", None) == "blocks" and (LEFT in found or MADE not in found):
        print(f"cocco: note: {network.name}: attention: {attention_text(network)}", file=sys.stderr)


def _check_source(name: str) -> None:
    """Refuse a path that is no file of a network."""
    if os.sep in name and not Path(name).suffix and not is_python(name) and not Path(name).is_file():
        what = "is a folder" if Path(name).is_dir() else "is not there"
        raise NetworkError(
            f"{name}: {what}; a network is a built-in name ('cocco networks'), a .json, an .onnx or a .pt2 file"
        )


def _is_onnx(name: str) -> bool:
    return name.lower().endswith(".onnx")


def _is_archive(name: str) -> bool:
    return name.lower().endswith(".pt2")


def _check_imported(name: str, options: Namespace) -> None:
    """Refuse what only files of one kind have where no network of the command line is one."""
    names = getattr(options, "networks", None) or [name]
    is_onnx, is_module = any(map(_is_onnx, names)), any(map(is_python, names))
    if (given := getattr(options, "extents", None)) and not is_onnx:
        word = "=".join(str(each) for each in given[0])
        raise NetworkError(f"{name}: takes no --extent {word}; only ONNX files have extents with names")
    if getattr(options, "inputs", None) and not is_module:
        raise NetworkError(f"{name}: takes no --input; only modules of your own file do, such as model.py:make_model")
    is_imported = is_onnx or is_module or any(map(_is_archive, names))
    if getattr(options, "unsupported", "error") != "error" and not is_imported:
        raise NetworkError(
            f"{name}: takes no --unsupported {options.unsupported}; only imported models have such operators"
        )


def _say_batches(network: Network) -> None:
    """Say on stderr which inputs have a batch that is read as 1."""
    batches = [note for note in network.notes if note.how == "batch"]
    if batches:
        named = ", ".join(f"{note.node} ({note.op})" for note in batches[:OPERATORS_SHOWN])
        way = f"; --{batches[0].op} plans for as many"
        print(f"cocco: note: {network.name}: read with a batch of 1: {named}{way}", file=sys.stderr)


def counts(network: Network, layers: object) -> dict[str, Any]:
    """Return the name, the layers (their number, or each of them) and the sums of a network."""
    return {
        "name": network.name,
        "layers": layers,
        "edges": network.edges,
        "macs": network.macs,
        "weight_bytes": network.weight_bytes,
    }
