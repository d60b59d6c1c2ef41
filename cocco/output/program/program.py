"""The program of a plan: the text of its files, from the layout and its steps (docs/export.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from cocco.output.program.layout import Layout, Stage, lay_out
from cocco.output.program.steps.blocks import attention_step
from cocco.output.program.steps.chains import CHAIN_ORDERS, chain_step
from cocco.output.program.steps.held import held_step
from cocco.output.program.steps.loops import loop_step
from cocco.output.program.steps.projected import projected_step
from cocco.output.program.steps.rows import rows_step
from cocco.output.program.steps.words import twice_step
from cocco.output.program.text import heads_of, layer_text, literal, remark, sharing_of
from simulator.accelerator import Accelerator
from simulator.model.priced import price_partition
from simulator.model.subgraph.regions import Region
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.intervals import KeptInterval
from simulator.partition.partition import Partition
from workloads.files import write_atomic
from workloads.network.network import Network

SUPPORT = (
    "on_chip.h", "on_chip.c", "arriving.c", "kernels.c", "statistics.c", "rows.c", "rearranging.c", "Makefile",
)  #: the same for every plan  # fmt: skip


def program_of(
    network: Network, partition: Partition, accelerator: Accelerator, tile_rule: TileRule = "exact"
) -> dict[str, str]:
    """Return the files of a C program that runs a plan in exactly its buffers, by name.

    It counts what crosses DRAM. Raises ValueError for a plan that does not fit, or of a kind that has no program yet.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, Partition
    >>> b = workloads.Builder("two")
    >>> _ = b.conv("b", b.conv("a", b.input("x", 8, 8, 8), 8, 3, padding=1), 8)
    >>> network = b.build()
    >>> plan = Partition.from_groups(network, [["a", "b"]])
    >>> sorted({*program_of(network, plan, Accelerator(shared_buffer=4096))} - {*SUPPORT})
    ['layers.c', 'layers.h', 'plan.c', 'sizes.h']
    """
    return files_of(lay_out(price_partition(network, partition, accelerator, tile_rule)))


def files_of(layout: Layout) -> dict[str, str]:
    """Return the files of a layout, by name."""
    own = {"layers.c": _layers(layout), "layers.h": _header(layout), "plan.c": _plan(layout), "sizes.h": _sizes(layout)}
    text = {name: "\n".join(lines) + "\n" for name, lines in own.items()}
    return text | {name: (files("cocco.output.program") / "c" / name).read_text() for name in SUPPORT}


def write_program(folder: Path, program: dict[str, str]) -> None:
    """Write the files of a program into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in program.items():
        write_atomic(folder / name, text)


def _layers(layout: Layout) -> list[str]:
    network, steps = layout.network, list[str]()
    for stage in layout.stages:
        steps += ["", *_step(layout, stage)]
    kept = [_kept(layout, each) for each in layout.priced.partition.keep]
    used = set(re.findall(r"&(\w+)", "\n".join([*kept, *steps])))
    tensors = [layout.tensor(u, name) for u, name in layout.names.items() if name in used]
    layers = [layer_text(layer, layout.names[v], heads_of(network, v)) for v, layer in enumerate(network.layers)]
    layers = [each for v, each in enumerate(layers) if f"{layout.names[v]}_layer" in used]
    lines = ["/* The layers of each step as loops. */", '#include "layers.h"', "", *tensors, *layers]
    return [*lines, *([""] if kept else []), *kept, *steps]


def _kept(layout: Layout, kept: KeptInterval) -> str:
    """Return the region of a tensor that stays on chip, whole."""
    tensor = layout.network.tensors[kept.tensor_id]
    region = Region((tensor.height, tensor.width), (0, 0), 0, 0)
    word = layout.priced.rules.geometry.technology.channel_alignment
    at = layout.at(layout.buffers.places[kept])
    return layout.region(layout.kept_name(kept), kept.tensor_id, at, region, -(-tensor.channels // word) * word)


def _step(layout: Layout, stage: Stage) -> Iterator[str]:
    order = "" if stage.price.loops is None else stage.price.loops.order
    return WAYS.get(order, loop_step)(layout, stage)


#: how steps that are no layer in a loop order are written; "": all regions held
WAYS = {"": held_step, "TB": attention_step, "HP": projected_step, "RS": rows_step, "TCC": twice_step} | dict.fromkeys(
    CHAIN_ORDERS, chain_step
)


def _header(layout: Layout) -> list[str]:
    steps = [f"void step_{stage.number}(void);" for stage in layout.stages]
    return ["#ifndef LAYERS_H", "#define LAYERS_H", "", '#include "on_chip.h"', "", *steps, "", "#endif"]


def _sizes(layout: Layout) -> list[str]:
    """Return the constants: of the memories, of DRAM, and of the regions of each step."""
    network, operands = layout.network, [0, *map(len, layout.network.operands)]
    sharing = max(map(sharing_of, network.layers), default=1)
    taps = max((layer.kernel[0] * layer.kernel[1] for layer in network.layers), default=1)
    constants = {
        "BITS": 8 * layout.element,
        "ON_CHIP_BYTES": layout.capacity,
        "DRAM_BYTES": layout.dram_bytes,
        "REGIONS": len(layout.places),
        "BATCH": layout.batch,
        "MOST_ROWS": max(each.height for each in network.tensors) * sharing,
        "MOST_COLUMNS": max(each.width for each in network.tensors),
        "MOST_MEETINGS": taps * max(operands),
    }
    constants |= {f"{layout.names[v]}_WEIGHTS".upper(): layout.elements(at) for v, at in layout.weights.items()}
    constants |= layout.constants
    lines = [
        f"#define {name} {value}L" if value >= 2**31 else f"#define {name} {value}" for name, value in constants.items()
    ]
    return [
        remark(f"Sizes of {network.name}: bytes, rows, columns."),
        "#ifndef SIZES_H",
        "#define SIZES_H",
        "",
        *lines,
        "",
        "#endif",
    ]


def _plan(layout: Layout) -> list[str]:
    """Return the plan: memories filled from a seed or a file, the steps in order, counters, outputs."""
    network = layout.network
    weights = layout.elements(sum(layer.weight_bytes for layer in network.layers))
    inputs = layout.elements(sum(tensor.size_bytes for tensor in network.inputs)) * layout.batch
    lines = [
        "/* The plan: its steps in order. */",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        "",
        '#include "layers.h"',
        "",
    ]
    for stage in layout.stages:
        pairs = [f"{at}, {size}" for at, size in layout.guarded(stage)]
        lines.append(f"static const long regions_{stage.number}[] = {{{', '.join(pairs) or '0'}}};")
    lines += [f"\nstatic const long weights = {weights}, inputs = {inputs};", FILL]
    lines += ["int main(int count, char **words)", "{", "    fill(count > 2 ? words[2] : NULL);"]
    for stage in layout.stages:
        n, regions = stage.number, len(layout.guarded(stage))
        title = stage.names[0] + (f" .. {stage.names[-1]}" if len(stage.names) > 1 else "")
        lines += [f"    guard_begin(regions_{n}, {regions}); {remark(title)}", f"    step_{n}();"]
        lines.append(f"    guard_end({literal(title)}, regions_{n}, {regions});")
    lines += [
        f'    printf("{kind} %llu\\n", (unsigned long long)moved[{kind.upper()}]);'
        for kind in ("weights", "inputs", "outputs")
    ]
    lines += ['    FILE *file = count > 1 ? fopen(words[1], "wb") : NULL;']
    for v in network.outputs:
        size = network.tensors[v].elements * layout.batch
        what = f"fwrite(dram + {layout.in_dram(v)}, sizeof(element), {size}, file) != {size}"
        lines.append(f"    if (file && {what}) {remark(network.tensors[v].name)}")
        lines.append('        fail("cannot be written", words[1]);')
    return [*lines, "    return file && fclose(file);", "}"]


FILL = """
/* Number i of a sequence that any machine can compute: weights 1 to 7, inputs residues. */
static uint32_t number(uint32_t i)
{
    i = (i ^ (i >> 16)) * 0x7FEB352Du;
    i = (i ^ (i >> 15)) * 0x846CA68Bu;
    return i ^ (i >> 16);
}

/* Weights and inputs, one behind the other, from a file; else from the sequence. */
static void fill(const char *name)
{
    FILE *file = name ? fopen(name, "rb") : NULL;
    size_t count = (size_t)(weights + inputs);
    if (name && (!file || fread(dram, sizeof(element), count, file) != count))
        fail("does not have all weights and inputs", name);
    if (file)
        fclose(file);
    for (long i = 0; !name && i < weights + inputs; i++)
        dram[i] = (element)(i < weights ? 1 + number((uint32_t)i) % 7 : number((uint32_t)i) % PRIME);
}
"""
