"""How data show themselves, and what a wrong argument gets: one line that names what would do."""

from __future__ import annotations

import re

import pytest

import workloads
from simulator import (
    Accelerator,
    MiB,
    Partition,
    PartitionError,
    Technology,
    breakdown,
    evaluate,
    least_capacity,
    timeline,
)
from simulator.execution import verify
from simulator.model.buffer_plan import plan_buffers
from simulator.schedule import operators_of
from tests.helpers.graphs import chain

CHIP = Accelerator(shared_buffer=1 * MiB)
PLAN = Partition.from_ids(chain(), [range(3)])
PRICED = evaluate(chain(), PLAN, CHIP)
EVERY = {
    "network": chain(),
    "layer": chain().layers[0],
    "partition": PLAN,
    "accelerator": CHIP,
    "technology": Technology(tiles=(8, 1)),
    "evaluation": PRICED,
    "cost": PRICED.subgraphs[0],
    "breakdown": breakdown(chain(), PLAN, CHIP)[0],
    "least": least_capacity(chain(), PLAN),
    "timeline": timeline(chain(), PRICED),
    "verification": verify(chain(), PLAN, CHIP),
}


@pytest.mark.parametrize("name", EVERY)
def test_every_repr_is_one_short_line(name):
    assert "\n" not in repr(EVERY[name]) and len(repr(EVERY[name])) <= 120


def test_an_accelerator_shows_what_is_not_the_default():
    """And its repr makes it again."""
    chip = Accelerator(shared_buffer=1 * MiB, cores=2, technology=Technology(clock_ghz=0.5))
    assert repr(chip) == "Accelerator(shared_buffer=1048576, cores=2, technology=Technology(clock_ghz=0.5))"
    assert eval(repr(chip)) == chip


@pytest.mark.parametrize("name", ["network", "partition", "evaluation"])
def test_a_notebook_shows_a_summary_and_a_table_with_a_row_for_each_part(name):
    shown = EVERY[name]._repr_html_()
    assert EVERY[name].summary().splitlines()[0] in shown
    assert shown.count("<tr") == 1 + len(EVERY[name].to_frame())


def test_frames_have_a_row_for_each_layer_or_subgraph():
    layers, groups = chain().to_frame(), Partition.layerwise(chain()).to_frame()
    assert list(layers["layer"]) == list(groups["layers"]) == ["a", "b", "c"]
    assert layers["macs"].sum() == chain().macs and layers["weight_bytes"].sum() == 3968
    assert list(PLAN.to_frame()["layers"]) == list(PRICED.to_frame()["layers"]) == ["a b c"]
    assert "regions" not in PRICED.to_frame() and "regions" not in PRICED.to_json()["subgraphs"][0]


def test_summaries_of_what_cannot_run_say_why():
    tight = evaluate(chain(), PLAN, Accelerator(shared_buffer=64))
    assert tight.summary().startswith("chain cannot run\n  subgraph [a, b, c]: activations and weights exceed")
    assert repr(tight) == "Evaluation(chain, 1 subgraphs, infeasible: 1 of them cannot run)"
    assert "no layer runs alone" in PLAN.summary() and "3 layers run alone" in Partition.layerwise(chain()).summary()


NETWORK = "network must be a workloads.Network, such as workloads.load('resnet50'); got 'chain'"
PARTITION = "partition must be a simulator.Partition, such as simulator.Partition.layerwise(network); got [['a']]"
MACHINE = "accelerator must be a simulator.Accelerator, such as simulator.Accelerator(shared_buffer=2**20); got 1024"
EVALUATION = (
    "evaluation must be a simulator.Evaluation, such as simulator.evaluate(network, partition, accelerator); got 1"
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *[
            (lambda call=call: call("chain", PLAN, CHIP), NETWORK)
            for call in (evaluate, breakdown, verify, plan_buffers)
        ],
        *[(lambda call=call: call(chain(), [["a"]], CHIP), PARTITION) for call in (evaluate, breakdown, verify)],
        *[(lambda call=call: call(chain(), PLAN, 1024), MACHINE) for call in (evaluate, breakdown, verify)],
        (lambda: least_capacity("chain", PLAN), NETWORK),
        (lambda: least_capacity(chain(), [["a"]]), PARTITION),
        (lambda: timeline("chain", PRICED), NETWORK),
        (lambda: timeline(chain(), 1), EVALUATION),
        (lambda: Partition.from_groups("chain", [["a"]]), NETWORK),
        (lambda: Partition.from_ids("chain", [[0]]), NETWORK),
        (lambda: Partition.layerwise("chain"), NETWORK),
        (lambda: Partition.load("plan.json", "chain"), NETWORK),
        (lambda: Partition.from_groups(chain(), "ab"), "groups must be a list of lists of layer names; got 'ab'"),
        (lambda: Partition.from_groups(chain(), 7), "groups must be a list of lists of layer names; got 7"),
        (lambda: Partition.from_groups(chain(), [7]), "subgraph 0 is 7; it must be a list of layer names"),
        (lambda: operators_of("chain"), NETWORK),
        (lambda: workloads.save("chain", "chain.json"), NETWORK),
        (lambda: workloads.shrink("chain", 2), NETWORK),
    ],
)
def test_an_argument_of_another_type_is_told_what_would_do(call, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        call()


@pytest.mark.parametrize("look", [evaluate, breakdown, verify, plan_buffers])
def test_an_unknown_tile_rule_or_another_network_is_named(look):
    with pytest.raises(ValueError, match="tile_rule must be one of exact, paper, got 'best'"):
        look(chain(), PLAN, CHIP, tile_rule="best")
    vgg = workloads.load("vgg16")
    with pytest.raises(ValueError, match="the partition is of network 'chain', not of 'vgg16'"):
        look(vgg, PLAN, CHIP)


def test_a_group_that_is_one_string_is_named():
    with pytest.raises(PartitionError, match="subgraph 0 is the string 'ab'; it must be a list of layer names"):
        Partition.from_groups(chain(), ["ab"])
