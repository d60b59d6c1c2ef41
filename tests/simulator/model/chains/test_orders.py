"""The closed forms of a chain against its loops, executed with values and counted."""

from __future__ import annotations

import random

import numpy as np
import pytest

from simulator.execution.count.layer_facts import elements, operations, size_bytes
from simulator.execution.count.miss import Miss
from simulator.execution.layer.chained.count import count_chain
from simulator.execution.layer.chained.links import links_of as links_again
from simulator.execution.layer.chained.problem import ChainProblem
from simulator.execution.layer.chained.run import run_chain
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.plan import LayerPlan
from simulator.model.chains.rows import band_of
from simulator.model.layer.axes import Axis
from tests.helpers.random_chains import ORDERS, loops_of, random_chain, random_chain_plan, random_kept_of


def moved(chip):
    return (
        chip.ema_weights, chip.ema_inputs, chip.ema_outputs, chip.global_buffer, chip.weight_buffer,
        chip.global_written, chip.weight_written, chip.activations.size_bytes, chip.weights.size_bytes,
    )  # fmt: skip


def claimed(plan):
    totals = plan.totals
    return (
        *totals[:7], plan.activation_bytes, plan.weight_bytes,
    )  # fmt: skip


def execute(seed, orders=ORDERS):
    """Run a random plan of each order, in the bytes that it claims; return how many there were."""
    rng = random.Random(seed)
    network, links = random_chain(rng)
    kept, batch = random_kept_of(links, rng), rng.choice((1, 1, 2, 3))
    layer, layers = loops_of(network, links, batch, kept), range(len(network.layers))
    problem = ChainProblem(network, links_again(network, layers), batch, seed)
    direct = problem.direct()
    once = batch * sum(operations(network, v, elements(network.layers[v])) for v in layers)
    is_there, has_output = (kept is not None and u in kept.on_chip for u in (links.x, links.result))
    is_written = kept is None or links.result in kept.written
    for order in orders:
        plan = random_chain_plan(layer, order, rng)
        loops = LayerPlan._make(plan[:9])

        def run(activations, weights, loops=loops):
            chip = Chip(activations, weights, 8, not has_output, is_written)
            output = np.full(direct.shape, np.nan)
            return chip, output, run_chain(problem, chip, loops, output, is_there)

        chip, output, made = run(plan.activation_bytes, plan.weight_bytes)
        counting = Chip(word=8, has_results=not has_output, is_written=is_written)
        assert count_chain(network, problem.links, counting, loops, batch, is_there) == made
        if is_there and links.x in kept.loaded:
            chip.load_input(batch * size_bytes(network, links.x))
            counting.load_input(batch * size_bytes(network, links.x))
        assert moved(chip) == moved(counting) == claimed(plan), (seed, loops)
        assert (output == direct).all(), (seed, loops)
        again = sum(operations(network, v, count) for v, count in made.items()) - once
        assert again == plan.totals.rescalings, (seed, loops)
        for activations, weights in ((1, 0), (0, 1)):
            if (plan.weight_bytes if weights else plan.activation_bytes) > 0:
                with pytest.raises(Miss, match="grows to"):
                    run(plan.activation_bytes - activations, plan.weight_bytes - weights)


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 2500), marks=pytest.mark.slow)])
def test_orders_are_executed_as_counted(seeds):
    """All bytes, operations and values; one byte less in either memory fails."""
    for seed in seeds:
        execute(seed)


def test_rows_of_a_depthwise_block():
    """14 rows in tiles of 5, 3x3 depth-wise, x is added: worked by hand.

    Anew: tiles read D rows 0-4, 5-9, 10-13 and E rows 0-5, 4-10, 9-13. In rings E rows 0-5, 6-10, 11-13 are new; the
    second tile has rows 4-10 there. Rows of x at once: 0-5, then 4-10, then 9-13.
    """
    plain, window = Axis(14, 14), Axis(14, 14, taps=3, padding=1)
    band = band_of((plain, window, plain), (5, 14), True)
    assert (band.tiles, band.anew.e_made, band.anew.e_most, band.anew.x_most) == (3, 6 + 7 + 5, 7, 7)
    assert (band.ring.e_made, band.ring.e_read, band.ring.e_most, band.ring.d_most) == (14, 18, 7, 5)


def test_tiles_that_make_no_row_load_no_weights_of_it():
    """Three outputs of stride 1 with two rows of padding: the windows of the first and the last meet the only row.

    In rings the row is made once, by one of three tiles.
    """
    only, wide = Axis(1, 1), Axis(1, 3, taps=3, padding=2)
    band = band_of((only, None, wide), (1, 1), False)
    assert (band.anew.e_tiles, band.ring.e_tiles, band.tiles) == (3, 1, 3)
