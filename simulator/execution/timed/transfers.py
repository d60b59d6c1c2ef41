"""What a run claims to do when: transfers over DRAM, computing, and what crosses between cores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from simulator.execution.count.miss import Miss

KINDS = ("inputs", "weights", "outputs", "compute", "crossbar")


class Transfer(NamedTuple):
    """What DRAM, the array or the crossbar does from `start` to `stop`, in slots: the time of a byte on DRAM."""

    kind: str  #: inputs, weights, outputs, compute, crossbar
    step: int
    layer: str
    start: int
    stop: int
    size_bytes: int

    def __str__(self) -> str:
        name = f" of {self.layer!r}" if self.layer else ""
        return f"step {self.step}: {self.kind}{name} from {self.start} to {self.stop}"


def read_run(run: Iterable[Sequence[Any]], steps: int) -> dict[str, list[Transfer]]:
    """Return the transfers of a run by kind, each in its order; raises Miss if two want the same thing at once.

    Examples
    --------
    >>> read_run([("weights", 0, "a", 0, 8, 8), ("inputs", 0, "", 7, 9, 2)], 1)
    Traceback (most recent call last):
    ...
    simulator.execution.count.miss.Miss: step 0: inputs from 7 to 9: DRAM is taken until 8
    """
    found: dict[str, list[Transfer]] = {kind: [] for kind in KINDS}
    free = dict.fromkeys(("DRAM", "the array", "the crossbar"), 0)
    every = sorted((Transfer(*each[: len(Transfer._fields)]) for each in run), key=lambda each: each[3:5])
    for each in every:
        what = {"compute": "the array", "crossbar": "the crossbar"}.get(each.kind, "DRAM")
        if each.kind not in found or not 0 <= each.step < steps or each.stop < each.start:
            raise Miss(f"{each}: no transfer of these {steps} steps")
        if each.start < free[what]:
            raise Miss(f"{each}: {what} is taken until {free[what]}")
        if what == "DRAM" and each.stop - each.start != each.size_bytes:
            raise Miss(f"{each}: {each.size_bytes} bytes take {each.size_bytes} slots")
        free[what] = each.stop
        found[each.kind].append(each)
    return found
