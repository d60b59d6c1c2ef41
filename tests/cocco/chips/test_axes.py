"""Axes of a chip: which machines they make, and what is malformed."""

from __future__ import annotations

import pytest

import workloads
from cocco.chips.axes import NAMES, Axes, Value, machine_with, parsed_axis
from cocco.problem.space import SharedBuffer
from simulator import Machine, Partition, Technology, evaluate
from simulator.chip.logic import NVDLA
from simulator.memory.dram import DRAM_KINDS


def test_a_product_has_every_machine_once():
    axes = Axes({"pe": ["4x4", (8, 8)], "cores": [1, 2], "clock": [0.8, 1.0]})
    chips, left_out = axes.chips(Machine(), SharedBuffer())
    assert axes.size == len(chips) == len({chip.machine for chip in chips}) == 8 and not left_out
    assert chips[-1].name == "pe 8x8, cores 2, clock 1.0"
    assert {chip.machine.technology.macs for chip in chips} == {1024, 4096}


def test_what_a_machine_has_is_what_its_axes_say():
    found = machine_with(Machine(), {"pe": (2, 4), "lanes": (4, 16), "batch": 3, "sram": "lop", "banks": 2})
    technology = found.technology
    assert (technology.pe_rows, technology.pe_columns, technology.pe_inputs, technology.pe_outputs) == (2, 4, 4, 16)
    assert technology.pe_light_channels == 8 and found.batch == 3  # half of the outputs, as in the paper's array
    assert machine_with(Machine(), {"lanes": (4, 16), "light": 2}).technology.pe_light_channels == 2
    assert technology.activation_sram == technology.weight_sram and technology.weight_sram is not None
    assert (technology.weight_sram.table.name, technology.weight_sram.banks) == ("cacti7_22nm_lop", 2)


@pytest.mark.parametrize("clock", [0.7, 0.8, 1.0, 1.1])
def test_dram_follows_the_clock_and_cores_share_channels(clock: float):
    alone, shared = (
        machine_with(Machine(), {"dram": "lpddr5", "clock": clock, "cores": 4} | more) for more in ({}, {"channels": 2})
    )
    rate = DRAM_KINDS["lpddr5"].gigabytes_per_second
    for machine, channels in ((alone, 4), (shared, 2)):
        assert machine.technology.rate(4).per_cycle * clock == pytest.approx(channels * rate, rel=1e-3)
        assert machine.technology.dram_channels == channels


def test_the_kind_of_a_machine_keeps_its_channels():
    first = machine_with(Machine(), {"dram": "hbm2e", "channels": 3})
    assert machine_with(first, {"clock": 0.5}).technology.rate(1).per_cycle == pytest.approx(3 * 51.2 / 0.5)
    assert machine_with(Machine(), {"clock": 0.5}).technology.rate(1) == Technology().rate(1)  # bytes a cycle, as said
    assert machine_with(Machine(technology=Technology(logic=NVDLA)), {"cores": 2}).technology.logic == NVDLA


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({}, "axes must have an axis at least"),
        ({"pes": ["4x4"]}, "an axis is one of pe, lanes, cores"),
        ({"pe": "4x4"}, "axis pe must have a list of values"),
        ({"pe": []}, "axis pe must have a list of values"),
        ({"pe": ["4"]}, "axis pe must be a pair such as 4x4, got '4'"),
        ({"cores": [0]}, "axis cores must be a whole number from 1, got 0"),
        ({"cores": [1, 1]}, "axis cores has 1 twice"),
        ({"clock": ["fast"]}, "axis clock must be a number, got 'fast'"),
        ({"dram": ["sdram"]}, "axis dram: dram must be one of lpddr4x"),
        ({"cores": range(1, 102), "batch": range(1, 102)}, "axes must have at most 10,000 machines, got 10,201"),
    ],
)
def test_malformed_axes_are_one_line(axes, message: str):
    with pytest.raises(ValueError, match=message) as caught:
        Axes(axes)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_built_is_counted_by_its_rule():
    machine = Machine(groups_apart=True)
    chips, left_out = Axes({"cores": [1, 2, 4]}).chips(machine, SharedBuffer())
    assert [chip.machine.cores for chip in chips] == [1]
    assert left_out == {f"groups_apart is for one core, got {n} cores": 1 for n in (2, 4)}
    with pytest.raises(ValueError, match="no machine of the axes can be built: groups_apart is for one core"):
        Axes({"cores": [2, 4]}).chips(machine, SharedBuffer())
    with pytest.raises(ValueError, match="axis channels needs a kind of DRAM"):
        Axes({"channels": [1, 2]}).chips(Machine(), SharedBuffer())


def test_axes_are_read_as_they_are_written():
    assert parsed_axis("pe=4x4,8x8") == ("pe", ((4, 4), (8, 8)))
    assert parsed_axis("operation_pj=0.2, 0.4") == ("operation_pj", (0.2, 0.4))
    for text in ("pe", "=4x4", "pes=4x4"):
        with pytest.raises(ValueError, match="an axis is NAME=A,B"):
            parsed_axis(text)
    assert set(NAMES) >= {"pe", "lanes", "cores", "batch", "dram", "channels", "sram", "banks", "clock", "light"}


def test_depth_wise_layers_gain_from_lanes_as_half_of_their_outputs():
    """L-RASPP: 16 x 16 lanes are busy with 8 channels of a depth-wise layer, 8 x 8 with 4; with `light` 4 both are."""
    network = workloads.load("l_raspp")
    alone = {layer.name for layer in network.layers if layer.op == "conv" and layer.groups == layer.in_channels > 1}

    def cycles(**axes: Value) -> int:
        chip = machine_with(Machine(), axes).with_buffers(shared_buffer=2**22)
        found = evaluate(network, Partition.layerwise(network), chip)
        return sum(int(each.compute_cycles) for each in found.subgraphs if set(each.layers) <= alone)

    narrow, wide = cycles(lanes=(8, 8)), cycles(lanes=(16, 16))
    assert len(alone) > 10 and cycles(lanes=(16, 16), light=4) == narrow
    assert 0.5 * narrow <= wide < 0.6 * narrow
