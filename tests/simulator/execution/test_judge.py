"""The judge: every printed number is compared, and none can be changed unnoticed."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace
from itertools import product

import pytest

from cocco.mapping import MAPPERS
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.execution.claims import plan_of, subgraph_claims, total_claims
from simulator.execution.count.checks import check_memory, compare, numbers, slots_of
from simulator.execution.count.count import Count
from simulator.execution.count.miss import Miss
from simulator.execution.judge import ROOMY, check, count_plan
from simulator.execution.verify import verify
from simulator.model.pricing import Price, PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from simulator.partition.partition import connected_parts
from tests.helpers.graphs import chain, conv, resnet_block
from tests.helpers.judged import judged, layer_judged, lie_about_prices, random_judged, tight_judged
from tests.helpers.parts import each_seed, few_seeds
from workloads import load
from workloads.network.layers.layer import Tensor
from workloads.network.network import Network

EXECUTED, AREA = "latency_executed_cycles", "area_mm2"
MEMORY = "shared_memory_bytes"
BY_TIME = {"compute_cycles", "latency_cycles"}
FIELDS = Count._fields
HELD = ("activation_bytes", "weight_bytes")
CHIP = Accelerator(shared_buffer=64 * KiB)


def is_room(price, field, counted):
    """Return whether a price may say so much of a field: loops are given room for their regions, and may use less."""
    return price.loops is not None and price.loops.order in ROOMY and field in HELD and getattr(price, field) >= counted


def plant(chip, prices, counts):
    """Return (how many, those unnoticed) of lies by -1 and +7 in each field of each price."""
    planted, missed = 0, []
    for i, price in enumerate(prices):
        for field, change in product(FIELDS, (-1, 7)):
            lie, counted = price._replace(**{field: getattr(price, field) + change}), getattr(counts[i].count, field)
            (found,) = (
                each.status
                for each in check(chip, [*prices[:i], lie, *prices[i + 1 :]], counts)
                if (each.name, each.subgraph) == (field, i)
            )
            expected = "within" if is_room(lie, field, counted) else "different"
            if getattr(lie, field) == counted:
                expected = "equal"
            planted += expected == "different"
            if found != expected:
                missed.append((i, field, change))
    return planted, missed


@pytest.mark.parametrize("block", range(10))
def test_every_number_of_a_price_that_is_changed_is_noticed(block):
    """In each field of the price of each subgraph of 60 random graphs."""
    planted = 0
    for seed in range(6 * block, 6 * block + 6):
        found = random_judged(seed)
        if found is not None:
            _, chip, prices, counts = found
            count, missed = plant(chip, prices, counts)
            planted += count
            assert missed == [], seed
    assert planted > 50


@few_seeds(151, [283, *range(400)])  # the only one of these in the order KT
def test_every_number_of_a_single_layer_that_is_changed_is_noticed(seeds):
    """All kinds of layers in memories where few are held: each number is counted as it is priced, and no other."""
    orders, planted = set(), 0
    for seed in seeds:
        found = layer_judged(seed)
        if found is None:
            continue
        _, chip, price, counted = found
        assert counted.miss == "" and plant(chip, [price], [counted])[1] == [], seed
        assert not any(each.status == "different" for each in check(chip, [price], [counted])), seed
        orders.add(price.loops.order)
        planted += plant(chip, [price], [counted])[0]
    assert orders >= {"TK", "KT", "WK", "KP", "BC", "CT", "RS", "copy"} and planted > 10 * len(seeds) - 10


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_thousands_of_single_layers_are_counted_as_priced(block):
    for seed in range(1000 + 500 * block, 1500 + 500 * block):
        found = layer_judged(seed)
        if found is not None:
            _, chip, price, counted = found
            assert counted.miss == ""
            assert not any(each.status == "different" for each in check(chip, [price], [counted])), seed


def test_batches_are_counted_as_priced_however_many_samples_run_together():
    """Parts that have room for some samples, batch 1 to 8: from one at once to all, in squares and in bands."""
    rounds, bands = set(), 0
    for seed in range(160):
        found = tight_judged(seed)
        if found is None:
            continue
        chip, prices, counts = found
        for price, each in zip(prices, counts):
            assert each.miss == ""
            assert [getattr(price, name) for name in FIELDS] == list(each.count) or price.loops is not None, seed
            rounds |= {(price.at_once, chip.batch)} if price.loops is None else set()
            bands += price.loops is None and price.tile[0] != price.tile[1]
        assert not any(each.status == "different" for each in check(chip, prices, counts)), seed
    assert bands > 5 and len({at_once for at_once, batch in rounds if at_once < batch}) > 2, (rounds, bands)


def small_convolution(outputs=32, inputs=16, taps=3):
    """Return a convolution 20x24."""
    layer = conv("a", "x", (20, 24, outputs), inputs, taps, 1, taps // 2)
    return Network("one", (Tensor("x", 20, 24, inputs),), (layer,))


BY_TILE = small_convolution(), Accelerator(global_buffer=4096, weight_buffer=1152, batch=2)
PARTLY = small_convolution(64, 64, 1), Accelerator(global_buffer=8000, weight_buffer=2048)
SUMMED = small_convolution(), Accelerator(global_buffer=4096, weight_buffer=576)


@pytest.mark.parametrize(
    "case, order, lie",
    [(BY_TILE, "TK", {"order": "KT"}), (BY_TILE, "TK", {"mode": "slide"}), (BY_TILE, "TK", {"tile": (4, 24)}),
     (BY_TILE, "TK", {"tile": (10, 24)}), (BY_TILE, "TK", {"chunk": 16}), (BY_TILE, "TK", {"chunk": 7}),
     (BY_TILE, "TK", {"at_once": 2}), (PARTLY, "TP", {"kept": 16}), (PARTLY, "TP", {"kept": 32}),
     (PARTLY, "TP", {"order": "TK"}), (SUMMED, "TKC", {"slice": 16}), (SUMMED, "TKC", {"order": "BC"}),
     (SUMMED, "TKC", {"tile": (9, 8)})],
)  # fmt: skip
def test_a_plan_that_lies_of_its_loops_falls(case, order, lie, monkeypatch):
    """All numbers are those of the true plan."""
    network, chip = case
    plan = Partition.layerwise(network)
    assert verify(network, plan, chip).verified

    def lying(_, price):
        assert price.loops.order == order and all(getattr(price.loops, name) != lie[name] for name in lie)
        return price._replace(loops=price.loops._replace(**lie))

    lie_about_prices(monkeypatch, lying)
    found = verify(network, plan, chip)
    assert not found.verified and found.message.startswith("subgraph [a]")


@pytest.mark.parametrize(
    "lie", [{"at_once": 1}, {"at_once": 3}, {"at_once": 4}, {"tile": (4, 4)}, {"tile": (3, 8)}, {"tile": (2, 2)}]
)
def test_a_plan_that_lies_of_its_samples_or_tile_falls(lie, monkeypatch):
    """The chain in one subgraph, batch 4, of which two run together as whole maps of 9,216 bytes."""
    chip = Accelerator(global_buffer=20_000, weight_buffer=4096, batch=4)
    plan = Partition.from_ids(chain(), [range(3)])
    assert verify(chain(), plan, chip).verified

    def lying(_, price):
        assert all(getattr(price, name) != lie[name] for name in lie) and price.at_once == 2
        return price._replace(**lie)

    lie_about_prices(monkeypatch, lying)
    assert not verify(chain(), plan, chip).verified


@pytest.mark.parametrize("name", ["resnet50", "googlenet", "nasnet"])
def test_every_number_of_what_is_held_is_equal(name):
    """Subgraphs of up to six layers in 2 MiB, as the networks have them."""
    network, chip = load(name), Accelerator(shared_buffer=2048 * KiB)
    rules = PricingRules(Geometry(network), chip, "exact")
    held = 0
    for first in range(0, len(network.layers), 6):
        for part in connected_parts(network, range(first, min(first + 6, len(network.layers)))):
            price = SubgraphModel(rules, part).price(chip.activation_capacity, chip.weight_capacity)
            if isinstance(price, Price) and not price.is_streamed:
                checks = check(chip, [price], [count_plan(network, chip, plan_of(part, price))])
                executed = {each.name for each in checks if each.status != "not executed"}
                assert executed and {each.name for each in checks if each.status == "equal"} == executed - {MEMORY}
                held += 1
    assert held >= 9


@each_seed(20, 40)
def test_every_printed_number_that_is_changed_is_noticed(seed):
    """Latency and the energy terms and sums as well, of a subgraph."""
    found = random_judged(seed)
    if found is None:
        return
    _, chip, prices, counts = found
    counted = numbers(counts[0].count, chip, slots_of(counts[0].count, chip), 0)
    claims = subgraph_claims(prices[0], chip)
    for name, claim in claims.items():
        for change in (-1, 7):
            (only,) = compare({name: claim + change}, counted, counted)
            assert only.status == "different" or claim + change == counted[name]


def test_the_names_of_all_numbers_that_evaluate_prints_are_checked():
    chip, plan = Accelerator(global_buffer=32 * KiB, weight_buffer=8 * KiB), Partition.layerwise(chain())
    printed = evaluate(chain(), plan, chip)
    prices, _ = judged(chain(), plan, chip)
    names = {name for name in printed.to_frame().columns if name.endswith(("_bytes", "_pj", "_cycles"))}
    assert names <= set(subgraph_claims(prices[0], chip))
    sums = {name for name in printed.totals() if name.endswith(("_bytes", "_pj", "_cycles"))} - {EXECUTED}
    assert verify(chain(), plan, chip).check(EXECUTED).claimed == printed.latency_executed_cycles
    assert sums <= set(total_claims(prices, chip))
    claims = total_claims(prices, chip)
    assert {name: claims[name] for name in sums} == {name: printed.totals()[name] for name in sums}


@pytest.mark.parametrize("field", FIELDS)
def test_verify_falls_for_a_price_that_lies(field, monkeypatch):
    plan = Partition.layerwise(chain())
    assert verify(chain(), plan, CHIP).verified
    lie_about_prices(monkeypatch, lambda step, each: each._replace(**{field: getattr(each, field) + (not step)}))
    found = verify(chain(), plan, CHIP)
    assert not found.verified and found.message.startswith("subgraph [a]")
    assert found.check(field, 0).status == "different"
    assert found.check(field, 1).status == "equal"


def test_a_tile_that_takes_more_than_is_claimed_falls(monkeypatch):
    """The same bytes with a larger tile than was priced."""
    chip = Accelerator(global_buffer=15680, weight_buffer=1152 * KiB)
    lie_about_prices(monkeypatch, lambda _, price: price._replace(tile=(4, 4)))
    found = verify(resnet_block(), Partition.from_ids(resnet_block(), [range(5)]), chip)
    assert not found.verified and found.check("activation_bytes", 0).status == "not executed"
    assert "activations take 27968 bytes, the buffer has 15680" in found.message


def test_a_memory_is_checked_against_its_bytes():
    assert check_memory("m", 100, [40, 100]).status == "within"
    assert check_memory("m", 99, [40, 100]).status == "different"
    assert check_memory("m", 99, [40, None]).status == "not executed"


def test_equal_errors_that_cancel_in_the_sum_are_noticed():
    prices, counts = judged(chain(), Partition.layerwise(chain()), CHIP)
    lies = [
        prices[0]._replace(ema_input_bytes=prices[0].ema_input_bytes + 5),
        prices[1]._replace(ema_input_bytes=prices[1].ema_input_bytes - 5),
        prices[2],
    ]
    status = {(each.name, each.subgraph): each.status for each in check(CHIP, lies, counts)}
    assert status["ema_input_bytes", None] == "equal"
    assert status["ema_input_bytes", 0] == status["ema_input_bytes", 1] == "different"


def random_convolution(seed):
    """Return a convolution of up to 64 inputs and 80 outputs, and a machine from far too small to large enough."""
    rng = random.Random(seed)
    height, width, inputs, outputs = rng.randint(3, 30), rng.randint(1, 30), 8 * rng.randint(1, 8), rng.randint(1, 80)
    kernel = rng.choice((1, 3))
    shape = (height, width, outputs)
    layer = conv("a", "x", shape, inputs, kernel, 1, kernel // 2)
    sizes = [int(10 ** rng.uniform(2.5, 5)) for _ in range(2)]
    chip = Accelerator(global_buffer=sizes[0], weight_buffer=sizes[1], batch=rng.randint(1, 4))
    if seed % 2:
        chip = Accelerator(shared_buffer=sizes[0], batch=rng.randint(1, 4))
    return Network("one", (Tensor("x", height, width, inputs),), (layer,)), chip


@pytest.mark.parametrize("block", range(10))
def test_a_convolution_is_counted_as_priced_in_any_memory(block):
    """Or it has no room for 8 sums, 8 inputs and the weights between them."""
    fitting = 0
    for seed in range(30 * block, 30 * block + 30):
        network, chip = random_convolution(seed)
        found = judged(network, Partition.layerwise(network), chip)
        if found is None:
            continue
        (price,), (counted,) = found
        fitting += 1
        assert counted.miss == ""
        assert not any(each.status == "different" for each in check(chip, [price], [counted])), seed
    assert fitting >= 12


def test_what_is_not_executed_is_said():
    """The area. Of a mapper that looks at every update no traffic of the buffers, no cycles."""
    plan = Partition.layerwise(chain())
    cores = verify(chain(), plan, replace(CHIP, cores=2))
    assert cores.verified
    assert {name for name, each in cores.totals().items() if each.status == "not executed"} == {AREA}
    mapped = verify(chain(), plan, replace(CHIP, mapper=MAPPERS["tiled"]))
    left_out = {name for name, each in mapped.totals().items() if each.status == "not executed"}
    buffers = {"global_buffer_bytes", "weight_buffer_bytes", "energy_global_buffer_pj", "energy_weight_buffer_pj"}
    bandwidths = {f"bandwidth_{name}_bytes_per_cycle" for name in ("mean", "peak")}
    assert left_out == BY_TIME | buffers | bandwidths | {
        "energy_pj",
        EXECUTED,
        "utilization",
        "utilization_executed",
        AREA,
    }
    default = verify(chain(), plan, CHIP)
    assert {name for name, each in default.totals().items() if each.status == "not executed"} == {AREA}


def test_steps_that_do_not_find_what_they_read_are_no_answer(monkeypatch):
    """Nothing was counted then: no check, not even one that says so."""

    def lost(*_):
        raise Miss("step 0: tensor 'x' is to be loaded, and DRAM does not have it")

    monkeypatch.setattr(sys.modules["simulator.execution.judge"], "run_steps", lost)
    network = chain()
    found = verify(network, Partition.layerwise(network), CHIP)
    assert not found.verified and found.checks == () and "is to be loaded" in found.message


def test_checks_are_a_table_and_plain_data():
    chip = Accelerator(shared_buffer=256 * KiB)
    found = verify(resnet_block(), Partition.from_ids(resnet_block(), [range(5)]), chip)
    frame = found.to_frame()
    assert list(frame.columns) == ["subgraph", "layers", "name", "claimed", "counted", "status", "error"]
    assert len(frame) == len(found.checks) and set(frame["subgraph"].dropna()) == {0}
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert content["verified"] is True
    assert content["checks"]["ema_bytes"]["status"] == "equal"
    assert content["checks"]["latency_cycles"]["status"] == "equal"
    assert content["checks"]["latency_executed_cycles"]["status"] == "equal"
    assert content["subgraph_checks"] == []  # those that are not equal
    with pytest.raises(KeyError, match="no check of 'speed' of the partition"):
        found.check("speed")


def test_values_of_all_channels_run_too_and_progress_is_told():
    told = []
    plan = Partition.layerwise(chain())
    found = verify(chain(), plan, CHIP, full=True, progress=lambda done, total: told.append((done, total)))
    assert found.verified and told == [(1, 3), (2, 3), (3, 3)]
    assert not any("channels" in note for note in found.notes)
