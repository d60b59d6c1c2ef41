"""The scheme of each subgraph as part of a plan: files, order, what is malformed, and that a price obeys it."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from simulator import Accelerator, KiB, MiB, Partition, PartitionError, evaluate, least_capacity
from simulator.execution import verify
from simulator.model.priced import price_partition
from simulator.model.pricing import Price
from simulator.partition.schemes import CORE_SCHEMES
from tests.helpers.command_line import answer, assert_malformed, cocco
from tests.helpers.graphs import add, conv
from tests.helpers.random_cores_plans import random_cores_plan
from workloads.network.layers.layer import Tensor
from workloads.network.network import Network

SHAPE = (16, 16, 16)


def pair() -> Network:
    """x -> a -> b, both 3x3 convolutions on 16x16x16; b + x -> c."""
    a, b = (conv(name, source, SHAPE, 16, kernel=3, padding=1) for name, source in (("a", "x"), ("b", "a")))
    return Network("pair", (Tensor("x", *SHAPE),), (a, b, add("c", ("b", "x"), SHAPE)))


def test_schemes_follow_their_groups_into_the_order_of_execution():
    plan = Partition.from_groups(pair(), [["c"], ["a", "b"]], schemes=["held", "rotated"])
    assert plan.names == (("a", "b"), ("c",)) and plan.schemes == ("rotated", "held")
    plan = Partition.from_groups(pair(), [["b"]], schemes=["alone"])
    assert plan.schemes == ("", "alone", "")
    assert Partition.from_groups(pair(), [["b"]], schemes=[None]).schemes == ()


def test_a_file_without_schemes_has_the_bytes_that_it_had(tmp_path: Path):
    Partition.from_groups(pair(), [["a", "b"]]).save(tmp_path / "plan.json")
    assert (tmp_path / "plan.json").read_text() == ('{"network": "pair", "subgraphs": [\n  ["a", "b"],\n  ["c"]\n]}\n')
    Partition.from_groups(pair(), [["a", "b"]], schemes=["held"]).save(tmp_path / "plan.json")
    assert (tmp_path / "plan.json").read_text() == (
        '{"network": "pair", "subgraphs": [\n  ["a", "b"],\n  ["c"]\n], "schemes": [\n  "held",\n  null\n]}\n'
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_files_give_back_what_was_saved(seed: int, tmp_path_factory: pytest.TempPathFactory):
    network, plan, _ = random_cores_plan(seed)
    rng = random.Random(seed)
    schemes = [rng.choice(["", *CORE_SCHEMES[: 4 if len(group) == 1 else 3]]) for group in plan.subgraphs]
    plan = plan.shared(schemes)
    path = tmp_path_factory.mktemp("plans") / "plan.json"
    plan.save(path)
    assert Partition.load(path, network) == plan and plan.schemes == (tuple(schemes) if any(schemes) else ())


@pytest.mark.parametrize(
    ("schemes", "message"),
    [
        ("held", "'schemes' is 'held'; it must be a list, one for each of 'subgraphs'"),
        ([], "'schemes' is []; it must be a list, one for each of 'subgraphs'"),
        (["held", "held"], "'schemes' has 2 entries for 1 subgraphs; it needs one for each"),
        (["mirrored"], "schemes 0 is 'mirrored'; it must be one of channels, rotated, held, alone, or null"),
        ([3], "schemes 0 is 3; it must be one of"),
        ([["held"]], "schemes 0 is ['held']; it must be one of"),
        (["alone"], "schemes 0 is 'alone', in which one core runs a single layer; subgraph 0 has 2"),
    ],
)
def test_malformed_schemes_are_one_line(schemes: object, message: str, tmp_path: Path):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"subgraphs": [["conv1_1", "conv1_2"]], "schemes": schemes}))
    with pytest.raises(PartitionError) as error:
        Partition.load(path, workloads.load("vgg16"))
    assert message in str(error.value) and "\n" not in str(error.value)
    assert_malformed(cocco("evaluate", "vgg16", "--partition", path, "--shared-buffer", "1MB", "--cores", 2), [message])


def test_greedy_rest_and_schemes_exclude_each_other(tmp_path: Path):
    path = tmp_path / "plan.yaml"
    path.write_text("subgraphs: [[conv1_1]]\nrest: greedy\nschemes: [held]\n")
    with pytest.raises(PartitionError, match="'rest: greedy' and 'schemes' exclude each other"):
        Partition.load(path, workloads.load("vgg16"))


def test_schemes_that_are_no_list_are_an_error():
    with pytest.raises(TypeError, match="schemes must be a list"):
        Partition.from_groups(pair(), [["a"]], schemes="held")


def test_a_given_scheme_is_priced_as_given():
    """Of 4,608 bytes of weights a core holds all, or half; dealt channels need no weight to cross."""
    chip, found = Accelerator(shared_buffer=64 * KiB, cores=2), dict[str, Price]()
    for scheme in ("channels", "rotated", "held"):
        plan = Partition.from_groups(pair(), [["a", "b"]], schemes=[scheme])
        (price, _) = price_partition(pair(), plan, chip).prices
        assert isinstance(price, Price) and price.scheme == scheme
        found[scheme] = price
    assert found["held"].weight_bytes == 4608 and found["rotated"].weight_bytes == 2304
    assert found["channels"].weight_bytes == 2304
    free = evaluate(pair(), Partition.from_groups(pair(), [["a", "b"]]), chip)
    assert free.subgraphs[0].energy_pj == min(
        evaluate(pair(), Partition.from_groups(pair(), [["a", "b"]], schemes=[each]), chip).subgraphs[0].energy_pj
        for each in found
    )


def test_one_core_has_nothing_to_share():
    chip = Accelerator(shared_buffer=64 * KiB)
    plain = Partition.from_groups(pair(), [["a", "b"]])
    assert evaluate(pair(), plain.shared(["held", "channels"]), chip) == evaluate(pair(), plain, chip)
    assert evaluate(pair(), plain, chip).plan == plain


def test_a_scheme_that_cannot_be_is_an_answer():
    network, chip = pair(), Accelerator(shared_buffer=64 * KiB, cores=2)
    found = evaluate(network, Partition.from_groups(network, [["c"]], schemes=["rotated"]), chip)
    assert [str(each) for each in found.infeasible] == [
        "subgraph [c]: scheme 'rotated': there are no weights to rotate, so it is 'held'"
    ]
    kept = Partition.from_groups(network, [["a"], ["b"], ["c"]], keep=["a"], schemes=["held", "channels", None])
    assert ["beside tensors kept on chip" in str(each) for each in evaluate(network, kept, chip).infeasible] == [True]
    wide = Accelerator(shared_buffer=64 * KiB, cores=2)
    vgg = workloads.load("vgg16")
    found = evaluate(vgg, Partition.from_groups(vgg, [["fc8"]], schemes=["held"]), wide)
    assert "2 cores have no columns or samples to share here" in str(found.infeasible[-1])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_free_price_is_the_least_of_the_given_ones(seed: int):
    """Brute force over the schemes, and what runs in the chosen ones is what is priced, to the byte."""
    network, plan, chip = random_cores_plan(seed)
    free = price_partition(network, plan, chip).prices
    given_prices = []
    for scheme in CORE_SCHEMES:
        fits = [scheme if len(group) == 1 or scheme != "alone" else "" for group in plan.subgraphs]
        tried = price_partition(network, plan.shared(fits), chip).prices
        given_prices.append([price if name else None for name, price in zip(fits, tried)])
    evaluated = evaluate(network, plan, chip)
    for step, price in enumerate(free):
        found = [each[step] for each in given_prices if isinstance(each[step], Price)]
        if isinstance(price, Price):
            assert price == next(each for each in found if each.scheme == price.scheme)
            if plan.metric == "ema":
                assert price.ema_bytes == min(each.ema_bytes for each in found)
            if plan.metric == "latency-sum":
                slots = [each.slots(chip.cores, chip.technology) for each in found]
                assert price.slots(chip.cores, chip.technology) == min(slots)
        else:
            assert not found
    if evaluated.fits:
        assert evaluate(network, evaluated.plan, chip) == evaluated


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_given_schemes_run_as_they_are_priced(seed: int):
    network, plan, chip = random_cores_plan(seed)
    rng = random.Random(seed)
    plan = plan.shared([rng.choice(("channels", "rotated", "held")) for _ in plan.subgraphs])
    if evaluate(network, plan, chip).fits:
        found = verify(network, plan, chip)
        assert found.verified, found.failure


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_least_memory_of_given_schemes_is_exact(seed: int):
    network, plan, chip = random_cores_plan(seed)
    rng = random.Random(seed)
    plan = plan.shared([rng.choice(CORE_SCHEMES[: 4 if len(group) == 1 else 3]) for group in plan.subgraphs])
    machine = {"cores": chip.cores, "batch": chip.batch, "technology": chip.technology}
    least = least_capacity(network, plan, **machine)
    if least.shared_buffer is None:
        assert math.isinf(evaluate(network, plan, Accelerator(shared_buffer=100 * MiB, **machine)).ema_bytes)
        return
    assert evaluate(network, plan, Accelerator(shared_buffer=least.shared_buffer, **machine)).fits
    if least.shared_buffer > 1:
        assert not evaluate(network, plan, Accelerator(shared_buffer=least.shared_buffer - 1, **machine)).fits


def test_a_search_says_its_schemes_and_evaluate_obeys_them(tmp_path: Path):
    path, hardware = tmp_path / "plan.json", ("--shared-buffer", "640KB", "--cores", 4)
    found = answer(cocco("partition", "vgg16", *hardware, "--samples", 200, "--keep", "none", "-o", path, "--json"))
    content = json.loads(path.read_text())
    assert content["schemes"] == [each["scheme"] for each in found["subgraphs"]]
    again = answer(cocco("evaluate", "vgg16", "--partition", path, *hardware, "--json"))
    assert (again["totals"], again["subgraphs"]) == (found["totals"], found["subgraphs"])
    place = next(i for i, each in enumerate(content["schemes"]) if each != "channels")
    content["schemes"][place] = "channels"
    path.write_text(json.dumps(content))
    changed = answer(cocco("evaluate", "vgg16", "--partition", path, *hardware, "--json", "--explain"))
    assert changed["subgraphs"][place]["scheme"] == "channels"
    assert changed["totals"]["energy_pj"] > found["totals"]["energy_pj"]
    assert {each["scheme"] for each in changed["explained"] if each["position"] == place} <= {"channels"}
