"""Numbers that people read: at least two significant digits, one unit in a column, and back on the command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.units import CYCLES, ENERGY, SIZE, TIME, TRAFFIC, Quantity, rounded

QUANTITIES = {"energy": ENERGY, "time": TIME, "traffic": TRAFFIC, "size": SIZE, "cycles": CYCLES}


@pytest.mark.parametrize(
    ("quantity", "value", "text"),
    [
        (ENERGY, 3.95e9, "3.950 mJ"), (ENERGY, 0.1e9, "0.100 mJ"), (ENERGY, 0.0999e9, "99.900 uJ"),
        (ENERGY, 12e12, "12.000 J"), (ENERGY, 512.0, "512.0 pJ"), (ENERGY, 0, "0.0 pJ"), (ENERGY, -2e6, "-2.000 uJ"),
        (TIME, 158_000, "0.158 ms"), (TIME, 560, "560.0 ns"), (TIME, 3, "3.0 ns"), (TIME, 2.5e10, "25.000 s"),
        (TRAFFIC, 10, "10 B"), (TRAFFIC, 1536, "1.5 KB"), (TRAFFIC, 3 * 2**20, "3.00 MB"),
        (TRAFFIC, 5 * 2**30, "5,120.00 MB"), (SIZE, 3 * 2**20, "3,072.0 KB"), (SIZE, 98 * 2**20, "98.00 MB"),
        (CYCLES, 999_999, "999,999 cycles"), (CYCLES, 4.2e6, "4.200 million cycles"),
    ],
)  # fmt: skip
def test_texts_by_hand(quantity: Quantity, value: float, text: str):
    assert quantity.text(value) == text


@pytest.mark.parametrize("name", QUANTITIES)
@given(value=st.floats(1.0, 1e15))
def test_a_text_is_the_number_to_two_digits_or_more(name: str, value: float):
    """Read back with the sizes of the units it is the number again, within 5 %, or half a byte."""
    number, unit = QUANTITIES[name].text(value).replace(",", "").split(" ", 1)
    least = 0.5 if QUANTITIES[name][0].decimals == 0 else 0.0
    assert float(number) * QUANTITIES[name].sizes[unit] == pytest.approx(value, rel=0.05, abs=least)


@given(st.lists(st.floats(1.0, 1e12), min_size=1, max_size=8))
def test_the_rows_of_a_column_compare(values: list[float]):
    """One unit, that of the largest number; what is larger never reads smaller, and nothing reads as zero."""
    unit, cells = ENERGY.column([*values, None])
    numbers = [float(cell.replace(",", "")) for cell in cells[:-1]]
    assert cells[-1] == "-" and unit == ENERGY.text(max(values)).split()[1]
    assert min(numbers) > 0 and [n for _, n in sorted(zip(values, numbers))] == sorted(numbers)


@given(st.floats(1e-9, 1e9), st.integers(0, 3))
def test_decimals_grow_until_two_digits_are_left(value: float, decimals: int):
    if decimals:
        assert float(rounded(value, decimals).replace(",", "")) == pytest.approx(value, rel=0.05)
