"""Builds the program of a plan and runs it: what it counts against the claims, what it gives against the judge."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cocco.output.program.program import program_of, write_program
from cocco.output.program.reference import ByteArithmetic
from simulator.evaluation import Evaluation
from workloads.network.network import Network

KINDS = ("weights", "inputs", "outputs")


@dataclass(frozen=True)
class ProgramRun:
    """What a program counted and gave: bytes by kind; message: what is wrong, empty if nothing is."""

    claimed: dict[str, int]
    counted: dict[str, int]
    message: str

    @property
    def verified(self) -> bool:
        """Whether everything is as claimed."""
        return not self.message

    def summary(self) -> str:
        """Return in a line what --verify c prints."""
        if self.verified:
            return "The program in C ran with guards and sanitizers; its counters and outputs are equal."
        return f"The program in C differs: {self.message}."

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that --verify c adds to --json."""
        return {"verified": self.verified, "claimed": self.claimed, "counted": self.counted, "message": self.message}


def verify_program(network: Network, evaluation: Evaluation) -> ProgramRun:
    """Return how the program of a plan that fits runs, in a folder of its own that is gone afterwards.

    Raises ValueError for a plan that has no program yet, and where there is no compiler.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = program_of(network, evaluation.plan, evaluation.accelerator, evaluation.tile_rule)
        write_program(Path(folder), files)
        return run_program(network, evaluation, Path(folder))


def run_program(network: Network, evaluation: Evaluation, folder: Path, target: str = "guarded") -> ProgramRun:
    """Return how a program in a folder runs with guards and sanitizers, next to what the evaluation of its plan claims.

    target: of its Makefile; "plan" has neither guards nor sanitizers. Raises ValueError where there is no compiler.
    """
    if shutil.which("gcc") is None or shutil.which("make") is None:
        raise ValueError("--verify c needs gcc and make, which are not here; 'cocco export --c DIR' writes the program")
    claimed = claims_of(evaluation)
    built = subprocess.run(["make", "-s", target], cwd=folder, capture_output=True, text=True, check=False)
    if built.returncode:
        wrong = [line for line in built.stderr.splitlines() if "error:" in line]
        return ProgramRun(claimed, {}, f"it does not compile: {_first(wrong[0] if wrong else built.stderr)}")
    ran = subprocess.run([f"./{target}", "outputs.bin"], cwd=folder, capture_output=True, text=True, check=False)
    if ran.returncode:
        return ProgramRun(claimed, {}, f"it stops: {_first(ran.stderr)}")
    counted = {kind: int(count) for kind, count in map(str.split, ran.stdout.splitlines())}
    wrong = [kind for kind in KINDS if claimed[kind] != counted[kind]]
    if wrong:
        kind = wrong[0]
        return ProgramRun(claimed, counted, f"{kind}: claimed {claimed[kind]} bytes, counted {counted[kind]}")
    if (folder / "outputs.bin").read_bytes() != ByteArithmetic(network, evaluation.accelerator.batch).outputs():
        return ProgramRun(claimed, counted, "its outputs are not those of running the layers one by one")
    return ProgramRun(claimed, counted, "")


def claims_of(evaluation: Evaluation) -> dict[str, int]:
    """Return the bytes that cross DRAM in a plan that fits, by kind."""
    sizes = evaluation.ema_weight_bytes, evaluation.ema_input_bytes, evaluation.ema_output_bytes
    return dict(zip(KINDS, map(int, sizes)))


def _first(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip(" =\n")), "without a word")
