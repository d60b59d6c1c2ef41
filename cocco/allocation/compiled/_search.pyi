from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from cocco.allocation.problem import AllocationProblem

class Search:
    nodes: int
    def __init__(self, problem: AllocationProblem, capacity: int, rank: str) -> None: ...
    @property
    def address(self) -> list[int]: ...
    def run(self, limit: int) -> int: ...

def neighbour_rows(
    order: npt.NDArray[np.int64], behind: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
def repair(
    problem: AllocationProblem,
    capacity: int,
    start: npt.NDArray[np.int64],
    takes_last: bool,
    seed: int,
    limit: int,
) -> tuple[bool, int, int, list[int]]: ...
def fill_rows(
    problem: AllocationProblem,
    order: Iterable[int],
    address: npt.NDArray[np.int64],
    low: npt.NDArray[np.int64],
) -> None: ...
