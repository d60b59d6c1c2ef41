"""Learned backtracking: targets and scores by hand, trees on what they must learn, and the experiment in small."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest
from pandas.testing import assert_frame_equal

from cocco.allocation.exact.telamalloc import Backtracking, DecisionPoint, telamalloc
from cocco.allocation.problem import make_problem
from experiments.paper.related import backtracks, instances, learned_backtracking
from experiments.paper.related.boosting import Forest, fit
from simulator.allocation.buffers import Buffer


def buffers_of(count: int, seed: int) -> list[Buffer]:
    rng = np.random.default_rng(seed)
    lives = [(int(at), int(at + rng.integers(2, 14)), int(rng.integers(1, 30))) for at in rng.integers(0, 20, count)]
    return [Buffer(f"b{i}", *each) for i, each in enumerate(lives)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder, found = tmp_path_factory.mktemp("instances"), []
    for seed in (1, 3, 4):
        path = folder / f"r{seed}.csv"
        lines = [f"{each.id},{each.lower},{each.upper},{each.size}" for each in buffers_of(30, seed)]
        path.write_text("\n".join(["id,lower,upper,size", *lines, ""]))
        found.append(str(path))
    return found


def stuck_at(conflict: set[int], here: int) -> Any:
    points = [DecisionPoint([], placed=level) for level in range(here)]
    return SimpleNamespace(points=[*points, DecisionPoint([], conflict=frozenset(conflict))])


def test_candidates_are_the_conflict_and_the_top_of_each_range_that_has_none():
    """From level 20: 6 and 18 conflict, 20 is the point's own; 0-4 and 9-16 have none; 17-32 has 18."""
    assert backtracks.candidates(stuck_at({6, 18, 20}, 20)) == [4, 6, 16, 18]
    assert backtracks.candidates(stuck_at({12}, 12)) == [4, 8, 11]  # a range ends above the last point
    assert backtracks.candidates(stuck_at(set(), 1)) == [0]


def search_of(buffers: list[Buffer], capacity: int) -> Backtracking:
    return Backtracking(make_problem(buffers), capacity)


def test_the_minimum_target_is_the_deepest_that_still_has_an_allocation():
    """3 bytes, a of 1 and b of 2 in step 0, c of 1 in step 1: with a at 1, b has no two bytes together."""
    search = search_of([Buffer("a", 0, 1, 1), Buffer("b", 0, 1, 2), Buffer("c", 1, 2, 1)], 3)
    assert backtracks.deepest_solvable(search, [(2, 0), (0, 0)]) == 1  # both could stay; 1 is the last to undo
    assert backtracks.deepest_solvable(search, [(0, 1), (2, 0)]) == 0
    assert backtracks.deepest_solvable(search, [(2, 0), (0, 1), (1, 2)]) == 1
    assert backtracks.deepest_solvable(search_of([Buffer("a", 0, 1, 3), Buffer("b", 0, 1, 2)], 4), [(0, 0)]) is None


def test_trees_learn_a_step_and_an_interaction_and_come_back_from_their_data():
    rng = np.random.default_rng(0)
    samples = rng.random((400, 3))
    scores = np.where((samples[:, 0] > 0.5) & (samples[:, 2] < 0.5), 6.0, 1.0)
    forest = fit(samples, scores, trees=60)
    assert np.sqrt(np.mean((forest.predict(samples) - scores) ** 2)) < 0.5 < scores.std() / 4
    assert abs(forest.predict(samples).mean() - scores.mean()) < 1e-9  # leaves hold means
    again = Forest.from_json(forest.to_json())
    assert (again.predict(samples) == forest.predict(samples)).all()
    assert fit(samples, np.full(400, 3.0), trees=2).predict(samples[:2]) == pytest.approx([3, 3])


def test_to_choose_what_the_rule_says_is_the_rule_and_the_root_is_not():
    problem = make_problem(buffers_of(30, 1))
    capacity = int(1.02 * problem.bound)
    plain = telamalloc(problem, capacity, 400)
    same = telamalloc(problem, capacity, 400, choose=lambda search, rule: rule)
    assert plain.major and plain[2:] == same[2:] and plain.status == same.status
    root = telamalloc(problem, capacity, 400, choose=lambda search, rule: 0)
    assert (root.nodes, root.major) != (plain.nodes, plain.major)


def test_low_scores_leave_it_to_the_rule():
    nothing = Forest(0.0, np.zeros((1, 1), dtype=np.int64), np.full((1, 1), np.inf), np.zeros((1, 2)))
    much = Forest(9.0, nothing.feature, nothing.threshold, nothing.value)
    problem = make_problem(buffers_of(30, 1))
    capacity = int(1.02 * problem.bound)
    plain = telamalloc(problem, capacity, 400)
    assert telamalloc(problem, capacity, 400, choose=backtracks.Learned(nothing))[2:] == plain[2:]
    other = telamalloc(problem, capacity, 400, choose=backtracks.Learned(much))
    assert (other.nodes, other.major) != (plain.nodes, plain.major)


def test_a_teacher_scores_each_candidate_and_one_of_each_backtrack_above_zero(files: list[str]):
    problem = make_problem(instances.first_buffers(files[1], None))
    teacher = backtracks.Teacher(seed=0, most=6)
    telamalloc(problem, int(1.02 * problem.bound), 2_000, choose=teacher)
    rows = np.array(teacher.samples())
    assert len(teacher.seen) > 1 and rows.shape == (sum(len(each[2]) for each in teacher.seen), 11)
    assert rows.shape[1] == len(backtracks.FEATURE_NAMES) + 1
    start = 0
    for _, _, levels, _, _ in teacher.seen:
        mine = rows[start : start + len(levels)]
        assert (mine[:, -1].max() == 10) and (mine[:, -1].min() >= 0)
        assert list(mine[:, backtracks.FEATURE_NAMES.index("level")]) == levels
        start += len(levels)


def table_of(files: list[str], folder: Path) -> pandas.DataFrame:
    return learned_backtracking.run(
        folder, files=files, factors=(1.02, 1.3), seeds=1, taught=(1.02, 1.05), trees=5, steps=300, labels=5
    )


def test_the_experiment_repeats_but_for_its_times_and_its_picture_is_drawn(files: list[str], tmp_path: Path):
    table = table_of(files, tmp_path / "a")
    again = table_of(files, tmp_path / "b")
    assert_frame_equal(table.drop(columns="cpu_seconds"), again.drop(columns="cpu_seconds"), check_exact=True)
    assert len(table) == 2 * 3 * 3 and table["samples"].gt(0).all() and table["steps_taken"].le(300).all()
    short = learned_backtracking.summary(table)
    rule = short[short["way"] == "rule"]
    assert (rule["gained"] == 0).all() and (rule["lost"] == 0).all()
    learned = short[short["way"] == "learned"]
    solved = list(rule["solved"] + learned["gained"].to_numpy() - learned["lost"].to_numpy())
    assert solved == list(learned["solved"])
    read = pandas.read_csv(io.StringIO(table.to_csv(index=False)))
    learned_backtracking.plot(read).savefig(io.BytesIO(), format="png", dpi=30)


def test_what_is_tested_is_never_learned_from(files: list[str], tmp_path: Path):
    own = {
        instances.name_of(file): sum(
            len(
                learned_backtracking.teach({"file": file, "factor": factor, "seed": 0, "steps": 300, "labels": 5})[
                    "samples"
                ]
            )
            for factor in (1.02, 1.05)
        )
        for file in files
    }
    table = table_of(files, tmp_path / "a")
    seen = {name: set(mine["samples"]) for name, mine in table.groupby("instance")}
    assert seen == {name: {sum(own.values()) - count} for name, count in own.items()} and all(own.values())
    with pytest.raises(ValueError, match="two or more"):
        learned_backtracking.run(tmp_path / "out", files=files[:1])
