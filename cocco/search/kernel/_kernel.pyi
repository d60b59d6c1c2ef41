from collections.abc import Sequence

import numpy as np

from cocco.effort.settings import Settings
from cocco.problem.problem import Problem

class Kernel:
    def __init__(self, problem: Problem, settings: Settings | None = None, like: Kernel | None = None) -> None: ...
    def breed(
        self,
        scratch: Scratch,
        seed: int,
        generation: int,
        first: int,
        last: int,
        parent_labels: np.ndarray,
        parent_capacities: np.ndarray,
        founder_labels: np.ndarray,
        labels: np.ndarray,
        capacities: np.ndarray,
        value: np.ndarray,
        cost: np.ndarray,
    ) -> None: ...
    def values(
        self, scratch: Scratch, labels: np.ndarray, capacities: np.ndarray, value: np.ndarray, cost: np.ndarray
    ) -> None: ...
    def price(
        self, scratch: Scratch, layers: Sequence[int], capacity: int, weight_capacity: int
    ) -> tuple[int, int, int, int, int, int, int, int, int] | None: ...
    def may_fit(self, scratch: Scratch, layers: Sequence[int], capacity: int, weight_capacity: int) -> bool: ...

class Scratch:
    def __init__(self, kernel: Kernel) -> None: ...

def anneal(
    kernel: Kernel,
    scratch: Scratch,
    seed: int,
    block: int,
    is_begun: bool,
    founders: np.ndarray,
    shares: np.ndarray,
    labels_now: np.ndarray,
    capacities_now: np.ndarray,
    cost_now: np.ndarray,
    labels: np.ndarray,
    capacities: np.ndarray,
    value: np.ndarray,
    cost: np.ndarray,
) -> None: ...
def walk_on(
    kernel: Kernel,
    scratch: Scratch,
    seed: int,
    block: int,
    blocks: int,
    block_steps: int,
    done: int,
    wanted: int,
    hot: float,
    cold: float,
    labels_now: np.ndarray,
    capacities_now: np.ndarray,
    cost_now: np.ndarray,
    best_labels: np.ndarray,
) -> float: ...
def evolve(
    kernel: Kernel,
    scratch: Scratch,
    seed: int,
    generation: int,
    elite: int,
    most: int,
    stale: int,
    patience: int,
    labels: np.ndarray,
    capacities: np.ndarray,
    value: np.ndarray,
    cost: np.ndarray,
    least: float,
    best_labels: np.ndarray,
    made_capacities: np.ndarray,
    made_value: np.ndarray,
    made_cost: np.ndarray,
    made_subgraphs: np.ndarray,
    costs: np.ndarray,
    distinct: np.ndarray,
) -> tuple[int, int, int]: ...

class Orders:
    def __init__(self, kernel: Kernel, memo: int) -> None: ...
    def improve(
        self, labels: Sequence[int], seed: int, generation: int, child: int, rounds: int
    ) -> tuple[list[int], float, int]: ...

class KeptPrices:
    def __init__(self, kernel: Kernel, scratch: Scratch, problem: Problem) -> None: ...
    def price(
        self,
        layers: Sequence[int],
        on_chip: int,
        loaded: int,
        written: int,
        kept_bytes: int,
        elsewhere: int,
        handed: int = 0,
    ) -> tuple[int, int, int, int, int, int, int, int, int] | None: ...
    def cost(
        self,
        layers: Sequence[int],
        on_chip: int,
        loaded: int,
        written: int,
        kept_bytes: int,
        elsewhere: int,
        handed: int = 0,
    ) -> float: ...

class KeptSearch:
    def __init__(
        self,
        prices: KeptPrices,
        whole: Sequence[int],
        layer_floor: Sequence[float],
        crossing_floor: Sequence[float],
        room: int,
        may_keep: bool,
        crosses: int,
        budgets: Sequence[int],
    ) -> None: ...
    def run(
        self,
        start: tuple[int, int, int],
        goal: tuple[int, int, int],
        units: tuple[int, ...],
        limits: tuple[int, int, float, int],
    ) -> tuple[int, list[list[int]], list[list[int]], float, int, int]: ...
    def near(
        self,
        start: tuple[int, int, int],
        goal: tuple[int, int, int],
        units: tuple[int, ...],
        limits: tuple[int, int, float, int],
        most: int,
    ) -> tuple[int, list[float], list[tuple[int, int, int, float]], int]: ...
    def state(self, number: int) -> tuple[int, int, int]: ...
    def group(self, number: int) -> int: ...

class PatternWays:
    def __init__(self, prices: KeptPrices, small: object, price_steps: int) -> None: ...
    def left(self) -> dict[tuple[int, int, int], float]: ...
