"""Candidates that can be built: rows only, what misses the clock, errors in one line."""

from __future__ import annotations

import pytest

import workloads
from cocco.problem.buildable import buildable, missed
from cocco.problem.problem import over_space
from cocco.problem.space import SeparateBuffers, SharedBuffer
from simulator import Accelerator, KiB, Technology
from simulator.memory.reading import find_table
from simulator.memory.sram import Sram

LSTP, HP = (find_table(f"cacti7_22nm_{each}") for each in ("lstp", "hp"))


def on(sram: Sram, **more) -> Technology:
    return Technology(activation_sram=sram, weight_sram=sram, **more)


def candidates(technology, space=None):
    return over_space(workloads.load("vgg16"), space or SharedBuffer(), technology=technology).candidates[0]


def test_without_a_table_every_candidate_is_kept():
    assert candidates(Technology()) == SharedBuffer().candidates


def test_sizes_that_miss_the_clock_are_left_out_and_named():
    """Low-standby-power cells cycle in 0.97 ns at 256 KB, and in 1.016 ns at 320 KB."""
    assert candidates(on(Sram(LSTP))) == (128 * KiB, 192 * KiB, 256 * KiB)
    slow = missed(SharedBuffer().buffers, on(Sram(LSTP)))["shared_buffer"]
    assert len(slow) == 44 and slow[320 * KiB] == 1.0161 and slow[896 * KiB] == 2.1656
    chip = Accelerator(shared_buffer=896 * KiB, technology=on(Sram(LSTP)))
    assert chip.missed_clock == {"shared_buffer": 2.1656}
    assert Accelerator(shared_buffer=256 * KiB, technology=on(Sram(LSTP))).missed_clock == {}


def test_pipelined_or_at_another_clock_they_stay():
    assert candidates(on(Sram(LSTP, pipelined=True))) == SharedBuffer().candidates
    assert candidates(on(Sram(LSTP), clock_ghz=0.1)) == SharedBuffer().candidates


def test_rows_only_take_the_place_of_the_candidates_between_the_ends():
    assert candidates(on(Sram(HP, sizes="rows", pipelined=True)), SharedBuffer(100 * KiB, 512 * KiB, 1 * KiB)) == tuple(
        each * KiB for each in (128, 192, 256, 320, 384, 448, 512)
    )
    two = candidates(on(Sram(HP, sizes="rows", banks=2, pipelined=True)), SharedBuffer(100 * KiB, 512 * KiB, 1 * KiB))
    assert two == tuple(each * KiB for each in (128, 192, 256, 384, 512))


def test_each_buffer_has_its_own_table():
    problem = over_space(workloads.load("vgg16"), SeparateBuffers(), technology=Technology(weight_sram=Sram(LSTP)))
    assert problem.candidates[0] == SeparateBuffers().global_buffer.candidates
    assert problem.candidates[1] == (144 * KiB, 216 * KiB, 288 * KiB)


@pytest.mark.parametrize(
    ("sram", "space", "rule"),
    [
        (Sram(LSTP), SharedBuffer(512 * KiB, 1024 * KiB, 512 * KiB), "in a clock of 1 ns: the fastest takes 1.1686"),
        (Sram(LSTP, sizes="rows"), SharedBuffer(260 * KiB, 300 * KiB, KiB), "has no row for shared_buffer from 266240"),
        (Sram(LSTP), SharedBuffer(KiB, 64 * KiB, KiB), "goes from 32768 to 8388608 bytes, got a capacity of 1024"),
    ],
)  # fmt: skip
def test_what_leaves_nothing_is_an_error_in_one_line(sram, space, rule):
    with pytest.raises(ValueError, match=rule):
        buildable(space.buffers, on(sram))
