"""Grouped queries, caches and new rows on several cores: values, counts and prices; what has no scheme is refused."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import workloads
from simulator import Accelerator, Partition, evaluate
from simulator.execution import verify
from simulator.execution.cores import SCHEMES, count_cores, derive_team, run_team
from simulator.execution.cores.count import count_moves
from simulator.execution.cores.run import HeadedArithmetic
from simulator.execution.count.count import Plan
from simulator.execution.count.part import Part
from simulator.execution.judge import judge
from simulator.model.priced import price_partition
from simulator.partition.partition import connected_parts
from simulator.technology import Technology
from tests.helpers.judged import judged_plan
from tests.helpers.parts import few_seeds
from tests.helpers.random_attention import random_attention_in_blocks, random_attention_product, random_decoder
from tests.helpers.random_cores import CORES
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_language import is_dealt, random_language_net
from tests.helpers.random_plans import random_plan
from tests.helpers.teams import NAMES, claim_team
from workloads import Bits, Builder, NetworkError

ROOM = 10**9


def random_team(seed):
    rng = random.Random(seed)
    network = (random_attention_product, random_decoder)[seed % 2](rng)
    layers = list(range(len(network.layers)))
    first = rng.randrange(len(layers))
    part = max(connected_parts(network, layers[first : first + rng.randint(1, 6)]), key=len)
    technology = Technology(channel_alignment=rng.choice((1, 2, 3, 8)))
    cores, batch = rng.choice(CORES), rng.choice((1, 1, 2, 3))
    chip = Accelerator(shared_buffer=ROOM, cores=cores, batch=batch, technology=technology)
    return network, chip, Plan(tuple(part), (rng.choice((1, 2, 4)), 1), rng.randint(1, batch))


@few_seeds(60, 160)
def test_channels_dealt_run_and_move_what_is_claimed(seeds):
    """Heads that cores do not divide, heads that share one of the second operand, which is two inputs."""
    ran_on = 0
    for seed in seeds:
        network, chip, plan = random_team(seed)
        for scheme in SCHEMES:
            each = plan._replace(cores=scheme)
            part, claim = Part(network, plan.layers), claim_team(network, chip, each)
            if claim is None:
                continue
            counted = count_cores(part, each, chip, ROOM, ROOM)
            assert {name: getattr(counted, name) for name in NAMES} == claim, (seed, scheme)
            team, arithmetic = derive_team(part, each, chip), HeadedArithmetic(network)
            values = arithmetic.run_layers(arithmetic.model_inputs())
            moves, (outputs, ran) = count_moves(team), run_team(team, arithmetic, values)
            assert all((found == values[v]).all() for v, found in outputs.items()), (seed, scheme)
            assert (ran.loads, ran.stores, ran.reads, ran.crossing, ran.updates) == (
                moves.loads, moves.stores, moves.reads, moves.crossing, moves.updates,
            ), (seed, scheme)  # fmt: skip
            ran_on += 1
    assert ran_on > 1.25 * len(seeds)


@few_seeds(10, 60)
def test_random_plans_with_kept_tensors_are_verified(seeds):
    verified = 0
    for seed in seeds:
        rng = random.Random(seed)
        network = random_decoder(rng)
        plan = random_kept_plan(network, seed)
        size, cores, batch = int(10 ** rng.uniform(2.5, 4.5)), rng.choice(CORES), rng.choice((1, 2))
        chip = Accelerator(shared_buffer=size, cores=cores, batch=batch)
        if not evaluate(network, plan, chip).fits:
            continue
        found = verify(network, plan, chip)
        assert found.verified, (seed, found.summary())
        verified += 1
    assert verified > len(seeds) / 3


def check_blocks(seeds) -> Counter[str]:
    """Every number of attentions in blocks, alone and in decoder layers, on 2 to 5 cores, is what is counted."""
    found: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        network = random_language_net(seed, "blocks") if seed % 4 == 0 else random_attention_in_blocks(rng)
        if not is_dealt(network, 2):
            continue
        plan, batch = random_plan(network, seed), rng.choice((1, 1, 2, 3, 5))
        size = int(10 ** rng.uniform(1.8, 4 if seed % 4 == 0 else 3))
        chip = Accelerator(shared_buffer=size, batch=batch, cores=rng.randint(2, 5))
        priced = judged_plan(network, plan, chip, seed)
        if priced is None:
            continue
        assert seed % 8 or verify(network, plan, chip).verified, seed
        attention = next(v for v, layer in enumerate(network.layers) if layer.op == "attention")
        (price,) = [each for each, group in zip(priced.prices, plan.subgraphs) if attention in group]
        found.update([price.scheme, price.scheme + "/blocks" * (price.rescalings > 0)])
    return found


def test_attention_in_blocks_on_several_cores_is_what_is_counted():
    """Heads dealt, samples, or one core alone; in one block and in several."""
    found = check_blocks(range(160))
    assert min(found[scheme] for scheme in ("channels", "held", "alone")) > 5
    assert found["channels/blocks"] and found["held/blocks"]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_attention_in_blocks_on_several_cores_is_what_is_counted_of_many(part):
    assert check_blocks(range(1000 + 500 * part, 1500 + 500 * part))["channels"] > 50


def test_heads_of_an_attention_are_dealt_by_hand():
    """4 query heads of 64 share 2 heads of 64 of keys, 64 positions: each core has 1 of those, and nothing crosses."""
    b = Builder("one")
    b.attention("n", *(b.input(name, 64, 1, size) for name, size in (("q", 256), ("k", 128), ("v", 128))), 4, 2)
    network, plan = b.build(), Partition.from_groups(b.build(), [["n"]], schemes=["channels"])
    one, two = (evaluate(network, plan, Accelerator(shared_buffer=2**15, cores=cores)) for cores in (1, 2))
    assert one.ema_bytes == two.ema_bytes == 64 * (256 + 128 + 128 + 256)
    assert two.subgraphs[0].crossbar_bytes == 0
    assert one.subgraphs[0].compute_cycles == 2 * two.subgraphs[0].compute_cycles
    assert verify(network, plan, Accelerator(shared_buffer=2**15, cores=2)).verified


def test_what_several_cores_do_not_share_is_said():
    """A kept tensor lies with its channels dealt, in which no loop order finds it."""
    b = Builder("one")
    x = b.fc("x", b.input("tokens", 4, 1, 16), 16)
    b.attention("n", x, x, x, 2)
    network = b.build()
    plan = Partition.from_groups(network, [["x"], ["n"]], keep=["x"])
    found = evaluate(network, plan, Accelerator(shared_buffer=10**6, cores=2))
    assert "keeps none of its tensors on several cores" in str(found.infeasible[0])
    assert evaluate(network, plan, Accelerator(shared_buffer=10**6)).fits


def test_two_cores_hear_the_head_that_they_share_by_hand():
    """4 query heads of 8 on 2 cores share 2 heads of 8 of keys: each core has 1 of them, and hears no other."""
    b = Builder("scores")
    second = [b.input("cache", 3, 1, 16, kind="cache"), b.input("k", 1, 1, 16)]
    b.matmul("scores", b.input("q", 1, 1, 32), second, 4, transpose=True, operand_heads=2)
    network = b.build()
    chip = Accelerator(shared_buffer=ROOM, cores=2, technology=Technology(channel_alignment=8))
    count = count_cores(Part(network, (0,)), Plan((0,), (1, 1), cores="channels"), chip, ROOM, ROOM)
    read = 2 * 8 * 4 + 2 * 8 * 4  # 16 outputs are two words: heads 0, 1 and 2, 3; q of both, and one head of keys
    assert count.global_buffer_bytes == (32 + 64) + 16 + 16 + 32 + read // 2
    assert count.crossbar_bytes == 0


def check_bits(seeds) -> Counter[str]:
    """Every number of a random graph with bits of its own for each layer, on 2 to 4 cores, is what is counted."""
    found: Counter[str] = Counter()
    for seed in seeds:
        rng = random.Random(seed)
        network = random_language_net(seed, "bits")
        if not is_dealt(network, 2):
            continue
        plan = random_kept_plan(network, seed) if seed % 3 == 0 else random_plan(network, seed)
        size, batch = int(2 ** rng.uniform(8, 16)), rng.choice((1, 1, 2, 3, 5))
        memory = {"shared_buffer": size} if seed % 2 else {"global_buffer": size, "weight_buffer": size // 4}
        chip = Accelerator(**memory, batch=batch, cores=rng.randint(2, 4))
        priced = judged_plan(network, plan, chip, seed)
        if priced is None:
            continue
        assert seed % 8 or verify(network, plan, chip).verified, seed
        found.update(price.scheme + "/loops" * (price.loops is not None) for price in priced.prices)
    return found


def test_bits_on_several_cores_are_what_is_counted():
    assert min(check_bits(range(80)).values()) > 2


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_bits_on_several_cores_are_what_is_counted_of_many(part):
    assert len(check_bits(range(10_000 + 400 * part, 10_400 + 400 * part))) == 6


def test_weights_of_4_bits_on_two_cores_by_hand():
    """16 outputs of 8 inputs: each core has 8 outputs, 32 bytes of weights, and hears 4 positions of 8 channels."""
    b = Builder("one")
    b.conv("a", b.input("x", 4, 1, 8), 16)
    network, chip = b.build().with_bits(Bits(weights=4, activations=16)), Accelerator(shared_buffer=ROOM, cores=2)
    count = count_cores(Part(network, (0,)), Plan((0,), (4, 1), cores="channels"), chip, ROOM, ROOM)
    assert (count.weight_bytes, count.ema_weight_bytes) == (32, 64)
    assert (count.ema_input_bytes, count.ema_output_bytes, count.crossbar_bytes) == (64, 128, 64)


def test_words_that_fill_no_whole_bytes_are_refused_in_one_line():
    b = Builder("one")
    b.conv("a", b.input("x", 4, 1, 3), 6)
    network = b.build().with_bits(Bits(activations=4))
    plan = Partition.layerwise(network)
    with pytest.raises(
        NetworkError, match="'a' has no price on several cores: words of its channels do not fill whole"
    ):
        evaluate(network, plan, Accelerator(shared_buffer=2**22, cores=2))
    assert evaluate(network, plan, Accelerator(shared_buffer=2**22)).fits


def test_several_cores_load_the_experts_of_all_their_samples_once():
    """4 tokens use 6 of 8 experts, of one sample or of four, whichever core has which of them."""
    for length, batch in ((4, 1), (1, 4), (2, 2)):
        network = workloads.load("mixtral_8x7b", phase="decode", length=length, past=4, layers=1)
        plan, chip = Partition.layerwise(network), Accelerator(shared_buffer=2**26, cores=2, batch=batch)
        found = evaluate(network, plan, chip)
        assert found.ema_weight_bytes == 1_098_940_416
        assert judge(network, chip, plan, price_partition(network, plan, chip).prices)[1] == ""
