"""The replay of a run: by hand, lies that it must find, and runs of random plans."""

from __future__ import annotations

import pytest

import workloads
from simulator import Accelerator, KiB, Partition
from simulator.execution import verify
from simulator.execution.count.miss import Miss
from simulator.execution.judge import count_steps
from simulator.execution.timed import judge_run
from simulator.model.priced import price_partition
from simulator.timing.simulation import simulate_priced
from tests.helpers.judged import random_chip, random_network_of
from tests.helpers.random_cores_plans import random_cores_plan
from tests.helpers.random_kept import random_kept_plan
from workloads import Builder


class Case:
    """A priced partition, what was counted of it, and the run of the simulation as plain data."""

    def __init__(self, network, partition, chip):
        self.network, self.chip, self.priced = network, chip, price_partition(network, partition, chip)
        assert self.priced.fits
        self.spans = [each.span for each in partition.keep]
        self.steps = count_steps(network, chip, partition, self.priced.prices)
        self.simulation = simulate_priced(self.priced)
        self.run = [tuple(each)[:6] for each in self.simulation.slices]

    def judge(self, run=None, chip=None):
        """Replay a run, or the one of the simulation."""
        return judge_run(self.network, chip or self.chip, self.steps, self.spans, self.run if run is None else run)

    def place(self, kind, step, layer="", nth=0):
        """Return where a slice is in the run."""
        found = [n for n, each in enumerate(self.run) if each[:2] == (kind, step) and layer in ("", each[2])]
        return found[nth]

    def moved(self, place, by):
        """Return the run with one slice at another time."""
        kind, step, layer, start, stop, size = self.run[place]
        return [*self.run[:place], (kind, step, layer, start + by, stop + by, size), *self.run[place + 1 :]]


def two_layers():
    """Return 8 x 8 x 8 -> 1x1 -> 1x1, 16 channels each."""
    b = Builder("two")
    b.conv("b", b.conv("a", b.input("x", 8, 8, 8), 16, 1), 16, 1)
    return b.build()


@pytest.fixture(scope="module")
def apart():
    """Both layers by themselves, with room for everything."""
    network = two_layers()
    return Case(network, Partition.layerwise(network), Accelerator(shared_buffer=64 * KiB))


@pytest.fixture(scope="module")
def together():
    """Both in one subgraph."""
    network = two_layers()
    return Case(network, Partition.from_groups(network, [["a", "b"]]), Accelerator(shared_buffer=64 * KiB))


def free(run):
    """Return a slot after the run."""
    return max(each[4] for each in run)


def lie(case, run, words):
    with pytest.raises(Miss, match=words):
        case.judge(run)


@pytest.mark.parametrize("which", ["apart", "together"])
def test_a_run_that_can_be_executed_ends_when_it_says(which, request):
    case = request.getfixturevalue(which)
    assert case.judge().cycles == case.simulation.cycles


def test_two_transfers_at_once(apart):
    lie(apart, apart.moved(apart.place("weights", 0), -1), "DRAM is taken until")


def test_a_transfer_faster_than_dram(apart):
    place = apart.place("outputs", 1, nth=-1)
    kind, step, layer, start, stop, size = apart.run[place]
    lie(apart, [*apart.run[:place], (kind, step, layer, start, stop - 1, size)], "bytes take")


def test_a_store_before_its_operation_has_computed(apart):
    place = apart.place("outputs", 1, nth=-1)
    by = apart.run[apart.place("compute", 1, nth=-1)][4] - apart.run[place][3] - 1
    lie(apart, apart.moved(place, by), "and are made at")


def test_weights_that_never_come(together):
    place = together.place("weights", 0, "b")
    lie(together, together.run[:place] + together.run[place + 1 :], "never cross")


def test_weights_of_a_layer_that_come_after_it_began(together):
    place, end = together.place("weights", 0, "b"), free(together.run)
    lie(together, together.moved(place, end - together.run[place][3]), "weights come until")


def test_rows_used_before_they_arrive(together):
    """The first row comes one slot later than the first layer begins."""
    place, end = together.place("inputs", 0), free(together.run)
    lie(together, together.moved(place, end - together.run[place][3]), "and their operation begins at")


def test_an_input_read_before_its_store_has_ended(apart):
    """All that the second layer reads comes while the first still computes."""
    first = apart.place("inputs", 1)
    early = apart.run[apart.place("compute", 0)][3]
    size = apart.run[first][5]
    run = [each for n, each in enumerate(apart.run) if n != first]
    run = [(*each[:3], each[3] + size * 2, each[4] + size * 2, each[5]) for each in run]
    lie(apart, [*run, ("inputs", 1, "", early, early + size, size)], "before they have been stored")


def test_computing_shorter_than_counted(together):
    place = together.place("compute", 0, nth=-1)
    kind, step, layer, start, stop, size = together.run[place]
    lie(
        together,
        [*together.run[:place], (kind, step, layer, start, stop - 1, size), *together.run[place + 1 :]],
        "slots",
    )


def test_layers_in_another_order(together):
    run = [(*each[:2], {"a": "b", "b": "a"}.get(each[2], ""), *each[3:]) for each in together.run]
    lie(together, run, "computes|weights")


def test_a_byte_more_than_the_capacity(apart):
    """The run holds the bytes that its replay says; with one byte less it does not fit."""
    (memory,) = apart.judge().memories
    less = Accelerator(shared_buffer=int(memory.counted) - 1)
    assert apart.judge(chip=Accelerator(shared_buffer=int(memory.counted))).memories[0].status == "within"
    with pytest.raises(Miss, match="bytes are held at"):
        apart.judge(chip=less)


@pytest.fixture(scope="module")
def tight():
    """Return two layers of 64 x 64 weights, a byte for each; beside the first there is room for 50 bytes."""
    b = Builder("tight")
    b.fc("b", b.fc("a", b.input("x", 1, 1, 64), 64), 64)
    network = b.build()
    return Case(network, Partition.layerwise(network), Accelerator(shared_buffer=64 * 64 + 2 * 64 + 50))


def by_hand(case, early, wait):
    """Return a run by hand: so many bytes of the second weights come beside the first, and one more after a wait."""
    slots = case.steps[0][1].count.compute_cycles * 16
    begin, all_of_them = 64 + 4096, 64 * 64
    end = begin + slots
    last = end + wait + 1  # when the byte has come
    stored, there = last + 64, last + 128
    rest = there + all_of_them - early - 1
    return [
        ("inputs", 0, "", 0, 64, 64),
        ("weights", 0, "a", 64, begin, 4096),
        ("compute", 0, "a", begin, end, 0),
        ("weights", 1, "b", begin, begin + early, early),
        ("weights", 1, "b", end + wait, last, 1),
        ("outputs", 0, "", last, stored, 64),
        ("inputs", 1, "", stored, there, 64),
        ("weights", 1, "b", there, rest, all_of_them - early - 1),
        ("compute", 1, "b", rest, rest + slots, 0),
        ("outputs", 1, "", rest + slots, rest + slots + 64, 64),
    ]


def test_a_run_by_hand(tight):
    """64 + 4096 bytes, 64 slots, 1 + 64 + 64 + 4045 bytes, 64 slots, 64 bytes; all bytes are taken once."""
    found = tight.judge(by_hand(tight, 50, 0))
    assert found.cycles * 16 == 4160 + 64 + 1 + 64 + 64 + 4045 + 64 + 64
    assert found.memories[0].counted == tight.chip.activation_capacity


def test_a_load_one_slot_early_into_a_room_still_in_use(tight):
    """The byte after those for which there is room comes in the last slot in which the first layer computes."""
    assert tight.judge(by_hand(tight, 49, -1)) and tight.judge(by_hand(tight, 50, 3))
    lie(tight, by_hand(tight, 50, -1), "4275 bytes are held at 4224, the shared buffer has 4274")


def test_a_claimed_end_one_slot_early_is_a_different_number(monkeypatch):
    network = two_layers()
    plan, chip = Partition.layerwise(network), Accelerator(shared_buffer=64 * KiB)
    assert verify(network, plan, chip).check("latency_executed_cycles").status == "equal"
    from simulator.evaluate import Evaluation

    said = Evaluation.latency_executed_cycles.fget
    monkeypatch.setattr(Evaluation, "latency_executed_cycles", property(lambda self: said(self) - 1 / 16))
    found = verify(network, plan, chip)
    assert found.check("latency_executed_cycles").status == "different" and not found.verified


def test_the_replay_is_among_the_checks():
    network = two_layers()
    found = verify(network, Partition.layerwise(network), Accelerator(global_buffer=4 * KiB, weight_buffer=1 * KiB))
    checks = found.to_json()["checks"]
    assert checks["latency_executed_cycles"]["claimed"] == checks["latency_executed_cycles"]["counted"]
    assert {each for each in checks if each.startswith("executed_")} == {
        "executed_global_memory_bytes",
        "executed_weight_memory_bytes",
    }


def replayed(network, partition, chip):
    """Return whether a plan fits; its run must pass."""
    if not price_partition(network, partition, chip).fits:
        return False
    case = Case(network, partition, chip)
    assert case.judge().cycles == case.simulation.cycles
    return True


@pytest.mark.parametrize("block", range(4))
def test_runs_of_random_plans_pass(block):
    """Subgraphs of several layers and single layers, kept tensors, batches, both kinds of buffers."""
    seeds = range(25 * block, 25 * block + 25)
    count = sum(
        replayed(network := random_network_of(seed), random_kept_plan(network, seed), random_chip(seed))
        for seed in seeds
    )
    assert count > 20


@pytest.mark.parametrize("block", range(2))
def test_runs_on_several_cores_pass(block):
    assert sum(replayed(*random_cores_plan(seed)) for seed in range(25 * block, 25 * block + 25)) > 15


@pytest.mark.parametrize(("name", "size"), [("googlenet", 1088), ("resnet50", 512)])
def test_runs_of_real_networks_pass(name, size):
    network = workloads.load(name)
    assert replayed(network, Partition.layerwise(network), Accelerator(shared_buffer=size * KiB))
