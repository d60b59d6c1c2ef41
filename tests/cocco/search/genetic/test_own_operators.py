"""Operators of the user's own in the search: drawn by their shares, repaired, refused where they return no genome."""

from __future__ import annotations

from typing import Any

import pytest

import cocco
import workloads
from cocco.candidates.genome import Genome
from cocco.candidates.stream import Stream
from cocco.effort.settings import Settings
from cocco.problem.problem import over_space
from cocco.search.genetic.operators.breeder import Breeder

NETWORK = workloads.load("vgg16")
FEW: dict[str, Any] = {"samples": 300, "method": "ga", "keep": "none", "ranges": False}


def together(problem: Any, genome: Genome, stream: Stream) -> Genome:
    """Put all layers into one subgraph."""
    return genome._replace(labels=[0] * problem.size)


def first_parent(problem: Any, first: Genome, second: Genome, stream: Stream) -> Genome:
    return first


def test_an_operator_is_called_as_often_as_its_share_says():
    """Ours have the shares 1, 1, 1, 1 and 1 (a memory is chosen): with 5 more, every second mutation is one's own."""
    calls = []

    def counted(problem: Any, genome: Genome, stream: Stream) -> Genome:
        calls.append(genome)
        return genome

    ours = {"modify": 1.0, "split": 1.0, "merge": 1.0, "shift": 1.0, "capacity": 1.0}
    settings = Settings(**ours, operators=(cocco.Operator(counted, share=4), cocco.Operator(together, share=1)))
    problem = over_space(NETWORK, cocco.SharedBuffer())
    breeder, genome = Breeder(problem, settings), Genome(list(range(problem.size)), (3,))
    made = [breeder.mutate(genome, Stream(0, 0, child)) for child in range(2000)]
    assert 700 < len(calls) < 900  # 800 expected, 22 the standard deviation
    whole = [each for each in made if each.labels == [0] * problem.size]
    assert 150 < len(whole) < 250  # 200 expected, 13 the standard deviation


def test_the_search_prices_what_an_operator_proposes():
    """Almost all children of an operator that puts each layer alone, which fits in every memory."""
    drawn: set[int] = set()

    def alone(problem: Any, genome: Genome, stream: Stream) -> Genome:
        drawn.add(stream.below(2))
        return genome._replace(labels=list(range(problem.size)))

    settings = Settings(
        seeds=False, anneal=0.0, polish=0.0, population=20, elite=5, retries=0, again=0.0, crossover=0.0
    )
    given = [cocco.Operator(alone, share=100)]
    counts = cocco.explore(NETWORK, settings=settings, operators=given, **FEW).points["subgraphs"].value_counts()
    assert counts[len(NETWORK.layers)] > 200 and drawn == {0, 1}


def test_the_same_seed_gives_the_same_answer_whoever_prices():
    given = [together, cocco.Operator(first_parent, parents=2)]
    runs = [cocco.explore(NETWORK, operators=given, engine=name, **FEW) for name in ("reference", None, None)]
    assert runs[0].points.equals(runs[1].points) and runs[1].points.equals(runs[2].points)
    assert runs[0].cost == runs[1].cost


def test_without_operators_nothing_changes():
    assert cocco.explore(NETWORK, operators=[], **FEW).points.equals(cocco.explore(NETWORK, **FEW).points)


def test_pareto_minimize_and_annealing_take_them_too():
    calls: list[int] = []

    def counted(problem: Any, genome: Genome, stream: Stream) -> Genome:
        calls.append(1)
        return genome

    for ask in (
        lambda: cocco.pareto(NETWORK, samples=300, keep="none", operators=[counted]),
        lambda: cocco.minimize(NETWORK, "energy", {"capacity": 2**20}, samples=300, keep="none", operators=[counted]),
        lambda: cocco.explore(NETWORK, operators=[counted], **FEW | {"method": "sa"}),
    ):
        before = len(calls)
        ask()
        assert len(calls) > before


@pytest.mark.parametrize(
    ("operators", "words"),
    [
        (together, "operators must be a list of functions or of cocco.Operator, got <function together"),
        ([3], "operators must be functions or cocco.Operator, got 3"),
        ("ga", "operators must be a list"),
    ],
)
def test_what_is_no_operator_is_refused(operators: Any, words: str):
    with pytest.raises(ValueError, match="^operators") as caught:
        cocco.explore(NETWORK, operators=operators, **FEW)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (None, "a genome has labels and capacities, got None"),
        (Genome([0], (0,)), "one label per layer, 21, got 1"),
        (Genome([0.5] * 21, (0,)), "labels must be integers, got 0.5 for layer 0"),  # type: ignore[list-item]
        (Genome([0] * 21, (99,)), "shared_buffer must be a position from 0 to 46, got 99"),
    ],
)
def test_what_is_no_genome_is_one_line_that_names_the_operator(made: Any, words: str):
    def broken(problem: Any, genome: Genome, stream: Stream) -> Any:
        return made

    with pytest.raises(ValueError, match="operator 'broken': ") as caught:
        cocco.explore(NETWORK, operators=[broken], **FEW)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(("field", "value"), [("share", 0), ("share", True), ("parents", 3), ("function", "x")])
def test_a_field_that_breaks_a_rule_is_named(field: str, value: Any):
    with pytest.raises(ValueError, match="operator"):
        cocco.Operator(**{"function": together} | {field: value})
