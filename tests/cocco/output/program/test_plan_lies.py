"""Lies planted in a plan, of which a program is then made in good faith: each shows when it is built and run."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

import workloads
from cocco.output.program.layout import lay_out
from cocco.output.program.program import files_of, write_program
from cocco.output.program.verify import run_program
from simulator import Accelerator, evaluate
from simulator.model.priced import price_partition
from tests.helpers.command_line import cocco
from tests.helpers.handed_on import plan
from tests.helpers.parts import first_of

CHIP = Accelerator(shared_buffer=15500, batch=2)


def priced(layout, number, **fields):
    """Say something else of the price of a step."""
    stages = [*layout.stages]
    stages[number] = replace(stages[number], price=stages[number].price._replace(**fields))
    layout.stages = tuple(stages)


def looped(layout, **fields):
    """Say something else of the loop order of the second step."""
    priced(layout, 1, loops=layout.stages[1].price.loops._replace(**fields))


def moved(layout, tensor, by):
    """Say that a buffer lies elsewhere."""
    name = next(each for each in layout.places if tensor in each)
    address, place = layout.places[name]
    layout.places[name] = address + by, place


def stepped(layout, number, **fields):
    """Say something else of what a step loads, has on chip, and writes."""
    stages = [*layout.stages]
    stages[number] = replace(stages[number], step=stages[number].step._replace(**fields))
    layout.stages = tuple(stages)


def ended(layout):
    """Say that the tensor that is kept stays for the first step only."""
    partition = layout.priced.partition
    kept = replace(partition.keep[0], until_step=0)
    layout.buffers.places[kept] = layout.buffers.places[partition.keep[0]]
    layout.priced = replace(layout.priced, partition=replace(partition, keep=(kept,)))


def swapped(layout):
    """Say that the second step comes first."""
    layout.stages = layout.stages[::-1]


#: of a plan that is claimed as it is; what shows
LIES = {
    "a region lies eight bytes lower, in another": (lambda x: moved(x, "/a/main", -8), "guard word"),
    "the kept tensor lies where the weights do": (lambda x: moved(x, "/c/whole", 64), "guard word"),
    "a tile is larger than its regions": (lambda x: priced(x, 0, tile=(12, 60)), "AddressSanitizer"),
    "two samples are at once where there is room for one": (lambda x: priced(x, 0, at_once=2), "guard word"),
    "a chunk is larger than its slot": (lambda x: looped(x, chunk=40), "AddressSanitizer"),
    "a tile of a layer is larger than its region": (lambda x: looped(x, tile=(12, 60)), "AddressSanitizer"),
    "weights come anew for each tile": (lambda x: looped(x, order="TK", chunk=8, tile=(1, 60)), "weights: claimed"),
    "an interval ends early": (ended, "AddressSanitizer"),
    "an output is not written": (lambda x: stepped(x, 1, written=()), "outputs: claimed"),
    "a tensor that stays is written as well": (lambda x: stepped(x, 0, written=(1,)), "AddressSanitizer"),
    "a step comes before its input": (swapped, "its outputs"),
}
CLAIMS = {
    "a byte of weights less": ("ema_weight_bytes", -1, "weights: claimed"),
    "inputs once more": ("ema_input_bytes", 8, "inputs: claimed"),
    "no outputs": ("ema_output_bytes", -(10**9), "outputs: claimed"),
}


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
@pytest.mark.usefixtures("unoptimized")
@pytest.mark.parametrize("lie", first_of([None, *CLAIMS, *LIES], 9))
def test_a_lie_in_a_plan_shows(lie, tmp_path):
    network, partition = plan()
    layout, evaluation = lay_out(price_partition(network, partition, CHIP)), evaluate(network, partition, CHIP)
    shown = ""
    if lie in LIES:
        change, shown = LIES[lie]
        change(layout)
    elif lie in CLAIMS:
        field, by, shown = CLAIMS[lie]
        evaluation = replace(evaluation, **{field: getattr(evaluation, field) + by})
    write_program(tmp_path, files_of(layout))
    message = run_program(network, evaluation, tmp_path).message
    assert shown in message and bool(message) == bool(lie)


LAYERS = [[layer.name] for layer in workloads.load("vgg16").layers]
FILES = {
    "a layer runs twice": ({"subgraphs": [LAYERS[0], *LAYERS]}, "conv1_1"),
    "a subgraph is in two parts": ({"subgraphs": [["conv1_1", "pool1"], ["conv1_2"], *LAYERS[3:]]}, "not connected"),
    "an interval ends before it begins": ({"keep": [{"tensor": "pool5", "from": "fc6", "until": "pool5"}]}, "pool5"),
    "an interval begins where its tensor is not": (
        {"keep": [{"tensor": "pool5", "from": "conv1_1", "until": "fc6"}]},
        "pool5",
    ),
    "a tensor stays that nothing reads": ({"keep": [{"tensor": "fc8", "from": "fc8", "until": "fc8"}]}, "fc8"),
}


@pytest.mark.parametrize("lie", FILES)
def test_a_lie_in_a_plan_file_is_refused_in_a_line(lie, tmp_path):
    changed, named = FILES[lie]
    (tmp_path / "plan.json").write_text(json.dumps({"network": "vgg16", "subgraphs": LAYERS} | changed))
    found = cocco("export", "vgg16", "plan.json", "--shared-buffer", "2MB", "--c", "x", folder=tmp_path)
    assert found.returncode == 2 and found.stderr.count("\n") == 1 and named in found.stderr
    assert not (tmp_path / "x").exists()


def test_a_plan_that_does_not_fit_is_an_answer(tmp_path):
    found = cocco("export", "vgg16", "layerwise", "--shared-buffer", "1KB", "--c", "x", folder=tmp_path)
    assert found.returncode == 1 and not (tmp_path / "x").exists()
