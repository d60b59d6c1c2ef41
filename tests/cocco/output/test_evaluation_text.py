"""What is printed of a price: off-chip traffic against the least, and the layers that move something often."""

from __future__ import annotations

import workloads
from cocco.output.text.plans.evaluation import SCHEME_WORDS, evaluation_text, reread_text, subgraphs_text, totals_text
from cocco.output.text.plans.explanation import explanation_text
from cocco.plans.explain import explain
from simulator import Accelerator, Partition, evaluate
from simulator.model.compulsory import Reread
from simulator.model.schemes.moved import CORE_SCHEMES
from simulator.units import TRAFFIC
from tests.helpers.graphs import chain

OFTEN = Reread("conv1", "inputs", 6.04, activation_bytes=100 * 1024, weight_bytes=1000 * 1024 - 100)


def test_traffic_stands_beside_the_least():
    """Layer by layer the chain moves 3,968 + 2,048 + 2 x 4,096 + 2 x 1,024 + 2,048 bytes, in one subgraph 8,064."""
    chip = Accelerator(shared_buffer=2**16)
    lines = evaluation_text(evaluate(chain(), Partition.layerwise(chain()), chip)).splitlines()
    (line,) = [line for line in lines if "off-chip traffic (EMA)" in line]
    assert line.endswith("; 2.27 times the least (weights, inputs, outputs once)")  # 18,304 / 8,064


def test_a_layer_that_moves_something_often_says_from_where_on_it_fits():
    shared = reread_text(OFTEN, Accelerator(shared_buffer=2**16))
    assert shared == "conv1 moves its inputs 6.0 times; it fits from 1,100 KB on"
    apart = reread_text(OFTEN, Accelerator(global_buffer=2**16, weight_buffer=2**16))
    assert apart.endswith("it fits from a global buffer of 100 KB and a weight buffer of 1,000 KB on")


def test_several_cores_say_how_they_share_each_subgraph():
    """Two cores rotate the weights of the chain in one subgraph; one core says nothing."""
    assert tuple(SCHEME_WORDS) == CORE_SCHEMES
    plan = Partition.from_groups(chain(), [["a", "b", "c"]])
    for cores in (1, 2):
        chip = Accelerator(shared_buffer=2**16, cores=cores)
        evaluation, found = evaluate(chain(), plan, chip), explain(chain(), plan, chip)
        scheme, text = evaluation.subgraphs[0].scheme, evaluation_text(evaluation)
        told = next(iter(explanation_text(found))).splitlines()[0]
        assert [each.bytes.scheme for each in found.subgraphs] == [scheme]
        (row,) = found.to_json()["explained"]
        if cores == 1:
            assert (
                scheme == ""
                and "scheme" not in row
                and "cores " not in text
                and not any(words in told for words in SCHEME_WORDS.values())
            )
        else:
            assert row["scheme"] == scheme
            (line,) = (line for line in text.splitlines() if line.startswith("  cores "))
            crossing = f"{TRAFFIC.text(evaluation.crossbar_bytes)} cross between them"
            assert line == f"  cores                   {scheme} 1 ({SCHEME_WORDS[scheme]}); {crossing}"
            assert f"({SCHEME_WORDS[scheme]})" in told
            assert text.splitlines()[-1].split()[:5] == ["0", "a", "..", "c", "(3)"]
            assert text.splitlines()[-1].split()[5] == scheme


def test_a_plan_that_repeats_is_shown_once():
    """Layer by layer, the second layer of a language model to the last norm cost what the first costs."""
    network = workloads.load("gpt2", length=8)
    plan = Partition.layerwise(network)
    text = subgraphs_text(evaluate(network, plan, Accelerator(shared_buffer=2**20)))
    assert "subgraphs 13 to 156 (l2_norm1 to norm) repeat 0 to 12" in text
    assert len(text.splitlines()) == 3 + 13 + 1 + 1  # heads of two lines, a layer, the head, the note


def test_what_many_layers_read_again_is_one_line():
    """The down projections of all layers."""
    network = workloads.load("gpt2", length=64, layers=3)
    text = totals_text(evaluate(network, Partition.layerwise(network), Accelerator(shared_buffer=2**13)))
    assert "l1_down moves its" in text and "(and so do 2 like it, to l3_down)" in text and "l2_down" not in text
