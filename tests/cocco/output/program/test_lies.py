"""Lies planted in a program that runs as claimed: each shows as a counter, a guard, a position or an output."""

from __future__ import annotations

import re
import shutil

import pytest

from cocco.output.program.program import program_of, write_program
from cocco.output.program.verify import run_program
from simulator import Accelerator, evaluate
from tests.helpers.handed_on import plan

COUNTER, GUARD, OUTPUT = "claimed", "guard word", "its outputs"

#: file, what is replaced (a regular expression, first match), by what, what shows
LIES = {
    "a layer's weights come twice": (
        "layers.c",
        r"(load_weights\(&s0_a_weights[^;]*;)",
        r"\1 forget(&s0_a_weights); \1",
        COUNTER,
    ),
    "rows of the input come twice": ("layers.c", r"(load_tile\(&s0_x,[^;]*;)", r"\1 \1", COUNTER),
    "a tile is stored twice": ("layers.c", r"(store_tile\(&s1_f,[^;]*;)", r"\1 \1", COUNTER),
    "a tile is not stored": ("layers.c", r"store_tile\(&s1_f,[^;]*;", "", COUNTER),
    "a region is moved onto another": (
        "layers.c",
        r"(region s0_x = \{\.of = &x, \.main = AT\()\d+, \d+",
        r"\g<1>0, 0",
        OUTPUT,
    ),
    "a region has a row less": ("sizes.h", r"(S0_A_ROWS) 6", r"\1 5", OUTPUT),
    "a region has a column more": ("sizes.h", r"(S0_X_COLUMNS) 6", r"\1 7", OUTPUT),
    "a position takes a word more": ("layers.c", r"(region s0_a [^}]*\.cell = )8", r"\g<1>16", GUARD),
    "rows are saved nowhere": ("layers.c", r"save\(&s0_a,[^;]*;", "", OUTPUT),
    "rows are not brought back": ("layers.c", r"restore\(&s0_x,[^;]*;", "", OUTPUT),
    "a tensor is not ahead of its reader": ("layers.c", r"(struct pace rows = \{4, )1(, 12, 1, )", r"\g<1>0\2", OUTPUT),
    "a kept tensor lies elsewhere": (
        "layers.c",
        r"(region kept_c = \{\.of = &c, \.main = AT\()(\d+), (\d+)",
        r"\g<1>\2 + 8, \3",
        GUARD,
    ),
    "a chunk is longer than its slot": ("layers.c", r"(EACH\(tile\.outputs, 0, 40, )8", r"\g<1>16", "AddressSanitizer"),
}


@pytest.fixture(scope="module")
def truth():
    """Return the network, its evaluation, and its program."""
    network, partition = plan()
    chip = Accelerator(shared_buffer=9600)
    return network, evaluate(network, partition, chip), program_of(network, partition, chip)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("lie", [None, *LIES])
@pytest.mark.usefixtures("unoptimized")
def test_a_lie_shows(lie, truth, tmp_path):
    network, evaluation, files = truth
    shown = ""
    if lie is not None:
        name, found, instead, shown = LIES[lie]
        text, count = re.subn(found, instead, files[name], count=1)
        assert count and text != files[name], "the lie is not told"
        files = files | {name: text}
    write_program(tmp_path, files)
    message = run_program(network, evaluation, tmp_path).message
    assert shown in message and bool(message) == bool(lie)
