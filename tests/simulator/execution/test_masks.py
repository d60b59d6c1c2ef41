"""Attentions with masks: prices are what is counted and run, values those of a dense masked softmax."""

from __future__ import annotations

import random
from pkgutil import resolve_name as resolve

import numpy as np
import pytest

from simulator import Accelerator, KiB, Partition, evaluate
from simulator.execution import verify
from simulator.execution.count.array import array_cycles, works_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import NOTHING_STAYS
from simulator.execution.layer import LayerPlan, count_layer, run_layer, run_scaled
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import folded
from simulator.execution.layer.common.following import following_of
from simulator.execution.layer.common.held import LOST
from simulator.execution.layer.common.problem import Problem
from simulator.execution.layer.dealt import count_dealt
from simulator.execution.layer.heads.counted import count_heads
from simulator.execution.layer.heads.found import find_heads
from simulator.execution.layer.heads.scaled import run_heads_scaled
from simulator.execution.layer.heads.value import run_heads
from simulator.execution.layer.value import attention as page
from simulator.execution.layer.value.attention import run_attention
from simulator.execution.layer.value.running import FLOATS
from simulator.mapping.closed import _least_turns, layer_cycles
from simulator.model.layer.cheapest import Room, cheapest_plan, plans_of
from simulator.model.layer.loops import loop_layer
from simulator.model.nests.epilogue import epilogues
from simulator.model.nests.heads import projected_attentions
from simulator.model.schemes.dealing import Deal
from simulator.model.schemes.looped import loop_ways
from simulator.technology import Technology
from tests.helpers.judged import judged_plan, layer_with_tensors_on_chip
from tests.helpers.layer_plans import random_lies, run_as_claimed, some_plans
from tests.helpers.parts import each_seed, first_of
from tests.helpers.random_attention import random_decoder, random_mask, random_masked_attention
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_plans import random_plan
from workloads import Builder, Mask, NetworkError


def odd_blocks(rng, layer):
    """Return loops of any sizes, some of them larger than the layer."""
    tile = rng.randint(1, layer.height * layer.groups // layer.second_heads + 1), 1
    return LayerPlan("TB", rng.choice(("ring", "slide", "block")), tile, slice=rng.randint(1, layer.keys + 3))


def is_seen(mask, query, key, past):
    """The definition, pair by pair."""
    place = past + query
    near = (mask.behind is None or key >= place - mask.behind) and (mask.ahead is None or key <= place + mask.ahead)
    return near and (not mask.chunk or key // mask.chunk == place // mask.chunk)


@pytest.mark.parametrize("seed", first_of(range(150), 50))
def test_attention_runs_as_the_closed_forms_say(seed):
    network, batch, plans = some_plans(seed, 4, random_masked_attention)
    names = ("activation", "ema_input", "ema_output", "global_buffer", "global_written")
    layer = network.layers[0]
    for plan in plans:
        found = run_as_claimed(network, plan, batch, [f"{name}_bytes" for name in names])
        assert found.operations == batch * (layer.macs + layer.light_ops) + plan.totals.rescalings


def test_values_run_beside_rows_that_are_on_chip():
    """Queries, keys, values, caches of them or the output stay, and any loops: what runs is what is counted."""
    for seed in range(200):
        rng = random.Random(seed)
        network, batch = random_masked_attention(rng), rng.choice((1, 2))
        plan, lies = odd_blocks(rng, network.layers[0]), random_lies(rng, network)
        count = count_layer(network, 0, plan, batch, 8, lies)
        assert run_layer(network, 0, plan, count[:2], batch, lies=lies) == count, (plan, lies)
        with pytest.raises(Miss):
            run_layer(network, 0, plan, (count[0] - 1, 0), batch, lies=lies)


@each_seed(40, 80)
def test_floats_in_blocks_are_a_dense_masked_softmax(seed):
    """Each head of queries and its head of keys: e^score where the definition says that a key is seen, else 0."""
    rng = random.Random(seed)
    network = random_masked_attention(rng)
    (layer,), plan = network.layers, odd_blocks(rng, network.layers[0])
    one, v = folded(network, 0)
    problem = Problem(one, v, 1, seed)
    problem.maps = {u: np.random.default_rng(seed + u).normal(0, 2, each.shape) for u, each in problem.maps.items()}
    shape = (one.layers[v].channels, one.layers[v].height, 1)
    output = np.full((1, *shape), float(LOST))
    run_attention(problem, Chip(word=8), plan, output, FLOATS)
    query, keys, values = (problem.maps[u][0].reshape(len(problem.maps[u][0]), -1) for u in problem.ids)
    groups, sharing = layer.second_heads, layer.groups // layer.second_heads
    past = layer.keys - layer.height
    seen = [[is_seen(layer.mask, i, j, past) for j in range(layer.keys)] for i in range(layer.height)]
    assert np.sum(seen) == layer.seen_pairs
    for head in range(groups):
        scores = np.split(query, groups)[head].T @ np.split(keys, groups)[head]  # rows of a position side by side
        powers = np.exp(scores) * np.repeat(seen, sharing, axis=0)
        dense = powers / powers.sum(axis=1, keepdims=True) @ np.split(values, groups)[head].T
        assert np.abs(np.split(output[0], groups)[head].reshape(dense.shape[1], -1).T - dense).max() < 1e-6


@each_seed(75, 150)
def test_every_number_of_an_attention_is_what_is_counted(seed):
    rng = random.Random(seed)
    layer_with_tensors_on_chip(random_masked_attention(rng), rng, 0.4, (1.8, 4.5))


@pytest.mark.parametrize("seed", first_of(range(120), 40))
def test_plans_of_decoder_layers_are_verified(seed):
    """As layers and in blocks, on one core and on several, kept tensors among them."""
    rng = random.Random(seed)
    network = random_decoder(rng, in_blocks=seed % 3 == 0, is_masked=True)
    bits = rng.choice(({}, {}, {"cache": 4}, {"activations": 16}, {"cache": "fp8", "activations": "bf16"}))
    plan = random_kept_plan(network, seed) if seed % 2 else random_plan(network, seed)
    network = network.retyped(bits)
    cores = rng.choice((1, 1, 1, 2, 3))
    chip = Accelerator(shared_buffer=rng.choice((512, 2048, 16384)), batch=rng.choice((1, 1, 3)), cores=cores)
    try:
        found = judged_plan(network, plan, chip)
    except NetworkError as error:
        assert "whole bytes" in str(error)
        return
    assert found is None or verify(network, plan, chip).verified


def one_attention(mask, rows=16):
    b = Builder("one")
    b.attention("n", *(b.input(each, rows, 1, 16) for each in "qkv"), 2, mask=mask)
    return b.build()


def test_blocks_move_what_is_counted_by_hand():
    """Two heads of 8, 16 rows, causal; tiles of 8 rows: the first sees 8 keys, one block, the second 16, two blocks.

    Off chip 256 of queries, 8 + 16 keys and values of 2 x 16 bytes, 256 of outputs. Seen are 136 pairs a head; 8 rows
    of each head are scaled anew once, with 8 sums and a total.
    """
    found = count_layer(one_attention(Mask()), 0, LayerPlan("TB", "ring", (8, 1), slice=8))
    assert (found.ema_input_bytes, found.ema_output_bytes) == (256 + 24 * 32, 256)
    assert found.activation_bytes == 8 * 8 + 2 * 8 * 8 + 8 * 8 + 8 * 4 * (8 + 2)
    assert found.operations == 2 * 136 * (8 + 1 + 8) + 2 * 8 * (8 + 1)


def test_a_window_moves_each_key_once():
    """A window of 5: tiles of 4 rows see 4, 8, 8, 8 keys; a block of 8 loads the 4 that are new."""
    found = count_layer(one_attention(Mask(behind=4)), 0, LayerPlan("TB", "ring", (4, 1), slice=8))
    assert found.ema_input_bytes == 256 + 512
    assert found.activation_bytes == 4 * 8 + 2 * 8 * 8 + 4 * 8 + 4 * 8
    assert found.operations == 2 * (1 + 2 + 3 + 4 + 12 * 5) * (8 + 1 + 8)
    again = count_layer(one_attention(Mask(behind=4)), 0, LayerPlan("TB", "ring", (4, 1), slice=4))
    assert again.ema_input_bytes == 256 + (4 + 8 + 8 + 8) * 32


def test_a_large_attention_runs_smaller():
    b = Builder("large")
    b.attention("n", *(b.input(each, 2048, 1, 256) for each in "qkv"), 4, mask=Mask(behind=255))
    for tile, block in ((256, 64), (64, 2048), (8, 8)):
        assert run_scaled(b.build(), 0, LayerPlan("TB", "ring", (tile, 1), slice=block))


def test_rows_in_parallel_wait_for_the_one_that_sees_most():
    """One head of 8, 64 causal queries, 16 PEs along the rows: 16 rows at a time see 16, 32, 48 and 64 keys at most.

    Scores take 2 + 4 + 6 + 8 turns of 8 outputs, the softmax 4 + 8 + 12 + 16 of 4, the context 2 + 4 + 6 + 8 of 8
    inputs; in full each group takes as many as the last one.
    """
    cycles = []
    for mask in (Mask(), None):
        b = Builder("one")
        b.attention("n", *(b.input(each, 64, 1, 8) for each in "qkv"), mask=mask)
        network = b.build()
        cycles.append(layer_cycles(network.layers[0]))
        assert sum(array_cycles(work, Technology()) for work in works_of(network, 0)) == cycles[-1]
    assert cycles == [20 + 40 + 20, 4 * (8 + 16 + 8)]


def test_a_mask_saves_cycles_and_bytes():
    """GPT-2's attention at 1,024 tokens in 64 KB: a causal mask computes half and loads less."""
    chip, found = Accelerator(shared_buffer=64 * KiB), []
    for mask in (None, Mask(), Mask(behind=127)):
        b = Builder("one")
        b.attention("n", *(b.input(each, 1024, 1, 768) for each in "qkv"), 12, mask=mask)
        network = b.build()
        plan = Partition.layerwise(network)
        assert verify(network, plan, chip).verified
        found.append(evaluate(network, plan, chip))
    assert found[0].compute_cycles > 1.9 * found[1].compute_cycles > 7 * found[2].compute_cycles
    assert found[0].ema_bytes > found[1].ema_bytes > found[2].ema_bytes == 4 * 1024 * 768


def test_keys_that_were_given_up_are_missed(monkeypatch):
    """A window slides on without the keys that the next tile sees: the judge says so."""
    monkeypatch.setattr(page._Pair, "load", lambda pair, span: setattr(pair, "held", span))
    monkeypatch.setattr(page._Pair, "bring", lambda pair, span: pair.held is None and pair.load(span))
    with pytest.raises(Miss, match="are not in their buffer"):
        run_layer(one_attention(Mask(behind=4)), 0, LayerPlan("TB", "ring", (4, 1), slice=8), (10**4, 0))


def test_a_row_that_reads_what_it_does_not_see_is_wrong(monkeypatch):
    """Without the mask the sums of a row hold keys that come after it: the output differs."""
    begun = page.begun
    monkeypatch.setattr(page, "begun", lambda numbers, scores, values, seen: begun(numbers, scores, values))
    with pytest.raises(Miss, match="differs from the output computed directly"):
        run_layer(one_attention(Mask()), 0, LayerPlan("TB", "ring", (4, 1), slice=8), (10**4, 0))


LIES = {
    "a tile loads a key less": ("simulator.model.layer.attention.coming_bytes", lambda true, *given: true(*given) - 8),
    "a row sees a key less": ("simulator.model.layer.attention.seen_to", lambda true, *given: true(*given) - 1),
    "scores take a word less": ("simulator.model.layer.attention.scores_bytes", lambda true, *given: true(*given) - 8),
    "rows do not wait": ("simulator.mapping.closed._row_turns", lambda true, *given: true(*given) - 1),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_price_that_lies_about_a_mask_is_caught(lie, monkeypatch):
    """In 400 bytes a window of 40 runs in blocks: each of these changes a number that the judge counts."""
    network, chip = one_attention(Mask(behind=39), 65), Accelerator(shared_buffer=400)
    plan = Partition.layerwise(network)
    assert verify(network, plan, chip).verified
    name, told = LIES[lie]
    true = resolve(name)
    monkeypatch.setattr(name, lambda *given: told(true, *given))
    cheapest_plan.cache_clear()
    _least_turns.cache_clear()
    found = verify(network, plan, chip)
    cheapest_plan.cache_clear()
    _least_turns.cache_clear()
    assert not found.verified and any(each.status == "different" for each in found.checks)


@pytest.mark.parametrize("seed", first_of(range(40), 16))
def test_attentions_with_projections_take_a_mask(seed):
    """Heads one after the other, of any loops: what runs is what is counted, and the pairs that are seen computed."""
    rng = random.Random(seed)
    b, heads, rows, width = Builder("projected"), rng.choice((1, 2, 3)), rng.choice((1, 3, 9, 40)), rng.choice((4, 8))
    x, mask = b.input("x", rows, 1, 16), random_mask(rng, rows, rows)
    queries, keys, values = (b.fc(part, x, heads * width) for part in "qkv")
    scores = b.matmul("scores", queries, keys, heads, transpose=True, mask=mask)
    b.matmul("context", b.softmax("softmax", scores, mask, heads), values, heads, mask=mask)
    network = b.build()
    (nest,) = projected_attentions(network)
    layer = nest.loops(network, 1, Technology(), None)
    plans = plans_of(layer, Room(rng.choice((600, 2000, 10**5)), None), "bands")
    for plan in rng.sample(plans, min(4, len(plans))):
        loops = LayerPlan(*plan[: len(LayerPlan._fields)])
        counted = count_heads(network, nest.layers, loops)
        assert counted.operations == sum(each.macs + each.light_ops for each in network.layers)
        assert run_heads(network, nest.layers, loops, counted[:2])._replace(operation_extra=0) == counted
        run_heads_scaled(network, nest.layers, loops)


def test_loops_of_heads_with_different_masks_are_none():
    b = Builder("projected")
    x = b.input("x", 6, 1, 16)
    queries, keys, values = (b.fc(part, x, 16) for part in "qkv")
    scores = b.matmul("scores", queries, keys, 2, transpose=True, mask=Mask())
    b.matmul("context", b.softmax("softmax", scores, Mask(behind=2), 2), values, 2, mask=Mask())
    network = b.build()
    assert not list(projected_attentions(network))
    with pytest.raises(Miss, match="hide different keys"):
        find_heads(network, range(6))


def test_cores_do_not_share_one_head_with_a_mask():
    """They would have other keys, and see other shares of them: a plan that says so is none."""
    b = Builder("one")
    b.matmul("n", b.input("q", 16, 1, 8), b.input("k", 16, 1, 8), transpose=True, mask=Mask())
    network, plan = b.build(), LayerPlan("TK", "ring", (4, 1), chunk=8, slice=8, inner=8)
    with pytest.raises(Miss, match="has one head, which no cores share"):
        count_dealt(network, 0, plan, "channels", 2, 1, 8)
    assert [way.scheme for way in loop_ways(network.layers[:1], loop_layer(network, 0), Deal(2, 8))] == ["alone"]


def test_no_masked_softmax_follows_a_dense_layer():
    """What follows passes each result on as it is made: no such nest has a mask, and the judge refuses one."""
    b = Builder("followed")
    b.softmax("after", b.fc("dense", b.input("x", 16, 1, 8), 32), Mask(), 2)
    network = b.build()
    assert not list(epilogues(network))
    with pytest.raises(Miss):
        following_of(network, (0, 1), NOTHING_STAYS)
