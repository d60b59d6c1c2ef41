"""cocco hardware and cocco sram: numbers with units and sources, tables made and read, errors in one line."""

from __future__ import annotations

import stat

import pytest

from cocco.memory.cacti import CONFIG, FIELDS, row_of
from simulator import KiB, Technology, load_accelerator
from simulator.hardware_files import WORDS
from simulator.memory.reading import find_table, read_table
from simulator.technology import UNSAID
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.parts import first_of

pytestmark = pytest.mark.usefixtures("undrawn")

PRINTED = """    Cycle time (ns):  0.513812
    Total dynamic read energy per access (nJ): 0.105082
    Total dynamic write energy per access (nJ): 0.122630
    Total leakage power of a bank (mW): 10.5147
    Total gate leakage power of a bank (mW): 0.0863
    Cache height x width (mm): 0.6 x 1.5
"""  #: lines in the form of CACTI 7, with numbers that come to the row of 896 KB of cacti7_22nm_hp but for the area


@pytest.fixture
def chip(tmp_path):
    path = tmp_path / "chip.yaml"
    path.write_text("shared_buffer: 896KB\ncores: 2\nsram: cacti7_22nm_lstp\ndram: {kind: gddr6, background_mw: 5}\n")
    return path


def test_hardware_shows_every_number_with_unit_and_source(chip, tmp_path):
    shown = cocco("hardware", chip).stdout
    unsaid = {"mapper", "logic", "dram_channels", "channel_gb_per_s", "sram_bytes_per_cycle", "clock"}
    unsaid |= {"link_gb_per_s", "link_pj_per_byte"}
    assert all(f"{name}:" in shown for name in {*WORDS, "technology"} - unsaid)
    assert shown.count("CACTI 7") == 2 and "Micron's comparison" in shown and "2.166" in shown
    assert "the buffers of all 2 cores: 1.92 mm2, 0.3048 mW of leakage" in shown
    assert "the shared buffer misses the clock: it cycles in 2.166 ns, the clock takes 1 ns" in shown
    (tmp_path / "again.yaml").write_text(cocco("show", "--hardware", chip).stdout)
    assert load_accelerator(tmp_path / "again.yaml") == load_accelerator(chip)
    plain = cocco("hardware").stdout
    assert not any(f"{name}:" in plain for name in UNSAID) and "sram_base_pj_per_byte: 0.4" in plain


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_what_hardware_prints_is_a_hardware_file(columns: str, chip, tmp_path, monkeypatch):
    """Whatever the width of the terminal: no comment is cut into a line of its own."""
    monkeypatch.setenv("COLUMNS", columns)
    logic = tmp_path / "logic.yaml"
    logic.write_text(chip.read_text() + "logic: nvdla\n")
    for given in (chip, logic):
        (tmp_path / "again.yaml").write_text(cocco("hardware", given).stdout)
        assert load_accelerator(tmp_path / "again.yaml") == load_accelerator(given)


def test_hardware_as_json(chip):
    found = answer(cocco("hardware", chip, "--json"))
    assert found["memories"]["shared_buffer"]["read_pj_per_byte"] == 1.9229
    assert found["memory"] == {
        "cores": 2, "area_mm2": 1.9196, "leakage_mw": 0.3048, "missed_clock_ns": {"shared_buffer": 2.1656},
    }  # fmt: skip


def test_hardware_shows_a_table_and_lists_what_ships():
    assert "0.5263" in cocco("hardware", "cacti7_22nm_hp").stdout
    rows = answer(cocco("hardware", "cacti7_22nm_hp", "--json"))["rows"]
    assert len(rows) == 23 and rows[0]["capacity_bytes"] == 32 * KiB
    listed = cocco("hardware", "--list").stdout
    assert "cacti7_22nm_lop: 32 KB to 8192 KB, 23 rows" in listed and "hbm3: our estimate" in listed
    assert set(answer(cocco("hardware", "--list", "--json"))["dram"]) >= {"lpddr5", "ddr4"}
    assert_malformed(cocco("hardware", "--list", "x.yaml"), "--list not allowed with 'x.yaml'")


def test_evaluate_says_leakage_area_of_all_cores_and_a_missed_clock(chip):
    text = cocco("evaluate", "vgg16", "--partition", "layerwise", "--hardware", chip).stdout
    assert "leakage                 0.3048 mW" in text and "1.92 mm2 of all cores" in text
    assert "the shared buffer misses the clock" in text and "DRAM background" in text
    found = answer(cocco("evaluate", "vgg16", "--partition", "layerwise", "--hardware", chip, "--json"))
    assert found["memory"]["missed_clock_ns"] == {"shared_buffer": 2.1656}
    assert set(found["subgraphs"][0]["energy_breakdown"]) >= {"leakage", "dram_background"}
    assert "memory" not in answer(cocco("evaluate", "vgg16", "--partition", "layerwise", "--json"))


def test_what_cacti_prints_is_a_row():
    """105.08 pJ for 64 bytes, 8 banks of 10.51 + 0.09 mW."""
    row = row_of(896 * KiB, PRINTED)
    assert row == (896 * KiB, 1.6419, 1.9161, 84.808, 0.9, 0.5138)
    assert row._replace(area_mm2=0.8769) == find_table("cacti7_22nm_hp").at(896 * KiB)
    for name, pattern in FIELDS.items():
        with pytest.raises(ValueError, match=f"no answer for 4096 bytes: it prints no ({name}|height)"):
            lines = PRINTED.splitlines()
            row_of(4096, "\n".join(line for line in lines if pattern.split(r" \(")[0].split(" of")[0] not in line))
    assert "{size}" in CONFIG


def test_a_table_is_made_with_cacti(tmp_path):
    """A program in its place prints the same for every capacity, and larger is not dearer here."""
    program = tmp_path / "cacti"
    program.write_text("#!/bin/sh\ncat <<'END'\n" + PRINTED + "END\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    finished = cocco(
        "sram", "--from", "cacti", "--cacti", program, "--cells", "lop", "--node", "32nm", "--sizes", "64KB", "32KB",
        "-o", tmp_path / "mine.csv", "--json",
    )  # fmt: skip
    assert answer(finished)["name"] == "mine.csv"
    table = read_table(tmp_path / "mine.csv")
    assert table.capacities == (32 * KiB, 64 * KiB) and "32nm" in table.source and "itrs-lop" in table.source


def test_a_compilers_table_is_read_by_its_columns(tmp_path):
    (tmp_path / "compiler.csv").write_text(
        "size_kb,read_pj_per_byte,write_pj_per_byte,leakage_uw,area_um2\n16,1,1,500,10000\n64,2,2,2000,40000\n"
    )
    cocco("sram", "--from", tmp_path / "compiler.csv", "-o", tmp_path / "mine.csv")
    table = read_table(tmp_path / "mine.csv")
    assert table.capacities == (16 * KiB, 64 * KiB) and table.source == "from compiler.csv"
    assert table.at(16 * KiB).leakage_mw == 0.5 and Technology().has_tables is False


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("--from", "cacti", "--cacti", "/nowhere/cacti"), "'/nowhere/cacti' is no program"),
        (("--from", "cacti", "--sizes", "32KB"), "--sizes needs 2 to 4096 different capacities, got 1"),
        (("--from", "x.csv", "--node", "22nm"), "--node not allowed with --from 'x.csv'"),
        (("--from", "x.csv"), "x.csv: cannot be read"),
        (("--from", "cacti", "-o", "x.txt"), "-o must end in .csv"),
        ((), "--from"),
    ],
)
def test_sram_refuses_in_one_line(arguments, rule):
    assert_malformed(cocco("sram", *arguments), rule)


@pytest.mark.parametrize(
    ("name", "time", "cycles"), first_of([("vgg16", "15ms", "3e7"), ("resnet50", "5ms", "1e7")], 1)
)
def test_a_limit_of_time_is_cycles_at_the_clock(tmp_path, name, time, cycles):
    """At 2 GHz; 15 ms are 30 million cycles."""
    (tmp_path / "fast.yaml").write_text("technology: {clock_ghz: 2.0}\n")
    arguments = ("explore", name, "--minimize", "capacity", "--samples", "100", "--json")
    arguments += ("--hardware", tmp_path / "fast.yaml", "--shared", "--range", "1MB:2MB:1MB")
    said = [cocco(*arguments, "--limit", f"latency-sum={limit}").stdout for limit in (time, cycles)]
    assert said[0] == said[1]
    assert_malformed(cocco(*arguments, "--limit", "latency=5 hours"), "known units are")
    assert_malformed(cocco(*arguments, "--limit", "latency=0ms"), "must be above 0")
