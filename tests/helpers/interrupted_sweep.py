"""A sweep whose second search interrupts itself, run alone because the signal would reach the runner of the tests.

`python interrupted_sweep.py FOLDER WORKERS [swallows]` prints what was found, half and whole, as one JSON object.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from experiments.sweep.sweep import sweep
from tests.helpers import sweep_tasks
from tests.helpers.tiny_network import write_tiny


def main(folder: Path, workers: int, swallows: bool) -> dict[str, object]:
    """Return whether the sweep was interrupted, and what it has stored and finds when it goes on.

    swallows: whether the task goes on with the best so far, as no task should.
    """
    network = write_tiny(folder / "tiny.json")
    about = {"network": network, "mark": str(folder / "alone"), "swallows": True}
    asked = [about | {"seed": seed} for seed in range(3)]
    found: dict[str, object] = {"half": sweep_tasks.explores(asked[1] | {"says": True})}
    found["whole"] = [sweep_tasks.explores(point) for point in asked]
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
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), len(sys.argv) > 3)))
