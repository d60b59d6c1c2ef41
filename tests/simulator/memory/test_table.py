"""SRAM tables: interpolation by hand, exact at the rows, and what a table may not be."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.memory.reading import find_table, shipped
from simulator.memory.sram import Sram, sram_of
from simulator.memory.table import COLUMNS, SramRow, SramTable

SMALL = SramRow(1024, 1.0, 2.0, 3.0, 0.01, 0.5)
LARGE = SramRow(16384, 4.0, 2.0, 0.0, 0.09, 2.0)
TABLE = SramTable("mine", (SMALL, LARGE))

POSITIVE = st.floats(1e-6, 1e6)
ROWS = st.lists(st.integers(1, 2**40), min_size=2, max_size=6, unique=True).flatmap(
    lambda sizes: st.tuples(*(st.builds(SramRow, st.just(size), *[POSITIVE] * 5) for size in sorted(sizes)))
)


def test_between_rows_numbers_are_linear_in_logarithms():
    """4 KB is half of the way from 1 to 16 KB: energy sqrt(1 * 4), area sqrt(0.01 * 0.09), cycle sqrt(0.5 * 2)."""
    found = TABLE.at(4096)
    assert found.read_pj_per_byte == pytest.approx(2.0) and found.write_pj_per_byte == 2.0
    assert found.area_mm2 == pytest.approx(0.03) and found.cycle_ns == pytest.approx(1.0)


def test_where_one_end_is_0_a_number_is_linear_in_the_capacity():
    """4 KB is a fifth of the way from 1 to 16 KB: a fifth less than 3 mW."""
    assert TABLE.at(4096).leakage_mw == pytest.approx(2.4)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.floats(0, 1))
def test_exact_at_rows_and_between_those_beside_it_elsewhere(rows, share):
    table = SramTable("any", rows)
    for row in rows:
        assert table.at(row.capacity_bytes) == row
    for lower, upper in zip(rows, rows[1:]):
        found = table.at(lower.capacity_bytes + int(share * (upper.capacity_bytes - lower.capacity_bytes)))
        for name in COLUMNS:
            ends = sorted((getattr(lower, name), getattr(upper, name)))
            assert ends[0] <= getattr(found, name) <= ends[1]


@pytest.mark.parametrize("size", [1023, 16385, 1, 2**50])
def test_outside_is_an_error_that_names_the_range(size):
    with pytest.raises(ValueError, match=rf"'mine' goes from 1024 to 16384 bytes, got a capacity of {size} bytes"):
        TABLE.at(size)


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        ((), "must have 2 to 4096 rows, got 0"),
        ((SMALL,), "must have 2 to 4096 rows, got 1"),
        ((LARGE, SMALL), "row 2: capacity_bytes must be larger than in the row before, got 1024 after 16384"),
        ((SMALL, LARGE, LARGE), "row 3: capacity_bytes must differ from the row before, got 16384 again"),
        ((SMALL, LARGE._replace(leakage_mw=-1.0)), "row 2: leakage_mw must be a finite number of at least 0"),
        ((SMALL._replace(read_pj_per_byte=math.nan), LARGE), "row 1: read_pj_per_byte must be a finite number"),
        ((SMALL, LARGE._replace(area_mm2=math.inf)), "row 2: area_mm2 must be a finite number"),
        ((SMALL._replace(capacity_bytes=0), LARGE), "row 1: capacity_bytes must be an integer from 1"),
        ((SMALL._replace(capacity_bytes=-4), LARGE), "row 1: capacity_bytes must be an integer from 1"),
        ((SMALL._replace(cycle_ns=None), LARGE), "row 2: cycle_ns must be given in all rows or in none"),
    ],
)
def test_a_table_that_is_none_is_refused_in_one_line(rows, rule):
    with pytest.raises(ValueError) as error:
        SramTable("mine", rows)
    assert rule in str(error.value) and "\n" not in str(error.value)


def test_written_and_read_bytes_are_priced_apart():
    """70 bytes are read at 1 pJ, 30 written at 2 pJ; where both are the same, their sum is."""
    assert SMALL.energy_pj(100, 30) == 70 + 60
    assert SMALL._replace(write_pj_per_byte=1.0).energy_pj(100, 30) == 100.0


def test_banks_are_macros_side_by_side():
    """4 macros of 4 KB: leakage and area of four, energy of one and the way to it, its cycle time."""
    macro, found = TABLE.at(4096), Sram(TABLE, banks=4, bank_pj_per_byte=0.5).at(16384)
    assert found.leakage_mw == 4 * macro.leakage_mw and found.area_mm2 == 4 * macro.area_mm2
    assert found.read_pj_per_byte == macro.read_pj_per_byte + 0.5 and found.cycle_ns == macro.cycle_ns


def test_with_rows_only_there_is_nothing_in_between():
    sram = Sram(TABLE, banks=2, sizes="rows")
    assert sram.capacities == (2048, 32768) and sram.has(2048) and not sram.has(4096)
    assert sram.at(2048).leakage_mw == 6.0
    with pytest.raises(ValueError, match="the nearest makes a buffer of 2048 bytes; got 4096 bytes"):
        sram.at(4096)


def test_a_buffer_misses_the_clock_unless_it_is_pipelined():
    assert Sram(TABLE).misses(16384, 1.0) == 2.0 and Sram(TABLE).misses(16384, 0.5) is None
    assert Sram(TABLE).misses(1024, 1.0) is None and Sram(TABLE, pipelined=True).misses(16384, 1.0) is None


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"banks": 0}, "sram.banks must be an integer from 1"), ({"banks": True}, "sram.banks"),
        ({"bank_pj_per_byte": -1}, "sram.bank_pj_per_byte must be a finite number of at least 0"),
        ({"bank_pj_per_byte": "1"}, "sram.bank_pj_per_byte"), ({"sizes": "all"}, "sram.sizes must be one of any, rows"),
        ({"pipelined": 1}, "sram.pipelined must be true or false"),
    ],
)  # fmt: skip
def test_fields_of_sram_are_checked(fields, rule):
    with pytest.raises(ValueError, match=rule):
        Sram(TABLE, **fields)


def test_plain_data_make_the_same():
    sram = Sram(TABLE, banks=2, sizes="rows", pipelined=True)
    assert sram_of(sram.to_json()) == sram


def test_tables_that_ship_say_where_they_come_from():
    assert set(shipped()) == {"cacti7_22nm_hp", "cacti7_22nm_lop", "cacti7_22nm_lstp"}
    for name in shipped():
        table = find_table(name)
        assert len(table.rows) == 23 and "CACTI 7" in table.source and "hwcomponents-cacti 1.0.40 (MIT)" in table.source
    assert find_table("cacti7_22nm_hp").at(917504) == SramRow(917504, 1.6419, 1.9161, 84.808, 0.8769, 0.5138)
