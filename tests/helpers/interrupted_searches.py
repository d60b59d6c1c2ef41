"""Ctrl-C at a random moment of random searches on the real command line: when they end, and what they say.

python -m tests.helpers.interrupted_searches FIRST COUNT [-o]   searches by their seeds; ends with 1 if one is bad

With -o they are explorations that are saved.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import workloads
from tests.helpers.command_line import COMMAND, ENVIRONMENT
from tests.helpers.many_alike import random_many
from tests.helpers.random_problems import random_net
from workloads.network.network import Network

MOST_SECONDS = 1.0  #: of CPU time after the signal: other processes do not make it longer
STARTED = 0.2  #: seconds of CPU time until the command is imported, at most
SLOWEST = 10.0  #: times as long on the clock, at most
LATEST = 60.0  #: seconds after the signal, whatever else the machine does
BUILT_IN = ("googlenet", "resnet152", "randwire_a", "nasnet", "transformer", "densenet121", "gpt2", "darts")


class Ended(NamedTuple):
    """How a search ended that was interrupted."""

    seed: int
    words: tuple[str, ...]  #: its command line
    delay: float  #: of the signal after the start, in seconds of CPU time
    begun: float  #: seconds of CPU time before the signal
    cpu: float  #: seconds of CPU time after the signal
    wall: float  #: seconds after the signal
    code: int
    error: str  #: what it wrote to standard error

    @property
    def fails(self) -> str:
        """What is wrong about it, empty if nothing is. While Python imports the command, a signal may just end it."""
        if self.cpu > MOST_SECONDS or self.wall > LATEST:
            return "late"
        if self.begun < STARTED or (self.code == -signal.SIGINT and "in main" not in self.error):
            return ""
        if "Traceback" in self.error or "Exception ignored" in self.error:
            return "traceback"
        return "" if self.code in (0, 1, 2, 130) else f"code {self.code}"


def random_search(seed: int, folder: Path, is_saved: bool = False) -> list[str]:
    """Return a command line that takes long; the network may lie in the folder. is_saved: an exploration with -o."""
    rng = random.Random(seed)
    name = rng.choice(BUILT_IN)
    if rng.random() < 0.75:
        network: Network = random_many(seed) if rng.random() < 0.7 else random_net(seed)
        workloads.save(network, folder / "network.json")
        name = "network.json"
    network = workloads.load(folder / name if name == "network.json" else name)
    most = sum(tensor.size_bytes for tensor in network.tensors) + network.weight_bytes
    size = max(64, int(most * 4 ** rng.uniform(-2.5, 1)))
    words = ["partition", name, "--shared-buffer", str(size)]
    if rng.random() < 0.5 or is_saved:
        low = max(64, size // 8)
        words = ["explore", name, "--shared", "--range", f"{low}:{8 * low}:{max(1, low // 4)}"]
    words += ["--method", rng.choice(("auto", "exact", "ga", "sa")), "--metric", rng.choice(("ema", "energy"))]
    words += ["--keep", rng.choice(("auto", "auto", "none")), "--engine", rng.choice(("fast", "fast", "reference"))]
    words += ["--cores", rng.choice(("1", "1", "2"))] if words[0] == "partition" else []
    words += ["-o", "run"] if is_saved else []
    return [*words, "--max-regions", rng.choice(("none", "64")), "--samples", "100000000", "--json"]


def interrupted(seed: int, delay: float | None = None, is_saved: bool = False) -> Ended:
    """Start a search, press Ctrl-C after so many seconds of CPU time, 0.02 to 8 by default, and wait for its end."""
    rng = random.Random(f"delay {seed}")
    delay = delay or (0.02 * 50 ** rng.random() if rng.random() < 0.3 else rng.uniform(0.5, 8))
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as error:
        words = random_search(seed, Path(folder), is_saved)
        with subprocess.Popen(
            [*COMMAND, *words], cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=error,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
        ) as process:  # fmt: skip
            try:
                first = time.monotonic()
                while (
                    cpu_seconds(process.pid) < delay > (time.monotonic() - first) / SLOWEST and process.poll() is None
                ):
                    time.sleep(0.01)
                begun, start = cpu_seconds(process.pid), time.monotonic()
                process.send_signal(signal.SIGINT)
                cpu = 0.0
                while process.poll() is None and time.monotonic() < start + LATEST:
                    cpu = cpu_seconds(process.pid) - begun
                    time.sleep(0.01)
                wall = time.monotonic() - start
            finally:  # also of a test that is cut off
                process.kill()
        error.seek(0)
        return Ended(seed, tuple(words), delay, begun, cpu, wall, process.returncode, error.read())


def cpu_seconds(process: int) -> float:
    """Return the CPU time of a process so far; 0 where it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(first: int, count: int, is_saved: bool = False) -> int:
    """Interrupt these searches and say what came of them."""
    found = []
    for seed in range(first, first + count):
        one = interrupted(seed, is_saved=is_saved)
        found.append(one)
        when = f"after {one.begun:.2f} of CPU"
        print(
            f"{seed} {when}: {one.cpu:.2f} of CPU, {one.wall:.2f} s, code {one.code}, {one.fails or 'good'}", flush=True
        )
        if one.fails:
            print(*one.words, one.error, sep="\n")
    late = sorted(one.cpu for one in found)
    bad, stopped = sum(bool(one.fails) for one in found), sum(one.code == 130 for one in found)
    print(
        f"{count} searches, {bad} bad, {stopped} end with 130; CPU: {late[count // 2]:.2f} (median), {late[-1]:.2f} s"
    )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["-o"]))
