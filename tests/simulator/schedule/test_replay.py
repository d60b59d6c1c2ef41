"""replay(): a right schedule is counted, and every rule that a wrong one breaks is named with its step and tensor."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import workloads
from simulator.schedule.files import read_order, read_schedule, write_schedule
from simulator.schedule.operators import operators_of
from simulator.schedule.replay import MAX_OVERLAPS, replay
from simulator.schedule.schedule import (
    Operator,
    Schedule,
    ScheduleError,
    Segment,
    check_operators,
    compulsory_bytes,
    parameter_names,
)
from workloads.errors import FileFormatError

#: x(2) -> a(4) -> b(3) -> c(3) -> d(2), a -> d
CHAIN = (
    Operator("x", (), 2, is_input=True),
    Operator("a", ("x",), 4),
    Operator("b", ("a",), 3),
    Operator("c", ("b",), 3),
    Operator("d", ("c", "a"), 2),
)
#: at 9 bytes: a leaves after b and returns at d
RIGHT = (
    Segment("x", 0, 1, 4, 2, "loaded", "dead"),
    Segment("a", 1, 2, 0, 4, "created", "spilled"),
    Segment("b", 2, 3, 4, 3, "created", "dead"),
    Segment("c", 3, 4, 0, 3, "created", "dead"),
    Segment("a", 4, 4, 3, 4, "retrieved", "dead"),
    Segment("d", 4, 4, 7, 2, "created", "dead"),
)
ORDER = ("x", "a", "b", "c", "d")


def broken(segments: tuple[Segment, ...] = RIGHT, order: tuple[str, ...] = ORDER, capacity: int = 9) -> set[tuple]:
    found = replay(Schedule(order, segments), CHAIN, capacity).violations
    assert all(each.message for each in found)
    return {(each.rule, each.step, each.tensor) for each in found}


def changed(index: int, **fields: object) -> tuple[Segment, ...]:
    return (*RIGHT[:index], RIGHT[index]._replace(**fields), *RIGHT[index + 1 :])


def test_skip_chain_moves_eight_bytes():
    """4 out and 4 back; x in and d out are compulsory; 9 bytes live at d."""
    found = replay(Schedule(ORDER, RIGHT), CHAIN, 9)
    assert not found.violations
    assert (found.offchip_bytes, found.spilled_bytes, found.retrieved_bytes) == (8, 4, 4)
    assert (found.compulsory_bytes, found.peak_live_bytes, found.height_bytes) == (4, 9, 9)


@pytest.mark.parametrize(
    ("segments", "violation"),
    [
        (changed(5, address=8), ("bounds", 4, "d")),
        (changed(2, address=3), ("overlap", 2, "b")),
        (changed(1, last=3), ("overlap", 3, "c")),
        (changed(0, last=0), ("residency", 1, "x")),
        (changed(1, leaves="dropped"), ("host copy", 2, "a")),
        (changed(1, leaves="dead"), ("label", 2, "a")),
        (changed(4, leaves="spilled"), ("spilled once", 4, "a")),
        (changed(4, enters="created"), ("creation", 4, "a")),
        (changed(3, first=2), ("creation", 2, "c")),
        (changed(0, enters="created"), ("creation", 0, "x")),
        (changed(2, size=2), ("size", 2, "b")),
        (changed(5, last=5), ("time", 4, "d")),
        (changed(5, tensor="e"), ("label", 4, "e")),
        (RIGHT[:5], ("residency", 4, "d")),
        (RIGHT[:5], ("creation", 4, "d")),
    ],
)
def test_every_rule_is_named_with_its_step_and_tensor(segments: tuple[Segment, ...], violation: tuple):
    assert violation in broken(segments)


@pytest.mark.parametrize(
    ("order", "violation"),
    [
        (("x", "a", "b", "c"), ("order", None, "d")),
        (("x", "a", "b", "c", "d", "d"), ("order", 5, "d")),
        (("x", "a", "b", "c", "d", "e"), ("order", 5, "e")),
        (("x", "b", "a", "c", "d"), ("residency", 2, "x")),
    ],
)
def test_an_order_runs_every_operator_once_after_its_operands(order: tuple[str, ...], violation: tuple):
    assert violation in broken(order=order)


def test_a_tensor_may_move_at_the_boundary_of_two_steps_and_pays_for_it():
    """b leaves after step 2 and is back elsewhere at step 3: 3 + 3 more."""
    moved = (
        *RIGHT[:2],
        Segment("b", 2, 2, 4, 3, "created", "spilled"),
        Segment("b", 3, 3, 6, 3, "retrieved", "dead"),
        *RIGHT[3:],
    )
    found = replay(Schedule(ORDER, moved), CHAIN, 9)
    assert not found.violations and found.offchip_bytes == 14


def test_an_input_with_a_host_copy_is_dropped_not_spilled():
    operators = (Operator("x", (), 3, is_input=True), Operator("a", (), 5), Operator("b", ("x",), 1))
    segments = [
        Segment("x", 0, 0, 0, 3, "loaded", "dropped"),
        Segment("a", 1, 1, 0, 5, "created", "dead"),
        Segment("x", 2, 2, 0, 3, "retrieved", "dead"),
        Segment("b", 2, 2, 3, 1, "created", "dead"),
    ]
    schedule = Schedule(("x", "a", "b"), tuple(segments))
    found = replay(schedule, operators, 5, input_has_host_copy=True)
    assert not found.violations and found.offchip_bytes == 3
    assert [each.rule for each in replay(schedule, operators, 5).violations] == ["host copy", "host copy"]
    spilled = Schedule(schedule.order, (segments[0]._replace(leaves="spilled"), *segments[1:]))
    assert replay(spilled, operators, 5).offchip_bytes == 6 and not replay(spilled, operators, 5).violations
    assert [each.rule for each in replay(spilled, operators, 5, True).violations] == ["spilled once"]


def test_parameters_are_resident_at_their_step_and_loaded_once():
    operators = (Operator("x", (), 1, is_input=True), Operator("a", ("x",), 1, 4))
    name = parameter_names(operators)["a"]
    right = (
        Segment("x", 0, 1, 0, 1, "loaded", "dead"),
        Segment("a", 1, 1, 1, 1, "created", "dead"),
        Segment(name, 1, 1, 2, 4, "loaded", "dropped"),
    )
    assert not replay(Schedule(("x", "a"), right), operators, 6).violations
    assert compulsory_bytes(operators) == 1 + 4 + 1
    assert [each.rule for each in replay(Schedule(("x", "a"), right[:2]), operators, 6).violations] == ["residency"]
    assert parameter_names((Operator("a (parameters)", (), 1), Operator("a", (), 1, 2)))["a"] == "a (parameters)'"


def test_parameters_cannot_lie_in_two_places_at_once():
    operators = (Operator("x", (), 1, is_input=True), Operator("a", ("x",), 1, 4))
    name = parameter_names(operators)["a"]
    twice = (
        Segment("x", 0, 1, 0, 1, "loaded", "dead"),
        Segment("a", 1, 1, 1, 1, "created", "dead"),
        Segment(name, 0, 1, 2, 4, "loaded", "dropped"),
        Segment(name, 1, 1, 3, 4, "retrieved", "dropped"),
    )
    found = replay(Schedule(("x", "a"), twice), operators, 7).violations
    assert [(each.rule, each.step, each.tensor) for each in found] == [("overlap", 1, name)]


def test_overlaps_are_named_up_to_a_number():
    """60 stays of other tensors in one place are 1,770 pairs; a file with thousands would fill the memory."""
    operators = tuple(Operator(f"o{i}", (), 1) for i in range(60))
    order = tuple(each.name for each in operators)
    piled = tuple(Segment(name, i, 59, 0, 1, "created", "dead") for i, name in enumerate(order))
    found = replay(Schedule(order, piled), operators, 1).violations
    assert [each.rule for each in found] == ["overlap"] * MAX_OVERLAPS


def test_alignment_is_a_rule():
    assert ("alignment", 4, "a") in {
        (each.rule, each.step, each.tensor) for each in replay(Schedule(ORDER, RIGHT), CHAIN, 9, alignment=2).violations
    }


@pytest.mark.parametrize(
    ("operators", "words"),
    [
        ((Operator("a", (), 1), Operator("a", (), 1)), "defined twice"),
        ((Operator("a", ("b",), 1),), "'b', which is not defined before it"),
        ((Operator("a", (), 0),), "at least 1"),
        ((Operator("b", (), 1), Operator("a", ("b", "b"), 1)), "names an input twice"),
        ((Operator("a", (), 2**62), Operator("b", (), 2**62)), "the most is"),
    ],
)
def test_malformed_operators_are_one_line(operators: tuple[Operator, ...], words: str):
    with pytest.raises(ScheduleError, match=words):
        check_operators(operators)


def test_concatenations_copy_or_dissolve():
    """GoogleNet has 9: as copies they are operators of the size of their parts, and their readers read them alone."""
    network = workloads.load("googlenet")
    copied, dissolved = operators_of(network), operators_of(network, concat="dissolved")
    assert len(copied) == len(dissolved) + 9 == 1 + len(network.layers) + 9
    sizes = {each.name: each.size for each in copied}
    concat = next(each for each in copied if each.name == network.concats[0].name)
    assert len(concat.inputs) == 4 and concat.size == sum(sizes[name] for name in concat.inputs)
    readers = [each for each in copied if concat.name in each.inputs]
    assert readers and all(each.inputs == (concat.name,) for each in readers)
    assert sum(each.parameters for each in operators_of(network, parameters=True)) == network.weight_bytes


def test_a_batch_multiplies_tensors_not_weights():
    network = workloads.load("googlenet")
    one, four = operators_of(network, True), operators_of(network, True, batch=4)
    assert [(each.size, each.parameters) for each in four] == [(4 * each.size, each.parameters) for each in one]
    with pytest.raises(ValueError, match="batch must be a whole number from 1"):
        operators_of(network, batch=0)


def test_files_give_back_what_was_written(tmp_path: Path):
    path = tmp_path / "schedule.json"
    write_schedule(path, Schedule(ORDER, RIGHT), {"network": "chain"})
    assert read_schedule(path) == Schedule(ORDER, RIGHT)
    assert read_order(path) == ORDER


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"order": "x"}, "order is 'x'"),
        ({"order": ["x", 3]}, "step 1 is 3"),
        ({"format": "tensor-schedule/2", "order": []}, "format"),
        ({"order": ["x"]}, "segments is None"),
        ({"order": ["x"], "segments": [1]}, "segment 0 is 1"),
        ({"order": ["x"], "segments": [{"tensor": "x"}]}, "segment 0 has no 'first'"),
        ({"order": ["x"], "segments": [RIGHT[0]._asdict() | {"size": -1}]}, "segment 0: size is -1"),
        ({"order": ["x"], "segments": [RIGHT[0]._asdict() | {"leaves": "away"}]}, "leaves is 'away'"),
    ],
)
def test_malformed_files_are_one_line(content: dict, words: str, tmp_path: Path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match=words) as raised:
        read_schedule(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)
