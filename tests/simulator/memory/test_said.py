"""What hardware files say of SRAM and DRAM: all forms, what is written is read again, errors in one line."""

from __future__ import annotations

import json
import random

import pytest

from simulator import Accelerator, KiB, Technology, load_accelerator
from simulator.hardware_files import hardware_text, read_hardware
from simulator.memory.dram import DRAM_KINDS
from simulator.memory.reading import find_table
from simulator.memory.sram import Sram
from tests.helpers.random_tables import random_technology
from workloads.errors import FileFormatError

LOP, LSTP = (Sram(find_table(f"cacti7_22nm_{each}")) for each in ("lop", "lstp"))


def read(tmp_path, text):
    path = tmp_path / "chip.yaml"
    path.write_text(text)
    return load_accelerator(path)


@pytest.mark.parametrize(
    ("said", "activation", "weights"),
    [
        ("sram: cacti7_22nm_lop", LOP, LOP),
        ("sram: {table: cacti7_22nm_lop, banks: 2}", Sram(LOP.table, banks=2), Sram(LOP.table, banks=2)),
        ("technology: {weight_sram: cacti7_22nm_lop}", None, LOP),
    ],
)
def test_a_table_for_both_or_one(tmp_path, said, activation, weights):
    chip = read(tmp_path, f"global_buffer: 512KB\nweight_buffer: 640KB\n{said}\n")
    assert chip.technology.activation_sram == activation and chip.technology.weight_sram == weights


def test_each_buffer_may_have_its_own(tmp_path):
    chip = read(
        tmp_path, "global_buffer: {size: 512KB, sram: cacti7_22nm_lstp}\nweight_buffer: {size: 640KB}\n"
        "sram: cacti7_22nm_lop\n",
    )  # fmt: skip
    assert (chip.technology.activation_sram, chip.technology.weight_sram) == (LSTP, LOP)
    assert chip.memories["global_buffer"] == LSTP.at(512 * KiB)
    chip = read(tmp_path, "shared_buffer: {size: 512KB, sram: cacti7_22nm_lop}\n")
    assert (chip.technology.activation_sram, chip.technology.weight_sram) == (LOP, LOP)


def test_a_path_is_relative_to_the_file(tmp_path):
    folder = tmp_path / "inner"
    folder.mkdir()
    head = "capacity_bytes,read_pj_per_byte,write_pj_per_byte,leakage_mw,area_mm2\n"
    (folder / "mine.csv").write_text(head + "1024,1,1,1,1\n4096,2,2,2,2\n")
    assert read(folder, "shared_buffer: 4096\nsram: {table: mine.csv}\n").leakage_mw == 2.0
    with pytest.raises(FileFormatError, match=r"mine\.csv: cannot be read"):
        read(tmp_path, "shared_buffer: 4096\nsram: {table: mine.csv}\n")


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ("gddr6", {"dram_kind": "gddr6", "dram_pj_per_byte": 60.0, "dram_bytes_per_cycle": 28}),
        (
            "{kind: lpddr4x, channels: 2}",
            {"dram_kind": "lpddr4x", "dram_pj_per_byte": 64.0, "dram_channels": 2, "channel_gb_per_s": 8.5},
        ),
        ("{pj_per_bit: 4, background_mw: 30}", {"dram_pj_per_byte": 32.0, "dram_background_mw": 30}),
        ("{gigabytes_per_second: 10.9}", {"dram_bytes_per_cycle": 10}),
    ],
)
def test_dram_by_kind_or_number(tmp_path, said, fields):
    assert read(tmp_path, f"shared_buffer: 1MB\ndram: {said}\n").technology == Technology(**fields)


def test_bandwidth_follows_the_clock_and_numbers_of_the_technology_come_first(tmp_path):
    """56 GB/s in two channels at 2 GHz: 28 bytes a cycle, of all cores; a channel for each of them: 14."""
    text = "shared_buffer: 1MB\ndram: {kind: gddr6, channels: 2}\ntechnology: {clock_ghz: 2.0, dram_pj_per_byte: 1}\n"
    found = read(tmp_path, text).technology
    assert (found.rate(2).per_cycle, found.dram_pj_per_byte) == (28, 1)
    apart = read(tmp_path, text.replace(", channels: 2", "")).technology
    assert apart.rate(2).per_cycle == 2 * 14


def test_every_kind_has_a_source():
    for name, kind in DRAM_KINDS.items():
        assert kind.source and any(year in kind.source for year in ("2012", "2017", "2019", "2020", "2022")), name
        assert 1.0 <= kind.pj_per_bit <= 25.0 and kind.gigabytes_per_second > 1.0


@pytest.mark.parametrize("seed", range(20))
def test_what_is_written_is_read_again(tmp_path, seed):
    rng = random.Random(seed)
    chip = Accelerator(global_buffer=4096, weight_buffer=8192, cores=2, technology=random_technology(rng))
    (tmp_path / "chip.yaml").write_text(hardware_text(chip))
    (tmp_path / "chip.json").write_text(json.dumps(chip.to_json()))
    assert load_accelerator(tmp_path / "chip.yaml") == load_accelerator(tmp_path / "chip.json") == chip
    assert Technology.from_json(json.loads(json.dumps(chip.technology.to_json()))) == chip.technology


def test_a_file_without_buffers_has_tables(tmp_path):
    (tmp_path / "chip.yaml").write_text("sram: cacti7_22nm_lop\n")
    assert read_hardware(tmp_path / "chip.yaml") == {"technology": Technology(activation_sram=LOP, weight_sram=LOP)}


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("sram: 3", "chip.yaml: sram is 3; it must be a table (cacti7_22nm_hp, "),
        ("sram: {banks: 2}", "chip.yaml: sram is {'banks': 2}; it must be a table"),
        ("sram: nothing", "no SRAM table is called 'nothing'; tables that ship are"),
        ("sram: {table: cacti7_22nm_lop, bank: 2}", "chip.yaml: unknown key 'bank'; sram has table, banks"),
        ("sram: {table: cacti7_22nm_lop, banks: 0}", "chip.yaml: sram.banks must be an integer from 1"),
        ("sram: {table: cacti7_22nm_lop, sizes: few}", "chip.yaml: sram.sizes must be one of any, rows"),
        ("sram: {table: cacti7_22nm_lop, node: 22}", "chip.yaml: sram.node must be a text such as 22nm, got 22"),
        ("sram: {table: {name: a}}", "chip.yaml: sram.table must have a name, a source and a list of rows"),
        ("sram: {table: {name: a, rows: [[1, 2]]}}", "chip.yaml: sram.table: row 1 is [1, 2]; it must be a list of"),
        ("sram: {table: {name: a, rows: [[1, 2, 2, 2, 2]]}}", "chip.yaml: SRAM table 'a' must have 2 to 4096 rows"),
        ("sram: {table: {name: a, rows: [[1, x, 2, 2, 2], [2, 2, 2, 2, 2]]}}", "row 1: read_pj_per_byte must be a"),
        ("technology: {weight_sram: cacti7_22nm_lop}", "chip.yaml: a shared buffer has one kind of SRAM"),
        ("dram: ddr9", "chip.yaml: dram must be one of lpddr4x, lpddr5, ddr4, ddr5, gddr6, hbm2e, hbm3, got 'ddr9'"),
        ("dram: [1]", "chip.yaml: dram is [1]; it must be one of"),
        ("dram: {kinds: ddr4}", "chip.yaml: unknown key 'kinds'; dram has kind"),
        ("dram: {channels: 2}", "chip.yaml: dram.channels needs a kind"),
        ("dram: {kind: ddr4, channels: 0}", "chip.yaml: dram.channels must be an integer from 1"),
        ("dram: {pj_per_bit: -1}", "chip.yaml: dram.pj_per_bit must be a finite number of at least 0"),
        ("technology: {dram_background_mw: -1}", "technology.dram_background_mw must be a finite number"),
        ("technology: {dram_kind: 3}", "dram must be one of"),
        ("shared_buffer: {size: 9MB, sram: cacti7_22nm_lop}", "to 8388608 bytes, got a capacity of 9437184"),
        ("shared_buffer: {sizes: 9MB}", "chip.yaml: unknown key 'sizes'; shared_buffer has size, sram"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_refused_in_one_line(tmp_path, said, rule):
    with pytest.raises(FileFormatError) as error:
        read(tmp_path, said if said.startswith("shared") else f"shared_buffer: 1MB\n{said}\n")
    assert rule in str(error.value) and "\n" not in str(error.value)
