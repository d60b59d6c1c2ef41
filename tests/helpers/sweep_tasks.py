"""Functions that the sweeps of the tests run, in a module that every worker process can import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np


def square(point: dict[str, Any]) -> dict[str, Any]:
    """Return the square and what depends on a seed, after so many seconds."""
    time.sleep(point.get("seconds", 0.0))
    noise = np.random.default_rng(point["x"]).normal()
    return {"x": point["x"], "square": np.int64(point["x"]) ** 2, "noise": noise, "text": "é" * point.get("size", 1)}


def rows(point: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a list of rows, and count in a file how often it was called."""
    with open(point["log"], "a") as log:
        log.write(f"{point['x']}\n")
    return [{"x": point["x"], "row": row, "third": row / 3} for row in range(2)]


def fails_at_two(point: dict[str, Any]) -> int:
    """Raise at x = 2."""
    if point["x"] == 2:
        raise ZeroDivisionError("two is\nno good")
    return int(point["x"])


def dies_once(point: dict[str, Any]) -> dict[str, Any]:
    """Kill the process that computes x = 3, the first time."""
    mark = Path(point["mark"])
    if point["x"] == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(point)


def dies_at_three(point: dict[str, Any]) -> int:
    """Kill the process that computes x = 3, every time."""
    if point["x"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return int(point["x"])


def says_who(point: dict[str, Any]) -> dict[str, Any]:
    """Return the square, and leave a file named after the process that computed it."""
    (Path(point["who"]) / f"{point['x']}-{os.getpid()}").touch()
    return square(point)


def names_of(dask_scheduler: Any) -> list[str]:
    """Return the keys of all tasks that a scheduler knows."""
    return list(dask_scheduler.tasks)


def answers(point: dict[str, Any]) -> Any:
    """Return what is not to be stored: what no JSON file can hold, and what a stopped search answers."""
    half = {"status": "stopped"}
    others = {"nan": float("nan"), "object": object(), "large": "x" * 2**24}
    return (others | {"stopped": half, "stopped rows": [{"status": "feasible"}, half]})[point["what"]]


def explores(point: dict[str, Any]) -> dict[str, Any]:
    """Return what a search found; Ctrl-C is pressed in the middle of the search at the second point, the first time.

    With "swallows" it goes on with the best so far, which it says if it "says" the status.
    """
    import cocco
    import workloads

    mark = Path(point["mark"])

    def press(done: int, *_: float) -> None:
        if done > 100 and point["seed"] == 1 and not mark.exists():
            mark.touch()
            signal.raise_signal(signal.SIGINT)

    network, space = workloads.load(point["network"]), cocco.SharedBuffer(2**17, 2**18, 2**14)
    asked = {"space": space, "samples": 400, "seed": point["seed"], "method": "ga", "keep": "none"}
    try:
        found = cocco.explore(network, **asked, progress=press)
    except cocco.Interrupted as stop:
        if not point.get("swallows"):
            raise
        found = stop.result
    return {"samples": found.samples, "cost": found.cost} | ({"status": found.status} if point.get("says") else {})


def exits(point: dict[str, Any]) -> int:
    """End the process at x = 2, or try to."""
    if point["x"] == 2:
        raise SystemExit(3)
    return int(point["x"])


def paints(point: dict[str, Any]) -> int:
    """Raise with a message that a terminal would take for commands."""
    raise ValueError("\x1b[31mred\x1b[0m and \x07bell, \u202eright to left; é stays")


def leaves(point: dict[str, Any]) -> int:
    """Leave half of a file beside the points, as a worker that is killed while it stores does, and raise once."""
    (Path(point["folder"]) / "points" / f".{point['x']}.json.half.tmp").write_text("{")
    if point["x"] == 1:
        raise ValueError("one of them")
    return 0
