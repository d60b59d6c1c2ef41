"""The bound of any schedule: against pebble games, and against plans of random networks."""

from __future__ import annotations

import itertools
import random
from itertools import permutations

import pytest

import cocco
import workloads
from cocco.bounds import any_schedule
from cocco.bounds.any_schedule import any_schedule_bound_bytes
from cocco.bounds.floors.products import products_of
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.model.compulsory import compulsory_bytes
from simulator.model.subgraph.subgraph import Geometry
from tests.helpers.parts import first_of, in_parts
from tests.helpers.pebbles import least_moved, moved, product
from tests.helpers.random_attention import random_decoder
from tests.helpers.random_layers import random_layer, random_reduction
from tests.helpers.random_problems import random_net as random_net_of_edges
from workloads import Bits, Builder, Network
from workloads.errors import NetworkError


def chain(*widths: int, rows: int = 16) -> Network:
    """Return products one after the other."""
    b = Builder("chain")
    name = b.input("x", rows, 1, widths[0])
    for i, width in enumerate(widths[1:]):
        name = b.fc(f"y{i}", name, width)
    return b.build()


@pytest.fixture
def words(monkeypatch):
    """The bound in words of a game of one operation at a time: no result is half made, and a number is one word."""
    monkeypatch.setattr(any_schedule, "OVER", 1)
    return lambda network, memory: any_schedule_bound_bytes(network, Accelerator(shared_buffer=memory))


def test_a_product_moves_2_mnk_over_the_root_of_the_memory(words):
    """512^3 in 64 K words: 2 x 2^27 / 2^8 - 2 x 2^16 (Smith et al., 2019), here 917,504; less than 0.01 % is lost."""
    assert words(chain(512, 512, rows=512), 64 * KiB) == pytest.approx(917_504, rel=1e-4)


@pytest.mark.parametrize("size", [(1, 1, 1), (2, 1, 2), (1, 2, 2), (2, 2, 1)])
@pytest.mark.parametrize("memory", [3, 4])
def test_no_game_of_a_tiny_product_moves_less(words, size, memory):
    """All games: sums taken apart and added, results made twice, numbers moved at any time."""
    rows, columns, depth = size
    least = least_moved(rows, columns, depth, memory)
    assert words(chain(depth, columns, rows=rows), memory) <= least


def test_no_blocks_of_a_product_move_less(words):
    """14^3 in 12 to 60 words, in blocks of every shape and order; the best are near to the bound."""
    size, ratios = range(14), []
    outputs = {("z", i, j) for i in size for j in size}
    for memory in (12, 30, 60):
        bound, best = words(chain(14, 14, rows=14), memory), 10**9
        for blocks in ((1, 1, 14), (2, 2, 14), (4, 4, 14), (6, 6, 14), (14, 1, 14), (4, 14, 2)):
            for order in map("".join, permutations("ijk")):
                game = list(product(size, size, size, blocks, order=order))
                best = min(best, moved(game, outputs, memory))
        assert bound <= best, memory
        ratios.append(bound / best)
    assert max(ratios) > 0.55


@pytest.mark.parametrize("slices", first_of([3, 1], 1))
def test_no_fused_pair_of_products_moves_less(words, slices):
    """A row tile stays, the middle passes in chunks; for each slice of outputs it is made anew."""
    rows, wide = range(12), range(12)
    outputs = {("o", i, j) for i in rows for j in wide}
    for memory, tile, chunk in itertools.product((16, 40, 100), (1, 4, 12), (1, 4, 12)):
        game = []
        for first in rows[::tile]:
            part = range(first, first + tile)
            for turn, start in enumerate(wide[:: 12 // slices]):
                columns = range(start, start + 12 // slices)
                for m in wide[::chunk]:
                    middle = range(m, m + chunk)
                    made = product(part, middle, wide, (tile, chunk, 12))
                    game += [(inputs, ("e", turn, *result[1:])) for inputs, result in made]
                    game += [
                        ((("e", turn, i, k), ("v", k, j)), ("o", i, j)) for k in middle for i in part for j in columns
                    ]
        assert words(chain(12, 12, 12, rows=12), memory) <= moved(game, outputs, memory), (memory, tile, chunk)


def test_taps_that_meet_the_map_are_counted():
    """Every product of a convolution, by hand: with padding, strides, dilation; depth-wise layers multiply no maps."""
    rng = random.Random(1)
    for _ in range(60):
        kernel, stride, padding, apart = (rng.randint(1, 4), rng.randint(1, 3), rng.randint(0, 2), rng.randint(1, 2))
        b = Builder("one")
        try:
            b.conv("y", b.input("x", 9, 7, 4), 2, kernel, stride, padding, apart)
        except NetworkError:
            continue
        layer, (found,) = b.build().layers[0], products_of(b.build(), 3).layers
        met, by_input, least = 0, {}, []
        for i in range(layer.height):
            for j in range(layer.width):
                taps = [
                    (row, column)
                    for r in range(kernel) for c in range(kernel)
                    if 0 <= (row := i * stride + r * apart - padding) < 9
                    and 0 <= (column := j * stride + c * apart - padding) < 7
                ]  # fmt: skip
                met += len(taps)
                least.append(len(taps))
                for each in taps:
                    by_input[each] = by_input.get(each, 0) + 1
        assert found[0].total == 3 * met * 4 * 2
        assert found[0].least <= 4 * min(least)
        assert found[0].reuse >= max(by_input.values(), default=0)


def test_a_residual_sum_is_of_the_class_that_it_adds_to():
    """Norm and sum keep the class of x: both products read it, and it is loaded again for both or for neither."""
    b = Builder("block")
    x = b.input("x", 8, 1, 16)
    y = b.fc("down", b.fc("up", b.layernorm("norm", x), 64), 16)
    b.fc("head", b.add("sum", [x, y]), 4)
    found = products_of(b.build(), 1)
    first, second, head = (layer[0] for layer in found.layers)
    assert (second.inputs, head.inputs) == (first.results, first.inputs)
    assert found.families[first.results].is_remade and not found.families[head.results].is_remade


def test_what_attention_makes_is_left_out():
    """Scores can be made again of queries and keys on chip: no class, so nothing is proved of what reads them."""
    b = Builder("attention")
    q, k, v = (b.fc(name, "x", 32) for name in "qkv" if name != "q" or b.input("x", 64, 1, 32))
    b.fc("out", b.attention("mix", q, k, v, heads=2), 32)
    assert len(products_of(b.build(), 1).layers) == 3


def random_net(rng: random.Random) -> Network | None:
    """Return a few dense layers, joins and norms on maps with many channels, in bits of any width."""
    b = Builder("random")
    rows, columns = rng.choice((16, 64, 128, 256)), rng.choice((1, 1, 4))
    names = [b.input("x", rows, columns, rng.choice((32, 64, 128, 256)))]
    for i in range(rng.randint(1, 4)):
        source, draw = rng.choice(names[-2:]), rng.random()
        like = [each for each in names if b.shape(each) == b.shape(source) and each != source]
        if draw < 0.7:
            sources = source if rng.random() < 0.8 else list(dict.fromkeys([source, *names]))
            taps = 1 if rng.random() < 0.8 else (3, min(3, columns))
            names.append(b.conv(f"n{i}", sources, rng.choice((32, 64, 128, 256)), taps, padding="same"))
        elif draw < 0.8:
            names.append(b.layernorm(f"n{i}", source))
        elif like:
            names.append(b.add(f"n{i}", [source, rng.choice(like)]))
    try:
        network = b.build()
    except NetworkError:
        return None
    bits = [rng.choice((4, 8, 16)), rng.choice((8, 16)), rng.choice((8, 16, 32))]
    return network if rng.random() < 0.5 else network.with_bits(Bits(bits[0], bits[1], sums=bits[2]))


def check(seeds) -> tuple[int, float]:
    """Compare with the best plan of random networks; return how many bounds are above the floor, and the nearest."""
    above, nearest = 0, 0.0
    for seed in seeds:
        rng = random.Random(seed)
        network = random_net(rng)
        for size in rng.sample((256, 512, 1024, 2048, 4096, 16384, 65536), 3) if network else ():
            cores, batch = rng.choice(((1, 1), (1, 1), (2, 1), (1, 2), (2, 2)))
            chip = Accelerator(shared_buffer=size, cores=cores, batch=batch)
            if rng.random() < 0.3:
                chip = Accelerator(global_buffer=size, weight_buffer=size // 2, cores=cores, batch=batch)
            assert network is not None
            if not evaluate(network, Partition.layerwise(network, "ema"), chip).fits:
                continue
            found = cocco.partition(network, chip, metric="ema", samples=100)
            bound = any_schedule_bound_bytes(network, chip)
            floor = compulsory_bytes(Geometry(network), batch)
            assert floor <= bound <= found.evaluation.ema_bytes, (seed, size)
            if bound > floor:
                above, nearest = above + 1, max(nearest, bound / found.evaluation.ema_bytes)
    return above, nearest


def test_no_plan_moves_less():
    above, nearest = check(range(12, 18))
    assert above > 5 and nearest > 0.7


def test_no_plan_of_a_network_of_any_kind_moves_less():
    """Spread, strided and cropped maps, heads, softmax, caches; layer by layer in small and large memories."""
    compared = 0
    for seed in range(60):
        rng = random.Random(seed)
        network = (random_net_of_edges, random_decoder, random_reduction, random_layer)[seed % 4](
            seed if seed % 4 == 0 else rng
        )
        if seed % 8 == 1:
            network = random_decoder(rng, in_blocks=seed % 16 == 1, is_masked=True)
        for size in (300, 2000, 2**20):
            chip = Accelerator(shared_buffer=size, batch=rng.choice((1, 2)), cores=rng.choice((1, 1, 2)))
            found = evaluate(network, Partition.layerwise(network, "ema"), chip)
            if found.fits:
                assert any_schedule_bound_bytes(network, chip) <= found.ema_bytes, (seed, size)
                compared += 1
    assert compared > 100


@pytest.mark.slow
@pytest.mark.parametrize("seeds", in_parts(18, 1_218))
def test_no_plan_of_more_networks_moves_less(seeds):
    check(seeds)


@pytest.mark.parametrize("name", ["vgg16", "resnet50", "gpt", "vit_b16", "googlenet"])
def test_a_smaller_memory_moves_no_less(name):
    """And a large one moves weights, inputs and outputs once."""
    network = workloads.load(name)
    bounds = [any_schedule_bound_bytes(network, Accelerator(shared_buffer=size * KiB)) for size in (8, 32, 512, 8192)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[-1] == compulsory_bytes(Geometry(network), 1)
