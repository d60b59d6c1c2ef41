"""Several cores executed: values, counts, and that one row, column, channel or byte less fails."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from simulator import Accelerator
from simulator.execution.cores import SCHEMES, count_cores, derive_team, run_team
from simulator.execution.cores.count import check_columns, count_moves
from simulator.execution.cores.run import HeadedArithmetic
from simulator.execution.cores.share import deal_words
from simulator.execution.count.count import Plan
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.model.subgraph.regions import derive_tiling
from simulator.model.subgraph.subgraph import Geometry, Subgraph
from simulator.technology import Technology
from tests.helpers.parts import few_seeds
from tests.helpers.random_cores import random_team
from tests.helpers.teams import NAMES, claim_team
from workloads import Builder
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

ROOM = 10**9


def runs(network, plan) -> bool:
    """Return whether updates can be aligned, and the scheme runs the operators."""
    part = Part(network, plan.layers)
    is_aligned = derive_tiling(Subgraph(Geometry(network), plan.layers), plan.tile) is not None
    return is_aligned and not (plan.cores != "channels" and part.needed_whole)


def execute(network, chip, plan, change=lambda cells: cells):
    """Run values in the memories of all cores, compare them, and return (moves counted, moves run)."""
    arithmetic = HeadedArithmetic(network)
    values = arithmetic.run_layers(arithmetic.model_inputs())
    team = derive_team(Part(network, plan.layers), plan, chip)
    moves = count_moves(team)
    outputs, ran = run_team(replace(team, cells=change(team.cells)), arithmetic, values)
    for v, found in outputs.items():
        assert np.array_equal(found, values[v])
    return moves, ran


def check_random_values(seeds) -> int:
    """Execute random graphs; return how many ran."""
    count = 0
    for seed in seeds:
        network, chip, plan = random_team(seed)
        for scheme in ("channels", "rotated"):
            each = plan._replace(cores=scheme)
            if not runs(network, each):
                continue
            moves, ran = execute(network, chip, each)
            assert (ran.loads, ran.stores, ran.reads, ran.crossing, ran.updates) == (
                moves.loads, moves.stores, moves.reads, moves.crossing, moves.updates,
            ), (seed, scheme)  # fmt: skip
            count += 1
    return count


def check_random_counts(seeds) -> int:
    """Compare the closed forms with what is counted; return how many plans were."""
    count = 0
    for seed in seeds:
        network, chip, plan = random_team(seed)
        for scheme in SCHEMES:
            each = plan._replace(cores=scheme)
            claim = claim_team(network, chip, each)
            if claim is None:
                continue
            counted = count_cores(Part(network, plan.layers), each, chip, ROOM, ROOM)
            assert {name: getattr(counted, name) for name in NAMES} == claim, (seed, scheme)
            count += 1
    return count


@few_seeds(14, 36)
def test_random_graphs_run_on_several_cores(seeds):
    """All operators: concats whose groups cores do not divide, dilation, spread maps, operands needed whole."""
    assert check_random_values(seeds) > 3 * len(seeds) // 2 - 4


@pytest.mark.slow
def test_many_random_graphs_run_on_several_cores():
    assert check_random_values(range(10_000, 12_000)) > 3_000


@few_seeds(60, 150)
def test_closed_forms_are_what_is_counted(seeds):
    assert check_random_counts(seeds) > 2 * len(seeds)


@pytest.mark.slow
def test_closed_forms_are_what_is_counted_of_many_graphs():
    assert check_random_counts(range(20_000, 30_000)) > 20_000


def test_words_are_dealt_evenly_and_core_0_has_the_most():
    for channels in range(1, 40):
        for cores in range(1, 9):
            dealt = deal_words(channels, 3, cores)
            assert sorted(each for part in dealt for each in part) == list(range(channels))
            assert len(dealt[0]) == max(map(len, dealt)) == min(channels, 3 * -(-channels // (3 * cores)))


def two_convolutions(width=16):
    b = Builder("two")
    b.conv("b", b.conv("a", b.input("x", 16, width, 8), 8, 3, padding=1), 8, 3, padding=1)
    return b.build()


def test_two_convolutions_on_16_cores():
    """Once claimed: 384 bytes for a column each. A band of one column needs three rows of it, and both neighbours'."""
    network, chip = two_convolutions(), Accelerator(shared_buffer=ROOM, cores=16)
    part, tile = Part(network, (0, 1)), (1, 16)
    counted = {s: count_cores(part, Plan((0, 1), tile, cores=s), chip, ROOM, ROOM) for s in SCHEMES}
    one = Accelerator(shared_buffer=ROOM)
    assert count_cores(part, Plan((0, 1), tile, cores="rotated"), one, ROOM, ROOM).activation_bytes == 7 * 16 * 8
    assert counted["channels"].activation_bytes == 7 * 16 * 8  # one word of channels: one core has it
    assert counted["rotated"].activation_bytes == 7 * 8
    assert counted["channels"].crossbar_bytes == 0
    halo = ((3 + 13 * 3 + 2) + (2 + 14 * 3 + 2)) * 30 * 8  # a: 15 updates, the first of two rows; 2 columns a border
    assert counted["held"].crossbar_bytes == halo + 15 * 2 * 576
    assert counted["rotated"].crossbar_bytes == halo + 15 * (15 + 16) * 576  # each core hears 15/16 at every update
    assert (counted["held"].weight_bytes, counted["rotated"].weight_bytes) == (1152, 72)


@pytest.mark.parametrize(
    ("inputs", "layers"),
    [
        ((1, 2, 1), [("a", "x", 1, 1, 1, 2, 0)]),
        ((1, 3, 1), [("a", "x", 1, 2, 1, 2, 0)]),
        ((1, 7, 1), [("a", "x", 1, 7, 3, 1, 1), ("b", "a", 1, 4, 3, 2, 1)]),
    ],
)
def test_counterexamples_of_columns_run_mirrored(inputs, layers):
    """Bands of ceil(W / n) columns, or leads of one direction only, lose a column here."""
    found = [
        Layer(name, "conv", (source,), height, width, 1, 1, (1, kernel), (1, stride), (0, pad, 0, pad))
        for name, source, height, width, kernel, stride, pad in layers
    ]
    network = Network("one", (Tensor("x", *inputs),), tuple(found))
    chip = Accelerator(shared_buffer=ROOM, cores=2, technology=Technology(channel_alignment=1))
    execute(network, chip, Plan(tuple(range(len(found))), (1, 1), cores="rotated"))


def smaller(cells, core, u, **changes):
    """Return the regions of all cores with some of one tensor's made smaller by so much."""
    found = [dict(each) for each in cells]
    old = found[core][u]
    found[core][u] = replace(old, **{name: getattr(old, name) - by for name, by in changes.items()})
    return tuple(found)


@pytest.mark.parametrize("scheme", ["channels", "rotated"])
def test_a_row_column_or_channel_less_in_any_core_fails(scheme):
    """Of random graphs, in every region of core 0, which has the most; SIDE where there is one."""
    tried = 0
    for seed in range(24):
        rng = random.Random(seed)
        network, chip, plan = random_team(seed, tiles=(1, 2))
        plan, chip = plan._replace(cores=scheme), replace(chip, batch=1)
        plan = plan._replace(at_once=1)
        if not runs(network, plan):
            continue
        team = derive_team(Part(network, plan.layers), plan, chip)
        u = rng.choice(team.part.tensors)
        cells, used = team.cells[0][u], len(team.shares[0].channels[u])
        short = [{"channels": cells.channels - used + 1}]
        short += [{"rows": 1}] if cells.rows > 1 and team.part.readers[u] else []
        short += [{"columns": 1}] if cells.columns > 1 and team.part.readers[u] else []
        for changes in short:
            try:
                execute(network, chip, plan, partial(smaller, core=0, u=u, **changes))
            except Miss:
                tried += 1
            else:
                assert "channels" not in changes
                execute_less_often(team, u, changes)
    assert tried > 30


def execute_less_often(team, u, changes):
    """What still runs with a row or column less is no sliding window: its maps end before the region is full."""
    cells = team.cells[0][u]
    extent = team.part.extent[0][u] if "rows" in changes else max(share.extent(u) for share in team.shares)
    assert {"rows": cells.rows, "columns": cells.columns}[next(iter(changes))] >= extent - 1 or not team.scheme.is_alone


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_byte_less_fails(scheme):
    network, chip = two_convolutions(), Accelerator(shared_buffer=ROOM, cores=4)
    part, plan = Part(network, (0, 1)), Plan((0, 1), (2, 2), cores=scheme)
    counted = count_cores(part, plan, chip, ROOM, ROOM)
    need = counted.activation_bytes + counted.weight_bytes
    assert count_cores(part, plan, chip, need, 0) == counted
    with pytest.raises(Miss, match="weights take"):
        count_cores(part, plan, chip, need - 1, 0)
    apart = Accelerator(global_buffer=ROOM, weight_buffer=ROOM, cores=4)
    with pytest.raises(Miss, match="activations take"):
        count_cores(part, plan, apart, counted.activation_bytes - 1, ROOM)
    with pytest.raises(Miss, match="weights take"):
        count_cores(part, plan, apart, ROOM, counted.weight_bytes - 1)


def test_a_column_less_in_all_cores_fails():
    """Of any tensor that slides along the columns, where windows meet the most that it holds: on wide maps."""
    tried = 0
    for seed in range(3, 200, 4):
        network, chip, plan = random_team(seed, tiles=(1, 2))
        plan, chip = plan._replace(cores="rotated", at_once=1), replace(chip, batch=1, cores=2)
        if not runs(network, plan):
            continue
        team = derive_team(Part(network, plan.layers), plan, chip)
        for u in team.part.tensors:
            cells = team.cells[0][u]
            if 1 < cells.columns < cells.width // 2 and team.part.readers[u]:
                less = tuple(each | {u: replace(cells, columns=cells.columns - 1)} for each in team.cells)
                with pytest.raises(Miss):
                    check_columns(replace(team, cells=less))
                tried += 1
    assert tried > 40


def test_columns_are_not_shared_where_a_tensor_is_needed_whole():
    b = Builder("product")
    b.matmul("c", b.input("a", 4, 4, 8), b.input("b", 8, 1, 8))
    with pytest.raises(Miss, match="needed whole"):
        derive_team(Part(b.build(), (0,)), Plan((0,), (1, 1), cores="rotated"), Accelerator(shared_buffer=1, cores=2))
