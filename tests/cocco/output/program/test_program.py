"""The program of a plan, built with sanitizers and guards: it counts what is printed and gives what the judge does."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import workloads
from cocco.output.program.program import program_of, write_program
from cocco.output.program.reference import PRIMES, ByteArithmetic
from cocco.output.program.verify import ProgramRun, run_program
from simulator import Accelerator, Partition, evaluate
from simulator.execution.value.arithmetic import Arithmetic
from simulator.model.priced import price_partition
from tests.helpers.parts import first_of
from tests.helpers.random_programs import DRAWN, KINDS, random_program
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")


def run(network: Network, plan: Partition, chip: Accelerator, folder: Path) -> ProgramRun:
    """Write, build and run a program."""
    write_program(folder, program_of(network, plan, chip))
    return run_program(network, evaluate(network, plan, chip), folder)


def test_no_name_of_a_layer_is_one_of_the_program(tmp_path):
    b = workloads.Builder("names")
    b.conv("forget", b.conv("attend", b.input("load_tile", 4, 4, 8), 8), 8)
    program = program_of(b.build(), Partition.layerwise(b.build()), Accelerator(shared_buffer=2048))
    assert {"forget_1", "attend_1", "load_tile_1"} <= set(re.findall(r"struct tensor (\w+)", program["layers.c"]))


@needs_gcc
@pytest.mark.usefixtures("unoptimized")
@pytest.mark.parametrize(
    "name", ['a"b', "back\\", "*/ int broken; /*", "//", "??/", "%s%n", "\u00e9\u4e2d", '");abort();("']
)
def test_names_are_text_in_a_program_and_never_code(name, tmp_path):
    b = workloads.Builder(name)
    b.conv(f"second {name}", b.conv(f"first {name}", b.input(f"x {name}", 6, 6, 4), 8, 3, padding=1), 8)
    for at, plan in enumerate(
        (Partition.layerwise(b.build()), Partition.from_groups(b.build(), [[f"first {name}", f"second {name}"]]))
    ):
        assert run(b.build(), plan, Accelerator(shared_buffer=4096), tmp_path / str(at)).message == ""


def block() -> Network:
    """Return two branches of different depth and stride that meet again."""
    b = workloads.Builder("block")
    x = b.input("x", 14, 14, 8)
    a = b.conv("a", x, 12, 3, padding=1)
    b.add("d", [b.conv("b", a, 8, 3, padding=1, stride=2), b.conv("e", a, 8, 1, stride=2)])
    return b.build()


@needs_gcc
@pytest.mark.usefixtures("unoptimized")
@pytest.mark.parametrize(
    ("bytes_", "batch"), [(9500, 1), (6500, 1), (4500, 1), (9500, 3)], ids=["large", "tiles", "small", "batch"]
)
def test_a_held_subgraph_runs_in_its_bytes(bytes_, batch, tmp_path):
    """In 4,500 B its tiles have SIDE regions."""
    plan = Partition.from_groups(block(), [["a", "b", "d", "e"]])
    assert run(block(), plan, Accelerator(shared_buffer=bytes_, batch=batch), tmp_path).message == ""


@needs_gcc
@pytest.mark.usefixtures("unoptimized")
@pytest.mark.parametrize("bytes_", [3000, 900])
def test_layers_run_in_their_loop_orders(bytes_, tmp_path):
    assert run(block(), Partition.layerwise(block()), Accelerator(shared_buffer=bytes_), tmp_path).message == ""


@needs_gcc
def test_the_program_without_guards_has_exactly_the_bytes_of_the_buffer_and_gives_the_same(tmp_path):
    plan, chip = Partition.layerwise(block()), Accelerator(shared_buffer=3000)
    assert run(block(), plan, chip, tmp_path).message == ""
    subprocess.run(["make", "-s", "plan"], cwd=tmp_path, check=True)
    ran = subprocess.run(["./plan", "plain.bin"], cwd=tmp_path, check=True, capture_output=True, text=True)
    claimed = evaluate(block(), plan, chip)
    assert ran.stdout.split()[1::2] == [
        str(each) for each in (claimed.ema_weight_bytes, claimed.ema_input_bytes, claimed.ema_output_bytes)
    ]
    assert (tmp_path / "plain.bin").read_bytes() == (tmp_path / "outputs.bin").read_bytes()
    assert "#define ON_CHIP_BYTES 3000\n" in (tmp_path / "sizes.h").read_text()


@needs_gcc
@pytest.mark.usefixtures("unoptimized")
def test_a_claim_that_is_wrong_by_a_byte_is_named(tmp_path):
    plan, chip = Partition.layerwise(block()), Accelerator(shared_buffer=3000)
    write_program(tmp_path, program_of(block(), plan, chip))
    claimed = evaluate(block(), plan, chip)
    found = run_program(block(), replace(claimed, ema_input_bytes=claimed.ema_input_bytes + 1), tmp_path)
    assert "inputs: claimed" in found.message


def test_the_reference_is_the_arithmetic_of_the_judge():
    """Windows, sums and products are those of the run of values, with the weights of the program."""
    mine = ByteArithmetic(block(), batch=1)
    judge = Arithmetic(block(), prime=PRIMES[8])
    judge.weights = mine.weights
    for v, values in judge.run_layers(mine.sample(0)).items():
        assert (values == mine.run_layers(mine.sample(0))[v]).all()


@needs_gcc
@pytest.mark.usefixtures("unoptimized")
@pytest.mark.parametrize(
    ("seed", "order"),
    [(57, "BC"), (120, "KP"), (5, "copy")],
    ids=["slices of three maps, a short last chunk", "a product", "a rearrangement"],
)
def test_a_layer_in_a_loop_order_runs_as_claimed(seed, order, tmp_path):
    network, plan, chip = DRAWN["layers"](seed)
    assert evaluate(network, plan, chip).subgraphs[0].loops.order == order
    assert run(network, plan, chip, tmp_path).message == ""


@needs_gcc
@pytest.mark.usefixtures("unoptimized")
@pytest.mark.parametrize("bytes_", [1200, 1400, 1600, 2000])
def test_a_step_of_a_decoder_runs_with_its_cache_in_loop_orders_and_held(bytes_, tmp_path):
    """Six heads of queries share two of keys; keys and values are those of a cache and of the step."""
    b = workloads.Builder("step")
    q, (k, v) = b.input("q", 2, 1, 48), (b.input(each, 2, 1, 16) for each in "kv")
    caches = [b.input(each, 5, 1, 16) for each in ("k_cache", "v_cache")]
    scores = b.matmul("scores", q, [caches[0], k], 6, True, 2)
    b.matmul("context", b.softmax("softmax", scores), [caches[1], v], 6, False, 2)
    network = b.build()
    for plan in (Partition.layerwise(network), Partition.from_groups(network, [["scores", "softmax"], ["context"]])):
        if evaluate(network, plan, Accelerator(shared_buffer=bytes_)).fits:
            assert run(network, plan, Accelerator(shared_buffer=bytes_), tmp_path).message == ""


@needs_gcc
@pytest.mark.usefixtures("unoptimized")
def test_groups_of_channels_run_one_after_the_other(tmp_path):
    b = workloads.Builder("apart")
    x = b.input("x", 9, 9, 32)
    b.maxpool("c", b.add("b", [b.depthwise("a", x, 3, padding=1), x]), 3)
    network, chip = b.build(), Accelerator(shared_buffer=900, batch=2)
    plan = Partition.from_groups(network, [["a", "b", "c"]])
    assert price_partition(network, plan, chip).prices[0].channel_groups > 1
    assert run(network, plan, chip, tmp_path).message == ""


@needs_gcc
def test_a_pool_none_of_whose_windows_meets_its_input_writes_zeros(tmp_path):
    """Its one window lies on the padding above: the zeros that are written out have a place."""
    layer = Layer("n", "maxpool", ("x",), 1, 1, 4, 4, stride=(3, 2), padding=(1, 0, 0, 0))
    network = Network("one", (Tensor("x", 1, 1, 4),), (layer,))
    plan, chip = Partition.layerwise(network), Accelerator(shared_buffer=24)
    assert price_partition(network, plan, chip).prices[0].activation_bytes == 8
    assert run(network, plan, chip, tmp_path).message == ""


@needs_gcc
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", first_of(range(60), 2))
def test_a_random_plan_runs_as_claimed_or_is_refused(kind, seed, tmp_path, request):
    """Those of every run are small, and built in no time."""
    if seed < 2:
        request.getfixturevalue("unoptimized")
    network, plan, chip = random_program(kind, seed)
    evaluation = evaluate(network, plan, chip)
    if not evaluation.fits:
        return
    try:
        program = program_of(network, plan, chip)
    except ValueError as refusal:
        assert "has no address map" in str(refusal) and "\n" not in str(refusal)
        return
    write_program(tmp_path, program)
    assert run_program(network, evaluation, tmp_path).message == ""
