"""One core of a hardware file as a machine for single layers."""

from __future__ import annotations

from pathlib import Path

from cocco.mapping.array import array_of
from simulator import Accelerator, Technology
from tests.helpers.command_line import answer, assert_malformed, cocco

LAYERS = "layer,R,S,P,Q,C,K,N,stride_w,stride_h\nbody,1,1,8,8,64,64,1,1,1\n"


def test_it_has_the_lanes_the_buffers_and_the_energies_of_the_chip():
    technology = Technology(dram_pj_per_byte=40.0, pe_rows=2, pe_columns=2)
    shared = array_of(Accelerator(shared_buffer=2**16, technology=technology))
    assert shared.macs == 2 * 2 * 8 * 8 and [level.fanout for level in shared.levels] == [1, 8, 8, 4, 1]
    assert shared.levels[-1].energy_pj == 40 and shared.levels[-2].entries == 2**16
    assert shared.levels[-2].energy_pj == technology.sram_pj_per_byte(2**16)
    separate = array_of(Accelerator(global_buffer=2**16, weight_buffer=2**15))
    assert separate.names[-3:] == ("weight buffer", "global buffer", "DRAM") and separate.macs == 1024


def test_a_quarter_of_the_array_takes_four_times_the_cycles(tmp_path: Path):
    """64 x 64 channels of 8 x 8: 2^18 MACs are 256 cycles of 1,024 lanes."""
    (tmp_path / "layers.csv").write_text(LAYERS)
    (tmp_path / "full.yaml").write_text("shared_buffer: 1MB\n")
    (tmp_path / "small.yaml").write_text("shared_buffer: 1MB\ntechnology: {pe_rows: 2, pe_columns: 2}\n")
    for name, cycles in (("full", 256), ("small", 1024)):
        found = answer(cocco("map", "layers.csv", "--hardware", f"{name}.yaml", "--json", folder=tmp_path))
        assert found["architecture"] == name and found["totals"]["layers"] == 1
        assert found["layers"][0]["compute_cycles"] == cycles
    both = ("--hardware", "full.yaml", "--arch", "full.yaml")
    assert_malformed(cocco("map", "layers.csv", *both, folder=tmp_path), ["--hardware", "--arch", "one machine"])
