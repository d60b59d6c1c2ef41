"""cocco evaluate --explain and --trace: where the bytes of a partition are, and when what happens."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from cocco.cli.output import answer, print_json
from cocco.cli.plans import verify
from cocco.cli.usage import UsageError
from cocco.output.folders import run as run_folder
from cocco.output.text import evaluation as report
from cocco.output.text.numbers import capacity, counted, kilobytes, megabytes, table
from cocco.output.text.verification import verification_text
from cocco.plans.explain import Explained, Explanation, explain
from simulator import Accelerator, Partition, evaluate
from simulator.views.breakdown import Breakdown
from simulator.views.chrome_trace import chrome_trace
from workloads import Network
from workloads.files import write_atomic

TENSORS = 8  #: tensors and weights of a subgraph that the text names; our choice
CAPACITIES = {
    "shared_buffer": "a shared buffer", "global_buffer": "a global buffer", "weight_buffer": "a weight buffer",
}  # fmt: skip


def evaluate_explained(options: Namespace, network: Network, partition: Partition, accelerator: Accelerator) -> int:
    """cocco evaluate --explain --trace: price, explain, draw, print. Exit 1 where the partition does not run."""
    if options.addresses or options.output is not None:
        raise UsageError("--addresses and -o not allowed with --explain or --trace: ask for one after the other")
    path = _trace_path(options.trace)
    with run_folder.ready(path.parent, [path.name]) if path else nullcontext():
        evaluation = evaluate(network, partition, accelerator, options.tile_rule)
        found = explain(network, partition, accelerator, tile_rule=options.tile_rule) if options.explain else None
        verified = None
        if options.verify and evaluation.fits:
            verified = verify(network, partition, accelerator, options.tile_rule)
        if path and evaluation.fits:
            write_atomic(path, json.dumps(chrome_trace(network, evaluation), allow_nan=False))
            print(f"cocco: trace written to {path}", file=sys.stderr)
        elif path:
            print("cocco: no trace: the partition cannot run", file=sys.stderr)
    if options.json:
        print_json(answer(evaluation, verified) | (found.to_json() if found else {}))
    else:
        text = [report.evaluation_text(evaluation)]
        if found:
            text += explanation_text(found)
        print("\n\n".join(text))
        if verified:
            print(f"\n{verification_text(verified)}")
    return 0 if evaluation.fits and (verified is None or verified.verified) else 1


def _trace_path(text: str | None) -> Path | None:
    if text is None:
        return None
    if Path(text).suffix.lower() != ".json":
        raise UsageError(f"--trace must end in .json, got {text!r}")
    return Path(text)


def explanation_text(found: Explanation) -> Iterator[str]:
    """Yield the paragraphs about each subgraph that is explained, then what is mended."""
    for each in found.subgraphs:
        yield "\n".join([_head(each), _tensors(each.bytes), *(f"  {line}" for line in _advice(each))])
    if found.mended_evaluation is not None and found.mended is not None:
        cost = found.mended_evaluation
        yield (
            f"With every subgraph that does not fit split like that: {counted(len(found.mended), 'subgraph')}, "
            f"off-chip traffic {megabytes(cost.ema_bytes)}, energy {cost.energy_pj * 1e-9:.3f} mJ "
            "(--json prints the partition)."
        )


def _head(each: Explained) -> str:
    name, here = report.group_text(each.bytes.layers), each.bytes
    if here.status == "infeasible":
        return f"#{each.position} {name} does not fit: {here.reason}"
    how = "is held" if here.status == "held" else "is streamed"
    moved = "" if each.ema_bytes is None else f" and moves {kilobytes(each.ema_bytes)} off chip"
    return f"#{each.position} {name} {how}{moved}"


def _tensors(here: Breakdown) -> str:
    rows: list[tuple[object, ...]] = [
        (
            tensor.tensor, tensor.role, kilobytes(tensor.main_bytes), kilobytes(tensor.side_bytes),
            "-" if tensor.dram_bytes is None else kilobytes(tensor.dram_bytes),
        )
        for tensor in here.tensors[:TENSORS]
    ]  # fmt: skip
    rows += [(each.layer, "weights", kilobytes(each.weight_bytes), "", "") for each in here.weights[:TENSORS]]
    more = max(0, len(here.tensors) - TENSORS) + max(0, len(here.weights) - TENSORS)
    tile = "" if here.tile is None else f" at tiles of {here.tile[0]} x {here.tile[1]}"
    total = (
        f"  in all {kilobytes(here.activation_bytes)} of activations{tile}, {kilobytes(here.weight_bytes)} of weights"
    )
    if here.reserved_bytes:
        total += f", {kilobytes(here.reserved_bytes)} kept free for the next weights"
    heads = ("tensor", "is", "MAIN or weights", "SIDE", "off-chip")
    return table(heads, rows, left=2) + (f"\n  and {more} smaller" if more else "") + f"\n{total}"


def _advice(each: Explained) -> Iterator[str]:
    here = each.bytes
    if here.fits_from is not None:
        sizes = " and ".join(f"{CAPACITIES[name]} of {capacity(size)}" for name, size in here.fits_from.items())
        yield f"held from: {sizes}"
    elif here.status == "infeasible":
        yield "held from: no memory is enough"
    if each.split is not None:
        change = "" if each.ema_bytes is None else f" ({each.split.ema_bytes - each.ema_bytes:+,} bytes)"
        parts = " | ".join(map(report.group_text, each.split.parts))
        yield f"best split: {parts}: {kilobytes(each.split.ema_bytes)} off chip{change}"
    elif len(here.layers) > 1:
        yield "best split: none"
