"""An alpha sweep is monotone: what is found for one alpha is an answer for all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from experiments.paper.alpha_sweep import exchanged


def row(alpha: float, kb: int, energy: float, bound: float | None = 0.0, network: str = "a") -> dict[str, object]:
    cost = 1024 * kb + alpha * energy
    return {"network": network, "alpha": alpha, "shared_kb": kb, "energy_pj": energy, "cost": cost, "samples": 9,
            "seed": 0, "status": "feasible", "lower_bound": bound, "gap": None}  # fmt: skip


def test_a_row_takes_a_cheaper_answer_of_another_alpha():
    """By hand: at alpha 2 the plan of alpha 1 costs 1024 + 2 * 1000 = 3024, its own 2048 + 2 * 900 = 3848."""
    found = exchanged([row(1, 1, 1000), row(2, 2, 900, 3024.0), row(2, 9, 1, network="b")], "energy_pj")
    assert [each["shared_kb"] for each in found] == [1, 1, 9]
    assert found[1] == row(2, 1, 1000, 3024.0) | {"cost": 3024.0, "gap": 0.0, "status": "optimal"}
    assert found[0] == row(1, 1, 1000) and found[2] == row(2, 9, 1, network="b")


def test_a_row_without_numbers_gives_nothing_and_takes_what_another_found():
    """Alpha 1 was given up, with a bound: the answer of alpha 2 costs 1024 + 1000 there. Of network b nothing runs."""
    nothing: dict[str, object] = {"shared_kb": None, "energy_pj": None, "cost": None, "status": "gave_up"}
    lost = row(1, 1, 1, 1012.0) | nothing
    none = [row(alpha, 1, 1, None, "b") | nothing | {"status": "infeasible"} for alpha in (1, 2)]
    found = exchanged([lost, row(2, 1, 1000), *none], "energy_pj")
    assert found[0] == row(1, 1, 1000, 1012.0) | {"cost": 2024.0, "gap": 0.5}
    assert found[1:] == [row(2, 1, 1000), *none]


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 10**5)), min_size=1, max_size=6))
def test_memory_grows_and_energy_falls_with_alpha(plans: list[tuple[int, int]]):
    alphas = [2.0**i for i in range(len(plans))]
    found = exchanged([row(alpha, *plan) for alpha, plan in zip(alphas, plans)], "energy_pj")
    for less, more in zip(found, found[1:]):
        assert less["shared_kb"] <= more["shared_kb"] and less["energy_pj"] >= more["energy_pj"]
