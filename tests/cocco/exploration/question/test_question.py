"""One machine, one effort: as a value or by the names of their fields, the question is the same."""

from __future__ import annotations

import inspect

import pytest

import cocco
import simulator
from cocco.effort.effort import Effort
from cocco.effort.settings import Settings
from simulator import Accelerator, Machine, Partition
from simulator.mapping.mappers import Enumerate
from simulator.technology import Technology
from tests.helpers.search_graphs import SPACE, chain, diamond

FIELDS = {"cores": 2, "batch": 3, "max_regions": 6, "technology": Technology(dram_pj_per_byte=50.0)}
SEARCH = {"samples": 30, "seed": 3, "settings": Settings(population=12, elite=3), "engine": "reference"}


def ask(name, **question):
    network, space = diamond(), {"space": SPACE}
    if name == "partition":
        return cocco.partition(network, Accelerator(shared_buffer=2000), **question).to_json()
    if name == "minimize":
        return cocco.minimize(network, "capacity", {"energy": 10**6}, **space, **question).to_json()
    return getattr(cocco, name)(network, **space, **question).to_json()


@pytest.mark.parametrize("name", ["explore", "pareto", "minimize"])
def test_a_machine_and_an_effort_are_the_same_as_their_fields(name):
    expected = ask(name, **FIELDS, **SEARCH)
    assert ask(name, machine=Machine(**FIELDS), effort=Effort(**SEARCH)) == expected
    half = {"machine": Machine(cores=2, batch=9), "effort": Effort(seed=3)}
    assert ask(name, **half, **{**FIELDS, **SEARCH}) == expected, "fields stand in place of those of the values"
    assert ask(name, technology=None, mapper=None, settings=None) == ask(name), "None is the default"


def test_population_stands_in_place_of_that_of_the_settings():
    expected = ask("partition", method="ga", samples=60, settings=Settings(population=12, elite=6))
    assert (
        ask("partition", method="ga", samples=60, population=12, settings=Settings(elite=80, population=90)) == expected
    )
    with pytest.raises(ValueError, match="settings.population must be an integer"):
        ask("partition", population=0.5)


@pytest.mark.parametrize("name", ["explore", "pareto", "minimize"])
def test_a_mapper_is_a_field_of_every_machine(name):
    """Updates of small tiles take more cycles than whole layers, so the mapper is seen in the answer."""
    mapper = Enumerate(tiled=True)
    found = ask(name, mapper=mapper, samples=40)
    assert found == ask(name, machine=Machine(mapper=mapper), samples=40)
    assert "mapper" in str(found) or name == "pareto"
    assert ask("minimize", mapper=mapper, samples=40) != ask("minimize", samples=40)


def test_a_front_with_a_mapper_of_tiles_is_judged_and_searched_by_the_reference():
    front = cocco.pareto(
        chain(3), space=SPACE, objectives=("capacity", "latency-sum"), mapper=Enumerate(tiled=True), samples=60
    )
    assert front.engine == "reference" and front.found[0].accelerator.mapper == Enumerate(tiled=True)


def test_the_least_capacity_of_a_machine_is_that_of_its_fields():
    plan = Partition.layerwise(diamond())
    fields = {"cores": 2, "batch": 3, "mapper": Enumerate(tiled=True)}
    expected = simulator.least_capacity(diamond(), plan, streaming=False, **fields)
    machine = Accelerator(shared_buffer=1, **fields).machine
    assert simulator.least_capacity(diamond(), plan, machine=machine, streaming=False) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ask("explore", sample=5), "explore() has no keyword 'sample'; the nearest that it has is 'samples'"),
        (lambda: ask("explore", core=5), "explore() has no keyword 'core'; the nearest that it has is 'cores'"),
        (lambda: ask("explore", alfa=5), "explore() has no keyword 'alfa'; the nearest that it has is 'alpha'"),
        (lambda: ask("partition", metrics="ema"), "partition() has no keyword 'metrics'; the nearest"),
        (lambda: ask("pareto", initials=()), "pareto() has no keyword 'initials'"),
        (lambda: ask("minimize", limit={}), "minimize() has no keyword 'limit'; the nearest that it has is 'limits'"),
        (lambda: cocco.search.toolbox(chain(2), seeds=1), "toolbox() has no keyword 'seeds'; the nearest"),
    ],
)  # fmt: skip
def test_an_unknown_keyword_names_the_nearest(call, message):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"machine": Accelerator(shared_buffer=1)}, "machine must be a simulator.Machine, which has no buffers"),
        ({"machine": 2}, "machine must be a simulator.Machine, got 2"),
        ({"effort": 2}, "effort must be a cocco.Effort, got 2"),
        ({"effort": Effort(engine="slow")}, "engine must be one of fast, reference, got 'slow'"),
        ({"threads": 0}, "threads must be an integer from 1 to 256, got 0"),
    ],
)
@pytest.mark.parametrize("name", ["explore", "pareto", "minimize"])
def test_a_value_of_another_kind_is_an_error(name, question, message):
    with pytest.raises(ValueError, match=message):
        ask(name, **question)


@pytest.mark.parametrize("field", ["initial", "prove", "check_addresses"])
@pytest.mark.parametrize("name", ["pareto", "minimize"])
def test_a_front_refuses_what_it_would_ignore(name, field):
    with pytest.raises(ValueError, match=f"effort.{field} is for explore and partition"):
        ask(name, effort=Effort(**{field: [Partition.layerwise(diamond())] if field == "initial" else True}))


@pytest.mark.parametrize("name", ["partition", "explore", "pareto", "minimize", "compromise", "compare", "explain"])
def test_no_question_has_more_than_ten_parameters_and_explore_eleven(name):
    assert len(inspect.signature(getattr(cocco, name)).parameters) <= (11 if name == "explore" else 10)
