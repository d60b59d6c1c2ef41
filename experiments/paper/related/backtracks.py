"""Where a major backtrack may go, what is known of each place, and how good it is (TelaMalloc, Sec. 6.2 to 6.5)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from cocco.allocation.exact.complete import complete
from cocco.allocation.exact.telamalloc import Backtracking
from cocco.allocation.problem import KERNEL, make_problem
from experiments.paper.related.boosting import Floats, Forest

FEATURE_NAMES = (
    "size", "lifetime", "contention", "level", "levels_back", "blamed", "returns", "backtracks_below", "same_phase",
    "backtracks",
)  #: the paper's, and `levels_back`: how far from where the search stands  # fmt: skip
ORACLE_NODES = 3_000  #: of our complete search, which labels in place of the paper's ILP; given up is "unsolvable"
THRESHOLD = 1.0  #: of a score from 0 to 10; below it the rule decides; our choice
TOO_FAR = 0.5  #: of its score is left to a backtrack to the root; our choice, the paper does not say how depth weighs

Path = list[tuple[int, int]]  #: (buffer, address) of the placements, level by level


def candidates(search: Backtracking) -> list[int]:
    """Return the levels of the conflict, and the top of each range 0-4, 5-8, 9-16, ... that has none of them.

    Only levels above the last point; its own level, which a minor backtrack has dealt with, is left out.
    """
    here = len(search.points) - 1
    found = {level for level in search.points[-1].conflict if level < here}
    low, high = 0, 4
    while low < here:
        if not any(low <= level <= high for level in found):
            found.add(min(high, here - 1))
        low, high = high + 1, 2 * high
    return sorted(found)


@dataclass
class Watch:
    """What the search itself does not count: how often a buffer was in the reason of a major backtrack."""

    search: Backtracking | None = None
    blamed: Counter[int] = field(default_factory=Counter)

    def see(self, search: Backtracking) -> Floats:
        """Count this backtrack, and return the features of each candidate, a row each."""
        if search is not self.search:
            self.search, self.blamed = search, Counter()
        here = len(search.points) - 1
        self.blamed.update(search.points[level].placed for level in search.points[-1].conflict if level < here)
        return features(search, self.blamed)


def features(search: Backtracking, blamed: Counter[int]) -> Floats:
    """Return FEATURE_NAMES of each candidate; sizes over the capacity, lives over the whole time."""
    buffers = search.problem.buffers
    span = max(each.upper for each in buffers) - min(each.lower for each in buffers)
    here = len(search.points) - 1
    phase = search.phase[search.points[here - 1].placed]
    rows = []
    for level in candidates(search):
        point = search.points[level]
        i = point.placed
        contention = max(int(search.problem.contention[s]) for s in search.sections[i])
        rows.append((
            search.size[i] / search.capacity, search.lifetime[i] / span, contention / search.capacity, level,
            here - level, blamed[i], point.returns, point.backtracks, float(search.phase[i] == phase),
            search.counters.major,
        ))  # fmt: skip
    return np.array(rows, dtype=np.float64)


def path_of(search: Backtracking) -> Path:
    """Return the placements of the current path."""
    placed = (point.placed for point in search.points)
    return [(i, search.address[i]) for i in placed if i >= 0]


def deepest_solvable(search: Backtracking, path: Path) -> int | None:
    """Return the deepest level whose earlier placements some allocation has: the minimum target; None if unknown.

    What can be solved with some placements can be with fewer, so that levels are bisected.
    """
    if not _is_solvable(search, path[:0]):
        return None
    low, high = 0, len(path)  # low is solvable; high, one above the deepest target, is not asked for
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _is_solvable(search, path[:middle]) else (low, middle)
    return low


def _is_solvable(search: Backtracking, path: Path) -> bool:
    granule = search.problem.granule
    buffers = list(search.problem.buffers)
    for i, address in path:
        buffers[i] = replace(buffers[i], offset=address * granule)
    problem = make_problem(buffers)
    capacity = search.capacity * granule // problem.granule
    return complete(problem, capacity, ORACLE_NODES, KERNEL.choice(None)).status == "feasible"


def score(level: int, best: int, least: int) -> float:
    """Return the paper's score of a target: 10 at the best, falling to above 5 at the minimum target, 0 elsewhere.

    >>> [score(level, 3, 6) for level in range(2, 8)]
    [0.0, 10.0, 8.75, 7.5, 6.25, 0.0]
    """
    return 10 - 5 * (level - best) / (least - best + 1) if best <= level <= least else 0.0


class Learned:
    """Goes where the forest's score, weighted by depth, is highest, or where the rule says if that is too low."""

    def __init__(self, forest: Forest) -> None:
        self.forest, self.watch = forest, Watch()

    def __call__(self, search: Backtracking, rule: int) -> int:
        seen = self.watch.see(search)
        levels = candidates(search)
        depth = np.array(levels) / (len(search.points) - 1)
        found = self.forest.predict(seen) * (TOO_FAR + (1 - TOO_FAR) * depth)
        best = int(found.argmax())
        return levels[best] if found[best] > THRESHOLD else rule


class Drawn:
    """Goes to any candidate: what is gained without learning."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, search: Backtracking, rule: int) -> int:
        return int(self.rng.choice(candidates(search)))


@dataclass
class Teacher:
    """Follows the rule or the labels by a fair coin, and keeps what it saw until it has labelled `most` backtracks."""

    seed: int
    most: int
    watch: Watch = field(default_factory=Watch)
    seen: list[tuple[Backtracking, Path, list[int], Floats, int]] = field(default_factory=list)
    asked: int = 0

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def __call__(self, search: Backtracking, rule: int) -> int:
        if self.asked >= self.most:
            return rule
        self.asked += 1
        rows, levels, path = self.watch.see(search), candidates(search), path_of(search)
        least = deepest_solvable(search, path)
        if least is None:
            return rule
        self.seen.append((search, path, levels, rows, least))
        return rule if self.rng.random() < 0.5 else _at_or_above(least, levels)

    def samples(self) -> list[list[float]]:
        """Return a row of features and the score for each candidate seen; to be called when the search has ended.

        The minimum target is the deepest candidate from which the search could still solve the problem, the best one
        the deepest whose earlier placements are those of the solution found; without a solution, the minimum.
        """
        found = []
        for search, path, levels, rows, least in self.seen:
            end = path_of(search)
            same = next((k for k, (a, b) in enumerate(zip(path, end)) if a != b), len(path))
            is_solved = len(end) == len(search.size)
            least = _at_or_above(max(least, same) if is_solved else least, levels)
            best = _at_or_above(same, levels) if is_solved else least
            found += [[*row, score(level, best, least)] for row, level in zip(rows.tolist(), levels)]
        return found


def _at_or_above(depth: int, levels: list[int]) -> int:
    """Return the deepest of these levels that is at most so deep, or the first of all."""
    return max((level for level in levels if level <= depth), default=levels[0])
