"""The greedy rule for what stays on chip: worked examples, and what holds of any choice."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from cocco.search.keeping.gaps import NO_LIMIT, Kin, Place, chosen_stays


def kin(tensor: int, steps: list[int], whole: int = 10, takes: int = 0, is_made: bool = True) -> Kin:
    """Return a tensor of so many bytes at these steps."""
    return Kin(tensor, is_made, whole, whole, tuple(Place(step, takes) for step in steps))


def spans(tensors: list[Kin], free: list[int], slots: list[int] | None = None) -> list[tuple[int, int, int]]:
    return [stay.span for stay in chosen_stays(tensors, list(free), slots or [NO_LIMIT] * len(free))]


def test_a_chain_keeps_what_has_room():
    """Step 1 has room for one of its two tensors; both save as much, so the first one stays."""
    chain = [kin(0, [0, 1]), kin(1, [1, 2])]
    assert spans(chain, [20, 20, 20]) == [(0, 0, 1), (1, 1, 2)]
    assert spans(chain, [20, 19, 20]) == [(0, 0, 1)]


def test_what_a_tensor_takes_anyway_is_room():
    """Of 10 bytes it takes 4 where it is not kept: 6 more are enough."""
    assert spans([kin(0, [0, 1], takes=4)], [6, 6]) == [(0, 0, 1)]
    assert spans([kin(0, [0, 1], takes=4)], [6, 5]) == []
    assert spans([kin(0, [0, 2], takes=4)], [6, 9, 6]) == []  # step 1 does not touch it


def test_a_tensor_that_does_not_fit_to_the_end_stays_for_its_first_reader():
    """Over all gaps it saves 3 crossings in 3 steps, over the first gap one in one step."""
    far = kin(0, [0, 1, 3])
    assert spans([far], [10, 10, 10, 10]) == [(0, 0, 3)]
    assert spans([far], [10, 10, 9, 10]) == [(0, 0, 1)]
    (stay,) = chosen_stays([far], [10, 10, 9, 10], [NO_LIMIT] * 4)
    assert stay.saved == 10 and not stay.is_unwritten


def test_a_model_input_is_loaded_once_and_never_written():
    (stay,) = chosen_stays([kin(3, [0, 2, 3], is_made=False)], [10] * 4, [NO_LIMIT] * 4)
    assert stay.span == (3, 0, 3) and stay.saved == 20


def test_regions_are_counted():
    """A step without a slot passes nothing on, one with a negative number of them keeps nothing at all."""
    passing = kin(0, [0, 2])
    assert spans([passing], [10] * 3, [0, 1, 0]) == [(0, 0, 2)]
    assert spans([passing], [10] * 3, [0, 0, 0]) == []
    assert spans([passing], [10] * 3, [0, 1, -1]) == []


@given(st.integers(0, 10**6))
def test_what_stays_fits(seed):
    """Beside the least needs, in bytes and in slots; runs of one tensor do not meet."""
    rng = random.Random(seed)
    count = rng.randint(2, 9)
    tensors = []
    for u in range(rng.randint(1, 8)):
        steps = sorted(rng.sample(range(count), rng.randint(2, min(5, count))))
        whole = rng.randint(1, 20)
        places = tuple(Place(step, rng.randint(0, whole)) for step in steps)
        tensors.append(Kin(u, rng.random() < 0.8, whole, rng.randint(1, 20), places))
    free, slots = [rng.randint(0, 40) for _ in range(count)], [rng.randint(-1, 3) for _ in range(count)]
    stays = chosen_stays(tensors, list(free), list(slots))
    for step in range(count):
        here = [stay for stay in stays if stay.span[1] <= step <= stay.span[2]]
        takes = [{place.step: place.takes for place in stay.kin.places}.get(step) for stay in here]
        assert sum(stay.kin.whole - (each or 0) for stay, each in zip(here, takes)) <= free[step] or not here
        assert not here or takes.count(None) <= slots[step]
    ends: dict[int, int] = {}
    for tensor, first, last in (stay.span for stay in stays):
        assert ends.get(tensor, -1) < first < last
        ends[tensor] = last
