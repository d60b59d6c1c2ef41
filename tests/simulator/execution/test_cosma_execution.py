"""What the networks of COSMA bring that those of Cocco lack, executed: wide dilation, gates, a cropped class token."""

import pytest

import workloads
from simulator import Accelerator, KiB, MiB, Partition
from simulator.execution.verify import verify
from tests.helpers.parts import first_of

CHIP = Accelerator(shared_buffer=32 * MiB)


@pytest.mark.parametrize(
    ("name", "factor", "group"),
    first_of([
        ("deeplabv3", 8, ["aspp_pool", "aspp_pooled", "aspp_resized", "aspp_1x1", "aspp_12", "aspp_24", "aspp_36",
                          "project", "head"]),

        ("l_raspp", 4, ["reduce", "gate_pool", "gate", "gated", "gated_resized", "low_scores", "high_scores",
                        "scores"]),
        ("vit_b16", 4, ["l12_fc1", "l12_fc2", "l12_add2", "norm", "head"]),
        ("resnext50", 8, ["s2b1_a", "s2b1_b", "s2b1_c", "s2b1_shortcut", "s2b1_add"]),
        ("densenet121", 7, ["d2l1_a", "d2l1_b", "d2l2_a", "d2l2_b", "d2l3_a", "d2l3_b"]),
        ("deeplabv3", 9, ["scores", "resized"]),
        ("deeplabv3", 8, ["head", "scores", "resized"]),
        ("fcn", 8, ["s4b2_a", "s4b2_b", "s4b2_c", "s4b2_add"]),
        ("l_raspp", 4, ["b13_dw", "b13_pool", "b13_squeeze", "b13_excite", "b13_scale", "b13_project"]),
        ("l_raspp", 6, ["gated", "gated_resized", "low_scores", "high_scores", "scores", "resized"]),
        ("darts", 4, ["c6_in0_even", "c6_in0_odd", "c6_in0_concat", "c6n1a_1_dw", "c6n1a_1_pw"]),
        ("amoebanet_d", 7, ["r1n1_add", "r1n3a_squeeze", "r1n3a_1x7", "r1n3a_7x1", "r1n3a", "r1n3b", "r1n3_add"]),
        ("pnasnet5large", 8, ["s2c2_adjust_even_pool", "s2c2_adjust_even", "s2c2_adjust_odd_pool", "s2c2_adjust_odd",
                              "s2c2_1_left_1_dw"]),
    ], 6),
)  # fmt: skip
def test_a_group_runs_in_the_regions_that_the_model_claims(name, factor, group):
    network = workloads.shrink(workloads.load(name), factor)
    found = verify(network, Partition.from_groups(network, [group]), CHIP)
    assert found.verified, found.message


@pytest.mark.parametrize(("name", "factor"), first_of([("l_raspp", 8), ("vit_b16", 8), ("transformer_10_20", 2)], 2))
def test_layers_run_alone_in_a_small_memory(name, factor):
    network = workloads.shrink(workloads.load(name), factor)
    found = verify(network, Partition.layerwise(network), Accelerator(shared_buffer=512 * KiB))
    assert found.verified, found.message
