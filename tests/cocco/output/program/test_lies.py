"""Lies in a program that runs as claimed, in its plan, or in the claims: each shows when it is built and run."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from cocco.output.program.layout import Layout, lay_out
from cocco.output.program.program import files_of, write_program
from cocco.output.program.verify import run_program
from simulator import Accelerator, evaluate
from simulator.evaluation import Evaluation
from simulator.model.priced import price_partition
from tests.helpers.handed_on import plan
from tests.helpers.parts import first_of
from tests.helpers.random_programs import random_program
from tests.helpers.random_runs import Run

CHIP, PAIR = (*plan(), Accelerator(shared_buffer=9600)), (*plan(), Accelerator(shared_buffer=15500, batch=2))
HEADS = random_program("heads passing", 5)  #: of 16 bits, two heads at once
COUNTER, GUARD, OUTPUT, OUTSIDE = "claimed", "guard word", "its outputs", "AddressSanitizer"


@dataclass
class Case:
    """A plan with its claims, of which a program is made in good faith, and what is then changed in its text."""

    layout: Layout
    evaluation: Evaluation
    changes: list[tuple[str, str, str]] = field(default_factory=list)

    def files(self) -> dict[str, str]:
        """Return the program: of each change a file, a regular expression, and what its first match becomes."""
        files = files_of(self.layout)
        for name, found, instead in self.changes:
            text, count = re.subn(found, instead, files[name], count=1)
            assert count and text != files[name], "the lie is not told"
            files[name] = text
        return files


Lie = Callable[[Case], None]


def text(*change: str) -> Lie:
    """Write something else into a file."""
    return lambda case: case.changes.append(change)


def claimed(name: str, by: int) -> Lie:
    """Claim more bytes, or less."""

    def told(case: Case) -> None:
        case.evaluation = replace(case.evaluation, **{name: getattr(case.evaluation, name) + by})

    return told


def stage(number: int, part: str, **fields: Any) -> Lie:
    """Say something else of a step: of its price, or of what it loads, has on chip, and writes."""

    def told(case: Case) -> None:
        stages = [*case.layout.stages]
        changed = getattr(stages[number], part)._replace(**fields)
        stages[number] = replace(stages[number], **{part: changed})
        case.layout.stages = tuple(stages)

    return told


def looped(**fields: Any) -> Lie:
    """Say something else of the loop order of the second step."""

    def told(case: Case) -> None:
        loops = case.layout.stages[1].price.loops
        assert loops is not None
        stage(1, "price", loops=loops._replace(**fields))(case)

    return told


def moved(tensor: str, by: int) -> Lie:
    """Say that a buffer lies elsewhere."""

    def told(case: Case) -> None:
        name = next(each for each in case.layout.places if tensor in each)
        address, place = case.layout.places[name]
        case.layout.places[name] = address + by, place

    return told


def ended(case: Case) -> None:
    """Say that the tensor that is kept stays for the first step only."""
    layout, partition = case.layout, case.layout.priced.partition
    kept = replace(partition.keep[0], until_step=0)
    layout.buffers.places[kept] = layout.buffers.places[partition.keep[0]]  # type: ignore[index]
    layout.priced = replace(layout.priced, partition=replace(partition, keep=(kept,)))


def swapped(case: Case) -> None:
    """Say that the second step comes first."""
    case.layout.stages = case.layout.stages[::-1]


#: the plan and its machine, the lie, what shows
LIES: dict[str, tuple[Run, Lie, str]] = {
    "none": (CHIP, lambda case: None, ""),
    "a layer's weights come twice": (
        CHIP,
        text("layers.c", r"(load_weights\(&s0_a_weights[^;]*;)", r"\1 forget(&s0_a_weights); \1"),
        COUNTER,
    ),
    "rows of the input come twice": (CHIP, text("layers.c", r"(load_tile\(&s0_x,[^;]*;)", r"\1 \1"), COUNTER),
    "a tile is stored twice": (CHIP, text("layers.c", r"(store_tile\(&s1_f,[^;]*;)", r"\1 \1"), COUNTER),
    "a tile is not stored": (CHIP, text("layers.c", r"store_tile\(&s1_f,[^;]*;", ""), COUNTER),
    "a region is moved onto another": (
        CHIP,
        text("layers.c", r"(region s0_x = \{\.of = &x, \.main = AT\()\d+, \d+", r"\g<1>0, 0"),
        OUTPUT,
    ),
    "a region has a row less": (CHIP, text("sizes.h", r"(S0_A_ROWS) 6", r"\1 5"), OUTPUT),
    "a region has a column more": (CHIP, text("sizes.h", r"(S0_X_COLUMNS) 6", r"\1 7"), OUTPUT),
    "a position takes a word more": (CHIP, text("layers.c", r"(region s0_a [^}]*\.cell = )8", r"\g<1>16"), GUARD),
    "rows are saved nowhere": (CHIP, text("layers.c", r"save\(&s0_a,[^;]*;", ""), OUTPUT),
    "rows are not brought back": (CHIP, text("layers.c", r"restore\(&s0_x,[^;]*;", ""), OUTPUT),
    "a tensor is not ahead of its reader": (
        CHIP,
        text("layers.c", r"(struct pace rows = \{4, )1(, 12, 1, )", r"\g<1>0\2"),
        OUTPUT,
    ),
    "a kept tensor lies elsewhere": (
        CHIP,
        text("layers.c", r"(region kept_c = \{\.of = &c, \.main = AT\()(\d+), (\d+)", r"\g<1>\2 + 8, \3"),
        GUARD,
    ),
    "a chunk is longer than its slot": (
        CHIP,
        text("layers.c", r"(EACH\(tile\.outputs, 0, 40, )8", r"\g<1>16"),
        OUTSIDE,
    ),
    "none in a plan of two samples": (PAIR, lambda case: None, ""),
    "a byte of weights less": (PAIR, claimed("ema_weight_bytes", -1), "weights: claimed"),
    "inputs once more": (PAIR, claimed("ema_input_bytes", 8), "inputs: claimed"),
    "no outputs": (PAIR, claimed("ema_output_bytes", -(10**9)), "outputs: claimed"),
    "a region lies eight bytes lower, in another": (PAIR, moved("/a/main", -8), GUARD),
    "the kept tensor lies where the weights do": (PAIR, moved("/c/whole", 64), GUARD),
    "a tile is larger than its regions": (PAIR, stage(0, "price", tile=(12, 60)), OUTSIDE),
    "two samples are at once where there is room for one": (PAIR, stage(0, "price", at_once=2), GUARD),
    "a chunk is larger than its slot": (PAIR, looped(chunk=40), OUTSIDE),
    "a tile of a layer is larger than its region": (PAIR, looped(tile=(12, 60)), OUTSIDE),
    "weights come anew for each tile": (PAIR, looped(order="TK", chunk=8, tile=(1, 60)), "weights: claimed"),
    "an interval ends early": (PAIR, ended, OUTSIDE),
    "an output is not written": (PAIR, stage(1, "step", written=()), "outputs: claimed"),
    "a tensor that stays is written as well": (PAIR, stage(0, "step", written=(1,)), OUTSIDE),
    "a step comes before its input": (PAIR, swapped, OUTPUT),
    "numbers have half of their bits": (HEADS, text("sizes.h", "BITS 16", "BITS 8"), COUNTER),
    "all queries meet the keys of the first head": (
        HEADS,
        text("layers.c", r"(load_second\(&s0_scores_second[^;]*samples\.first, )head", r"\g<1>0"),
        OUTPUT,
    ),
    "a source does not pass": (HEADS, text("layers.c", r"load_tile\(&s0_\w+_passing,[^;]*;", ""), COUNTER),
    "channels are not in their statistics": (
        random_program("norms", 0),
        text("layers.c", r"gather\(&n_layer[^;]*;", ""),
        OUTPUT,
    ),
    "sums begin anew with each row": (
        random_program("pools", 0),
        text("rows.c", r"if \(sums\[i\]->row_at\[output\] < 0\)", "if (true)"),
        OUTPUT,
    ),
    "only the experts that take part come": (
        random_program("experts", 22),
        text("arriving.c", r"layer->used - layer->active", "0"),
        COUNTER,
    ),
}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("lie", first_of([*reversed(LIES)], 26))
@pytest.mark.usefixtures("unoptimized")
def test_a_lie_shows(lie: str, tmp_path: Path) -> None:
    (network, partition, chip), tell, shown = LIES[lie]
    case = Case(lay_out(price_partition(network, partition, chip)), evaluate(network, partition, chip))
    tell(case)
    write_program(tmp_path, case.files())
    message = run_program(network, case.evaluation, tmp_path).message
    assert shown in message and bool(message) == bool(shown)
