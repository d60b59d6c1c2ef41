"""Sweeps whose second search interrupts itself, run alone because the signal would reach the runner of the tests.

`python interrupted_sweep.py FOLDER WORKERS` prints what was found, half and whole, as a JSON list: of a task that lets
the interruption through, and of one that swallows it.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

from experiments.sweep.sweep import sweep
from tests.helpers import sweep_tasks
from tests.helpers.tiny_network import write_tiny


def main(folder: Path, workers: int) -> list[dict[str, object]]:
    """Return whether each sweep was interrupted, and what it has stored and finds when it goes on."""
    network = write_tiny(folder / "tiny.json")
    about = {"network": network, "mark": str(folder / "alone"), "swallows": True}
    asked = [about | {"seed": seed} for seed in range(3)]
    whole: dict[str, object] = {"half": sweep_tasks.explores(asked[1] | {"says": True})}
    whole["whole"] = [sweep_tasks.explores(point) for point in asked]
    (folder / "lets").mkdir()
    (folder / "swallows").mkdir()
    return [whole | interrupted(asked, folder / "lets", workers, False),
            whole | interrupted(asked, folder / "swallows", workers, True)]  # fmt: skip


def interrupted(asked: list[dict[str, Any]], folder: Path, workers: int, swallows: bool) -> dict[str, object]:
    """Return what one sweep stores and finds; swallows: the task goes on with the best so far, as no task should."""
    found: dict[str, object] = {}
    asked = [point | {"mark": str(folder / "mark"), "swallows": swallows} for point in asked]
    try:
        sweep(sweep_tasks.explores, asked, folder / "folder", workers=workers)
    except KeyboardInterrupt:
        found["interrupted"] = (folder / "mark").exists()
    found["stored"] = len(list((folder / "folder" / "points").glob("*.json")))
    found["finished"] = sweep(sweep_tasks.explores, asked, folder / "folder")
    found["handler"] = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
