"""The replay of a run: by hand, lies that it must find, and runs of random plans."""

from __future__ import annotations

import random

import pytest

import workloads
from simulator import Accelerator, KiB, Partition
from simulator.execution import verify
from simulator.execution.count.miss import Miss
from simulator.execution.judge import count_steps
from simulator.execution.timed import judge_run
from simulator.model.priced import price_partition
from simulator.technology import Technology
from simulator.timing.simulation import simulate_priced
from simulator.timing.stages import course_of
from tests.helpers.parts import few_seeds
from tests.helpers.random_runs import RUNS, random_run
from workloads import Builder, NetworkError


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
    from simulator.evaluation import Evaluation

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
    try:
        if not price_partition(network, partition, chip).fits:
            return False
    except NetworkError:  # rows that do not fill whole bytes
        return False
    case = Case(network, partition, chip)
    assert case.judge().cycles == case.simulation.cycles
    return True


@pytest.mark.parametrize("kind", RUNS)
@few_seeds(12, 700)
def test_runs_of_random_plans_pass(kind, seeds):
    """Every way in which a step runs, kept tensors, bytes left free, batches, bits, both kinds of buffers."""
    assert sum(replayed(*random_run(kind, seed)) for seed in seeds) > len(seeds) / 3


def test_bytes_cross_for_an_operation_shorter_than_a_slot():
    """A word of a copy crosses before the array has a slot of it to compute, but not in the step before."""
    case = Case(*random_run("cores", 369))
    assert case.judge().cycles == case.simulation.cycles
    place = case.place("crossbar", 2)
    assert case.run[place][3] < case.run[case.place("compute", 2)][3]
    lie(
        case, case.moved(place, case.run[case.place("compute", 1, nth=-1)][4] - 1 - case.run[place][3]), "crosses while"
    )


@pytest.fixture(scope="module")
def short():
    """Return a dense layer and a norm on 3 x 1 x 8, two rows and then one, a cycle each in all; a slot is a cycle."""
    b = Builder("short")
    b.layernorm("norm", b.conv("dense", b.input("x", 3, 1, 8), 8))
    chip = Accelerator(shared_buffer=96, technology=Technology(dram_bytes_per_cycle=1))
    network = b.build()
    return Case(network, Partition.from_ids(network, [(0, 1)]), chip)


def test_an_operation_of_a_nest_may_take_no_time(short):
    """Two of three rows are 2/3 of a slot of each layer: none. What they make leaves when they and all weights came.

    16 + 64 bytes come, 16 leave, 8 come, each layer computes its slot, 8 leave.
    """
    assert short.run == [
        ("inputs", 0, "", 0, 16, 16),
        ("weights", 0, "dense", 16, 80, 64),
        ("outputs", 0, "", 80, 96, 16),
        ("inputs", 0, "", 96, 104, 8),
        ("compute", 0, "dense", 104, 105, 0),
        ("compute", 0, "norm", 105, 106, 0),
        ("outputs", 0, "", 106, 114, 8),
    ]
    assert short.judge().cycles == 114
    assert verify(short.network, short.priced.partition, short.chip).verified


def test_an_operation_that_takes_no_time_waits_for_all_that_it_needs(short):
    """Its outputs leave a slot before the last byte of its weights or its rows has come."""
    last = [("weights", 0, "dense", 16, 79, 63), ("outputs", 0, "", 79, 95, 16), ("weights", 0, "dense", 95, 96, 1)]
    lie(short, [short.run[0], *last, *short.run[3:]], "leave from 79 on, and what makes them comes until 96")
    rows = [("weights", 0, "dense", 0, 64, 64), ("inputs", 0, "", 64, 79, 15), ("outputs", 0, "", 79, 95, 16)]
    late = [("inputs", 0, "", 95, 104, 9), *short.run[4:]]
    lie(short, [*rows, *late], "leave from 79 on, and what makes them comes until 96")


def small_nest(seed):
    """Return a dense layer and a norm on a small map, as one step, and a chip with slow DRAM."""
    rng, b = random.Random(seed), Builder("nest")
    taps = rng.choice((1, 1, 3))
    x = b.input("x", rng.randint(1, 9), rng.randint(1, 2), rng.choice((1, 3, 8, 16)))
    b.layernorm("norm", b.conv("dense", x, rng.choice((4, 8, 16)), taps, padding=taps // 2))
    size = int(2 ** rng.uniform(6, 10))
    buffers = {"shared_buffer": size} if rng.random() < 0.7 else {"global_buffer": size // 2, "weight_buffer": size}
    technology = Technology(dram_bytes_per_cycle=rng.choice((1, 1, 2, 3)))
    network = b.build()
    return (
        network,
        Partition.from_ids(network, [(0, 1)]),
        Accelerator(**buffers, batch=rng.randint(1, 3), technology=technology),
    )


@few_seeds(100, 3000)
def test_runs_of_small_nests_on_slow_dram_pass(seeds):
    """Operations take a few slots or none; many leave outputs before anything has computed for a whole slot."""
    fits = early = 0
    for seed in seeds:
        nest = small_nest(seed)
        if replayed(*nest):
            fits += 1
            run = simulate_priced(price_partition(*nest)).slices
            stored, computed = (min(each.start for each in run if each.kind == kind) for kind in ("outputs", "compute"))
            early += stored < computed
    assert fits > len(seeds) / 3 and early > len(seeds) / 50


def gpt_in_small_memory():
    """Return a layer of GPT-2 on 64 tokens, with as many layers in a loop order as 48 KB need."""
    network, chip = workloads.load("gpt2", length=64, layers=1), Accelerator(shared_buffer=48 * KiB, groups_apart=False)
    return network, Partition.layerwise(network), chip


def test_a_run_of_many_steps_passes():
    assert replayed(*gpt_in_small_memory())


def later(course, name):
    """Return a course in which something comes, or is computed, one stage later."""
    stages = course.stages
    found = [getattr(each, name) for each in stages]
    if name == "computing":  # the same layers, as long in all
        moved = [*zip(found, found[1:])]
        if not moved or moved[0][0] == moved[0][1] or [v for v, _ in found[0]] != [v for v, _ in found[1]]:
            return course
        found[:2] = found[1], found[0]
    else:
        found = [type(found[0])(), *found[:-2], found[-2] + found[-1]] if len(found) > 1 else found
    return course._replace(stages=tuple(each._replace(**{name: of}) for each, of in zip(stages, found)))


def smaller(course, *names, by=2):
    """Return a course in which something takes a part of its room."""
    stages = (each._replace(**{name: getattr(each, name) // by for name in names}) for each in course.stages)
    return course._replace(stages=tuple(stages))


LIES = {
    "a chain's results leave a piece of their room": ("chains", lambda c: smaller(c, "behind_bytes")),
    "operands of an epilogue wait in half of their bytes": ("epilogues", lambda c: smaller(c, "ahead_bytes")),
    "maps between leave half of their room": ("epilogues", lambda c: smaller(c, "behind_bytes", "late_bytes")),
    "rows come early into less room": ("tight graphs", lambda c: smaller(c, "early_bytes", by=4)),
    "samples in turns take the room of one": (
        "tight graphs",
        lambda c: smaller(c, "ahead_bytes", "behind_bytes"),
    ),
    "keys and values leave as they are made": ("heads", lambda c: smaller(c, "behind_bytes", by=9)),
    "keys and values come into half of their room": ("attentions", lambda c: smaller(c, "ahead_bytes")),
    "a chunk comes into half of its room": ("epilogues", lambda c: smaller(c, "chunk_bytes")),
    "inputs of a block come a row late": ("epilogues", lambda c: later(c, "input_bytes")),
    "weights come a step late": ("epilogues", lambda c: later(c, "weights")),
    "layers of a nest compute in another stage": ("attentions", lambda c: later(c, "computing")),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_course_that_is_not_executed_is_found(lie, monkeypatch):
    """The simulation believes in less room, or in bytes that are needed later; some of its runs cannot be executed."""
    kind, change = LIES[lie]
    monkeypatch.setattr("simulator.timing.simulation.course_of", lambda *each: change(course_of(*each)))
    for seed in range(40):
        network, plan, chip = random_run(kind, seed)
        if price_partition(network, plan, chip).fits:
            try:
                Case(network, plan, chip).judge()
            except Miss:
                return
    pytest.fail("no run was found")


def test_a_run_that_cannot_be_executed_fails_verification(monkeypatch):
    change = LIES["weights come a step late"][1]
    monkeypatch.setattr("simulator.timing.simulation.course_of", lambda *each: change(course_of(*each)))
    network = workloads.load("vgg16")
    report = verify(network, Partition.layerwise(network), Accelerator(shared_buffer=64 * KiB))
    assert not report.verified and report.message.startswith("the run cannot be executed: step ")


@pytest.mark.parametrize(("name", "size"), [("googlenet", 1088), ("resnet50", 512)])
def test_runs_of_real_networks_pass(name, size):
    network = workloads.load(name)
    assert replayed(network, Partition.layerwise(network), Accelerator(shared_buffer=size * KiB))
