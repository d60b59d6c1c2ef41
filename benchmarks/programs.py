"""Programs of plans, built and run with guards and sanitizers, and without: the table of docs/export.md.

    python -m benchmarks.programs [--networks NAME ...] [--random N [--kinds KIND ...]]

--random: this many random plans of every kind (tests/helpers/random_programs.py) instead, refused ones named by reason;
--kinds: only of these.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cocco
import workloads
from cocco.output.program.program import program_of, write_program
from cocco.output.program.verify import run_program
from simulator import Accelerator, evaluate
from simulator.evaluation import Evaluation
from simulator.sizes import parse_size
from tests.helpers.random_programs import KINDS, random_program
from workloads.network.layers.types import INT8
from workloads.network.network import Network


def mobilenet_v2() -> Network:
    """Return MobileNetV2 of 224 x 224 (Sandler et al., 2018, Table 2), without width multiplier."""
    b = workloads.Builder("mobilenet_v2")
    x, channels, number = b.conv("stem", b.input("image", 224, 224, 3), 32, 3, stride=2, padding=1), 32, 0
    for wider, outputs, times, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for step in (stride, *(1 for _ in range(times - 1))):
            name, number = f"b{number}", number + 1
            wide = x if wider == 1 else b.conv(f"{name}_expand", x, wider * channels)
            apart = b.depthwise(f"{name}_depthwise", wide, 3, stride=step, padding=1)
            made = b.conv(f"{name}_project", apart, outputs)
            x = b.add(f"{name}_add", [x, made]) if step == 1 and outputs == channels else made
            channels = outputs
    b.fc("classes", b.global_avgpool("pool", b.conv("head", x, 1280)), 1000)
    return b.build()


def load(name: str) -> Network:
    """Return a network of the table, in INT8."""
    language: dict[str, dict[str, Any]] = {"gpt2": {"phase": "prefill", "length": 64, "layers": 2}}
    language["llama3_8b"] = {"phase": "decode", "past": 512, "layers": 1}
    network = mobilenet_v2() if name == "mobilenet_v2" else workloads.load(name, **language.get(name, {}))
    return network.with_bits(INT8)


CASES = {
    "resnet50": "960KB", "googlenet": "512KB", "vgg16": "960KB", "mobilenet_v2": "64KB", "gpt2": "1MB",
    "llama3_8b": "1MB",
}  # fmt: skip


def build(network: Network, evaluation: Evaluation, folder: Path) -> str:
    """Return what is wrong with the program of a plan, written into a folder, with guards and without; else ""."""
    write_program(folder, program_of(network, evaluation.plan, evaluation.accelerator))
    guarded = run_program(network, evaluation, folder)
    return guarded.message or run_program(network, evaluation, folder, "plan").message


def row(name: str, size: str, folder: Path) -> str:
    """Return a row of the table: a network in a shared buffer."""
    network, chip = load(name), Accelerator(shared_buffer=parse_size(size))
    found = cocco.partition(network, chip, samples=2_000).evaluation
    message = build(network, found, folder)
    lines = sum(len(each.read_text().splitlines()) for each in folder.glob("*.[ch]"))
    own = sum(len((folder / each).read_text().splitlines()) for each in ("layers.c", "plan.c", "sizes.h"))
    code = subprocess.run(["size", "plan"], cwd=folder, capture_output=True, text=True, check=True).stdout.split()[6]
    began = time.perf_counter()
    subprocess.run(["./plan", "outputs.bin"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    seconds = time.perf_counter() - began
    ema = f"{found.ema_weight_bytes:,} | {found.ema_input_bytes:,} | {found.ema_output_bytes:,}"
    return f"| {name} | {size} | {ema} | {lines:,} | {own:,} | {int(code):,} | {seconds:.1f} | {message or 'equal'} |"


def drawn(count: int, kinds: Sequence[str]) -> Counter[str]:
    """Return how many random plans ran as claimed, did not fit, or were refused, by reason; all by kind."""
    found = Counter[str]()
    for kind in kinds:
        for seed in range(count):
            network, plan, chip = random_program(kind, seed)
            evaluation = evaluate(network, plan, chip)
            if not evaluation.fits:
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    message = build(network, evaluation, Path(folder)) or "as claimed"
                except ValueError as refusal:
                    message = str(refusal).split(": ", 1)[-1]
            found[f"{kind}: {message}"] += 1
            if message != "as claimed":
                print(f"{kind}, seed {seed}: {message}", flush=True)
    return found


def main() -> None:
    """Print the table as Markdown, or the counts of random plans."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", default=CASES, choices=CASES, metavar="NAME")
    parser.add_argument("--random", type=int, metavar="N", help="random plans of each kind instead")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS, metavar="KIND")
    options = parser.parse_args()
    if options.random is not None:
        for message, count in sorted(drawn(options.random, options.kinds).items()):
            print(f"{count:5} {message}")
        return
    print("| network | buffer | weights | inputs | outputs | lines of C | of the plan | bytes of code | s | |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    for name in options.networks:
        with tempfile.TemporaryDirectory() as folder:
            print(row(name, CASES[name], Path(folder)), flush=True)


if __name__ == "__main__":
    main()
