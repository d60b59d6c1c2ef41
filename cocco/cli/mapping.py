"""cocco map: each layer of a list or a network on the PE array, as a loop nest with its cost."""

from __future__ import annotations

import json
import math
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import workloads
from cocco.cli.output import print_json
from cocco.mapping import MappingResult, Rules, map_layer
from cocco.mapping.layer_lists import Row, layers_of, read_layers
from cocco.output.folders import run as run_folder
from cocco.output.text import numbers as text
from simulator.mapping import SIMBA, Architecture, LayerShape, read_architecture
from workloads.files import write_atomic

#: what a layer without an answer has in place of one
EMPTY = MappingResult(None, None, "gave_up", SIMBA).to_json()


class Mapped(NamedTuple):
    """A row and its answer, or the error that it is instead."""

    row: Row
    result: MappingResult | None
    error: str | None


def map_layers(options: Namespace, _: Sequence[str]) -> int:
    """Map every layer; exit code 2 if one is malformed, else 1 if one has no mapping."""
    arch = SIMBA if options.arch == "simba" else read_architecture(options.arch)
    rules = Rules(options.halo, options.stride_rule, options.multicast, split=options.split)
    is_file = options.layers.lower().endswith(".csv")
    rows = read_layers(options.layers) if is_file else layers_of(workloads.load(options.layers))
    output = Path(options.output) if options.output else None
    with ExitStack() as stack:
        if output:
            stack.enter_context(run_folder.ready(output.parent, [output.name]))
        start = time.process_time()
        known: dict[LayerShape, MappingResult] = {}
        found = [_mapped(row, arch, rules, options, known) for row in rows]
        print(f"cocco: {len(rows)} layers in {time.process_time() - start:.2f} s of CPU", file=sys.stderr)
        source = Path(options.layers).name if is_file else options.layers
        content = answer(source, options.method, arch, rules, found)
        if output:
            write_atomic(output, json.dumps(content, allow_nan=False) + "\n")
            print(f"cocco: wrote {output}", file=sys.stderr)
    for each in found:
        if each.error is not None:
            print(f"cocco: error: {each.row.name}: {each.error}", file=sys.stderr)
    if options.json:
        print_json(content)
    else:
        print(answer_text(found, content))
    if any(each.error is not None for each in found):
        return 2
    return 0 if all(each.result is not None and each.result.cost is not None for each in found) else 1


def _mapped(
    row: Row, arch: Architecture, rules: Rules, options: Namespace, known: dict[LayerShape, MappingResult]
) -> Mapped:
    if row.shape is None:
        return Mapped(row, None, row.error)
    try:
        if row.shape not in known:
            known[row.shape] = map_layer(
                row.shape, arch, options.method, rules=rules, solver=options.solver, limit=options.limit,
                samples=options.samples, seed=options.seed, axes=options.fixed_axes,
            )  # fmt: skip
    except ValueError as error:
        if not row.shape.is_depthwise:
            raise
        return Mapped(row, None, str(error))
    return Mapped(row, known[row.shape], None)


def answer(source: str, method: str, arch: Architecture, rules: Rules, found: Sequence[Mapped]) -> dict[str, Any]:
    """Return what `cocco map --json` prints; totals are over the layers that have a mapping, times their counts."""
    costs = [(each.row, each.result.cost) for each in found if each.result and each.result.cost]
    macs = sum(row.times * row.shape.macs for row, _ in costs if row.shape)
    compute = sum(row.times * cost.compute_cycles for row, cost in costs)
    return {
        "source": source,
        "method": method,
        "architecture": arch.name,
        "rules": rules.to_json(),
        "totals": {
            "layers": sum(each.row.times for each in found),
            "distinct": len({each.row.shape for each in found if each.row.shape}),
            "macs": macs,
            "cycles": math.fsum(row.times * cost.cycles for row, cost in costs),
            "bound_cycles": math.fsum(row.times * cost.bound_cycles for row, cost in costs),
            "energy_pj": math.fsum(row.times * cost.energy_pj for row, cost in costs),
            "utilization": macs / (arch.macs * compute) if compute else 0.0,
        },
        "layers": [_layer(each) for each in found],
    }


def _layer(each: Mapped) -> dict[str, Any]:
    row, shape = each.row, each.row.shape
    about: dict[str, Any] = {"name": row.name, "count": row.times, "shape": None}
    if shape is not None:
        about["shape"] = {d: getattr(shape, d.lower()) for d in "RSPQCKN"} | {
            "stride": list(shape.stride), "dilation": list(shape.dilation), "groups": shape.groups
        }  # fmt: skip
    if each.result is None:
        return about | EMPTY | {"status": "error", "error": each.error}
    return about | each.result.to_json()


def answer_text(found: Sequence[Mapped], content: dict[str, Any]) -> str:
    """Return the loop nests and a table of the costs, for people."""
    blocks = []
    rows: list[tuple[object, ...]] = []
    for each in found:
        result = each.result
        if result is None or result.cost is None or result.mapping is None:
            status = "error" if result is None else result.status
            rows.append((each.row.name, each.row.times, status, "", "", "", ""))
            continue
        blocks.append(
            f"{each.row.name}: {_shape_text(each.row.shape)}\n{_indented(result.mapping.to_text(result.names))}"
        )
        cost = result.cost
        ratio, busy = cost.cycles / cost.bound_cycles, text.percent(cost.utilization, 1)
        numbers = (f"{cost.cycles:,.0f}", f"{ratio:.3f}", busy, f"{cost.energy_pj * 1e-6:,.2f}")
        rows.append((each.row.name, each.row.times, result.status, *numbers))
    totals = content["totals"]
    heads = ("layer", "count", "status", "cycles", "/ bound", "MACs busy", "uJ")
    if totals["bound_cycles"]:
        rows.append((
            "all", totals["layers"], "", f"{totals['cycles']:,.0f}", f"{totals['cycles'] / totals['bound_cycles']:.3f}",
            text.percent(totals["utilization"], 1), f"{totals['energy_pj'] * 1e-6:,.2f}",
        ))  # fmt: skip
    return "\n\n".join([*blocks, text.table(heads, rows)])


def _shape_text(shape: LayerShape | None) -> str:
    assert shape is not None
    extents = " ".join(f"{d}{getattr(shape, d.lower())}" for d in "RSPQCKN")
    stride = "" if shape.stride == (1, 1) else f" stride {shape.stride[0]}x{shape.stride[1]}"
    return extents + stride + (f" groups {shape.groups}" if shape.groups > 1 else "")


def _indented(lines: str) -> str:
    return "\n".join(f"  {line}" for line in lines.split("\n"))
