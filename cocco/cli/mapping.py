"""cocco map: each layer of a list or a network on the PE array, as a loop nest with its cost."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import workloads
from cocco.cli.output import print_json
from cocco.mapping import Rules
from cocco.mapping.layer_lists import layers_of, read_layers
from cocco.mapping.listed import Mapped, answer, map_rows
from cocco.output.folders import run as run_folder
from cocco.output.text import numbers as text
from simulator.mapping import SIMBA, LayerShape, read_architecture
from workloads.files import write_atomic


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
        found = map_rows(
            rows, arch, options.method, rules=rules, solver=options.solver, limit=options.limit,
            samples=options.samples, seed=options.seed, axes=options.fixed_axes,
        )  # fmt: skip
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
