"""Hardware files: everything can be said, what show prints can be read, and both engines obey it."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from cocco.problem.problem import on_hardware
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, Partition, Technology, evaluate, load_accelerator
from simulator.execution.verify import verify
from simulator.hardware_files import WORDS, hardware_text, read_hardware
from simulator.model.pricing import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.graphs import chain
from tests.helpers.same_prices import assert_same_prices
from tests.helpers.search_graphs import networks

POSITIVE = st.floats(1e-5, 1e6)
COUNT = st.integers(1, 64)
TILES = st.sets(st.integers(1, 70), min_size=1, max_size=6).map(lambda found: tuple(sorted(found, reverse=True)))
TECHNOLOGIES = st.builds(
    Technology,
    dram_pj_per_byte=st.floats(0, 1e3), dram_bytes_per_cycle=COUNT, clock_ghz=POSITIVE,
    sram_base_pj_per_byte=POSITIVE, sram_root_pj_per_byte=POSITIVE, operation_pj=POSITIVE,
    crossbar_pj_per_byte=POSITIVE, crossbar_bytes_per_cycle=COUNT, sram_mm2_per_mb=POSITIVE,
    pe_rows=COUNT, pe_columns=COUNT, pe_inputs=COUNT, pe_outputs=COUNT, pe_light_channels=COUNT,
    channel_alignment=COUNT, buffer_word_bytes=COUNT, tiles=TILES,
)  # fmt: skip
MACHINES = st.builds(
    lambda buffers, **more: Accelerator(**buffers, **more),
    st.one_of(
        st.fixed_dictionaries({"shared_buffer": st.integers(1, 2**40)}),
        st.fixed_dictionaries({"global_buffer": st.integers(1, 2**40), "weight_buffer": st.integers(1, 2**40)}),
    ),
    cores=COUNT, batch=COUNT, max_regions=st.none() | COUNT,
    technology=TECHNOLOGIES,
)  # fmt: skip


def test_every_number_has_its_words():
    """But the mapper, which is no number (--mapper names it), and whether groups of channels run apart."""
    names = {each.name for each in (*fields(Accelerator), *fields(Technology))}
    assert names - {"mapper"} == set(WORDS) and all(WORDS.values())


@settings(deadline=None, max_examples=40)
@given(MACHINES)
def test_what_is_written_is_read_again(tmp_path_factory, machine):
    path = tmp_path_factory.mktemp("chip") / "chip.yaml"
    path.write_text(hardware_text(machine))
    assert load_accelerator(path) == machine
    path.with_suffix(".json").write_text(json.dumps(json.loads(json.dumps(evaluated(machine)))))
    assert load_accelerator(path.with_suffix(".json")) == machine


def evaluated(machine: Accelerator) -> dict:
    """The accelerator as `cocco evaluate --json` prints it, of what it can run."""
    network = chain()
    found = evaluate(network, Partition.layerwise(network), machine)
    return found.to_json()["accelerator"] if found.fits else machine.to_json()


def test_changes_replace_what_the_file_says(tmp_path):
    path = tmp_path / "chip.yaml"
    path.write_text("global_buffer: 1MB\nweight_buffer: 1152KB\ncores: 4\ntechnology: {clock_ghz: 2}\n")
    chip = load_accelerator(path)
    assert (chip.global_buffer, chip.weight_buffer, chip.cores) == (2**20, 1152 * 1024, 4)
    assert chip.technology == Technology(clock_ghz=2)
    assert load_accelerator(path, shared_buffer=4096, cores=2) == Accelerator(
        shared_buffer=4096, cores=2, technology=Technology(clock_ghz=2)
    )


def test_a_geometry_of_another_technology_is_an_error():
    network, chip = workloads.load("vgg16"), Accelerator(shared_buffer=2**20, technology=Technology(pe_rows=8))
    with pytest.raises(ValueError, match="different technologies"):
        PricingRules(Geometry(network), chip, "exact")


def test_the_array_is_that_of_the_technology():
    """A 1x1 array of one MAC takes a cycle for each MAC, and words of one channel pad nothing."""
    network = workloads.load("vgg16")
    narrow = Technology(pe_rows=1, pe_columns=1, pe_inputs=1, pe_outputs=1, pe_light_channels=1, channel_alignment=1)
    chip = Accelerator(shared_buffer=2**22, technology=narrow)
    found = evaluate(network, Partition.layerwise(network), chip)
    convolutions = {layer.name: layer.macs for layer in network.layers if layer.op == "conv"}
    assert convolutions
    for cost in found.subgraphs:
        if cost.layers[0] in convolutions:
            assert cost.compute_cycles == convolutions[cost.layers[0]]
    only = Partition.from_groups(network, [["conv1_1..conv1_2"]]) if "conv1_1" in network.index else None
    plan = only or Partition.layerwise(network)
    assert verify(network, plan, replace(chip, technology=replace(narrow, tiles=(5, 3)))).verified


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@settings(deadline=None, max_examples=60)
@given(networks(most=8), TECHNOLOGIES, st.integers(64, 20_000), st.integers(1, 3), st.integers(1, 3), st.data())
def test_both_engines_price_another_technology_alike(network, technology, size, cores, batch, data):
    shared = data.draw(st.booleans())
    buffers = {"shared_buffer": size} if shared else {"global_buffer": size, "weight_buffer": size // 2}
    machine = Accelerator(**buffers, cores=cores, batch=batch, technology=technology)
    assert_same_prices(on_hardware(network, machine, metric="energy"))


@pytest.fixture
def chip(tmp_path: Path) -> Path:
    path = tmp_path / "chip.yaml"
    path.write_text("shared_buffer: 512KB\ncores: 2\ntechnology:\n  dram_pj_per_byte: 40\n  pe_rows: 8\n")
    return path


def test_show_prints_a_file_that_is_the_default(tmp_path):
    path = tmp_path / "default.yaml"
    path.write_text(cocco("show", "--hardware").stdout)
    shown = answer(cocco("show", "--hardware", path, "--json"))
    arguments = ("evaluate", "vgg16", "--partition", "layerwise", "--json")
    plain, given = cocco(*arguments), cocco(*arguments, "--hardware", path)
    assert plain.stdout == given.stdout and answer(plain)["accelerator"] == shown
    path.with_suffix(".json").write_text(json.dumps(shown))
    assert read_hardware(path) == read_hardware(path.with_suffix(".json"))


def test_options_win_over_the_file(chip):
    arguments = ("evaluate", "vgg16", "--partition", "layerwise", "--hardware", chip, "--json")
    found = answer(cocco(*arguments))["accelerator"]
    assert (found["shared_buffer"], found["cores"], found["technology"]["dram_pj_per_byte"]) == (512 * 1024, 2, 40)
    found = answer(cocco(*arguments, "--cores", "1", "--global-buffer", "64KB", "--weight-buffer", "64KB"))[
        "accelerator"
    ]
    assert (found["shared_buffer"], found["global_buffer"], found["cores"]) == (None, 65536, 1)
    assert found["technology"]["pe_rows"] == 8


def test_searches_use_the_file(chip, tmp_path):
    plan = tmp_path / "plan.json"
    finished = cocco("partition", "vgg16", "--hardware", chip, "--method", "greedy", "-o", plan)
    assert finished.returncode == 0 and f"--hardware {chip}" in finished.stdout
    found = answer(cocco("explore", "vgg16", "--hardware", chip, "--samples", "50", "--json", "-o", tmp_path / "run"))
    assert found["accelerator"]["technology"]["dram_pj_per_byte"] == 40 and found["accelerator"]["cores"] == 2
    saved = json.loads((tmp_path / "run" / "result.json").read_text())
    assert saved["settings"]["technology"]["dram_pj_per_byte"] == 40
    finished = cocco("pareto", "vgg16", "--hardware", chip, "--samples", "50", "--json")
    assert finished.returncode == 0 and "the buffers of" in finished.stderr
    one = tmp_path / "one.yaml"
    one.write_text("shared_buffer: 512KB\n")
    asked: list[tuple[object, ...]] = [(), ("--hardware", chip), ("--hardware", one)]
    least = [answer(cocco("capacity", "vgg16", plan, *more, "--json"))["runs"] for more in asked]
    assert least[0] == least[1] != least[2]  # the plan knows its hardware; two cores halve the weights


@pytest.mark.parametrize(("text", "words"), [
    ("cors: 2\n", ["unknown key", "cors", "cores"]),
    ("clock_ghz: 2\n", ["unknown key", "clock_ghz", "it belongs below technology"]),
    ("technology: {cores: 2}\n", ["unknown key", "cores", "it belongs outside technology"]),
    ("technology: {dram_pj: 2}\n", ["unknown key", "dram_pj", "technology has"]),
    ("technology: {dram_pj_per_byte: 12.5 pJ/bit}\n", ["technology.dram_pj_per_byte", "pJ per byte", "12.5 pJ/bit"]),
    ("technology: {dram_pj_per_byte: .nan}\n", ["nan", "finite"]),
    ("technology: {operation_pj: -1}\n", ["technology.operation_pj", "-1", "pJ per MAC"]),
    ("technology: {clock_ghz: 0}\n", ["technology.clock_ghz", "GHz"]),
    ("technology: {pe_rows: 2.5}\n", ["technology.pe_rows", "2.5"]),
    ("technology: {pe_rows: true}\n", ["technology.pe_rows", "True"]),
    ("technology: {tiles: [8, 16]}\n", ["technology.tiles", "fall from the largest"]),
    ("technology: {tiles: []}\n", ["technology.tiles"]),
    ("technology: 5\n", ["technology is", "mapping"]),
    ("global_buffer: 1 MW\nweight_buffer: 1MB\n", ["global_buffer", "KB, MB or GB", "1 MW"]),
    ("global_buffer: 1.5\nweight_buffer: 1MB\n", ["global_buffer", "1.5"]),
    ("global_buffer: 1MB\n", ["global_buffer needs weight_buffer"]),
    ("shared_buffer: 1MB\nglobal_buffer: 1MB\nweight_buffer: 1MB\n", ["either global_buffer and weight_buffer"]),
    ("shared_buffer: 0\n", ["shared_buffer", "from 1"]),
    ("cores: many\n", ["cores", "'many'"]),
    ("max_regions: 0\n", ["max_regions"]),
    ("[]\n", ["must hold a mapping"]),
])  # fmt: skip
def test_a_file_that_is_no_hardware_is_named(tmp_path, text, words):
    path = tmp_path / "chip.yaml"
    path.write_text(text)
    with pytest.raises(ValueError) as caught:
        read_hardware(path)
    assert "\n" not in str(caught.value)
    for word in (str(path), *words):
        assert word in str(caught.value)


def test_bad_hardware_on_the_command_line_is_one_line(tmp_path):
    path = tmp_path / "chip.yaml"
    path.write_text("technology: {dram_pj_per_byte: .nan}\n")
    for arguments in (("show",), ("explore", "vgg16")):
        assert_malformed(cocco(*arguments, "--hardware", path), [str(path), "nan"])
    assert_malformed(cocco("show"), ["NETWORK", "--hardware"])
    assert_malformed(cocco("show", "vgg16", "--hardware"), ["--hardware not allowed with a NETWORK"])
    assert_malformed(cocco("show", "--hardware", tmp_path / "none.yaml"), ["none.yaml", "cannot be read"])
