"""Loop and Scan of ONNX, whose count of steps is known, as the values that go into each step and come out of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workloads.errors import NetworkError
from workloads.importing.families.moving import concat, pick, unsqueeze
from workloads.importing.onnx.order import check_names
from workloads.importing.onnx.tensors import attribute_value
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value, constant

Step = Callable[[Any, Sequence[Value]], list[Value]]  #: reads a body with its inputs, returns its outputs
FLOW = "is control flow, which a layer graph has not; export the model without it"


def unrolled(sketch: Sketch, node: Any, inputs: Sequence[Value | None], step: Step) -> list[Value]:
    """Return what a Loop or Scan makes: last states, and what every step adds to, one after the other.

    Raises NetworkError where the number of steps depends on what the network computes.
    """
    attributes = {a.name: attribute_value(a) for a in node.attribute if not a.HasField("g")}
    body = next((a.g for a in node.attribute if a.name == "body" and a.HasField("g")), None)
    if body is None or node.op_type not in ("Loop", "Scan"):
        raise NetworkError(FLOW)
    check_names(body)
    if node.op_type == "Loop":
        return _loop(sketch, body, inputs, step)
    return _scan(sketch, body, [each for each in inputs if each is not None], attributes, step)


def _loop(sketch: Sketch, body: Any, inputs: Sequence[Value | None], step: Step) -> list[Value]:
    count, goes_on, *given = inputs
    states = [each for each in given if each is not None]
    if count is None or count.data is None or count.is_given:
        raise NetworkError(FLOW)
    rows: list[list[Value]] = []
    for i in range(int(count.data.reshape(-1)[0])):
        if goes_on is not None and (goes_on.data is None or goes_on.is_given):
            raise NetworkError(FLOW)
        if goes_on is not None and not goes_on.data.all():  # type: ignore[union-attr]
            break
        made = step(body, [constant((), np.array(i)), goes_on or constant((), np.array(True)), *states])
        goes_on, states = made[0], made[1 : 1 + len(states)]
        rows.append(made[1 + len(states) :])
    return [*states, *_joined(sketch, rows, [])]


def _scan(sketch: Sketch, body: Any, inputs: Sequence[Value], attributes: dict[str, Any], step: Step) -> list[Value]:
    scanned = attributes.get("num_scan_inputs", 0)
    states, over = list(inputs[: len(inputs) - scanned]), inputs[len(inputs) - scanned :]
    axes = attributes.get("scan_input_axes") or [0] * scanned
    back = attributes.get("scan_input_directions") or [0] * scanned
    extents = {value.shape[axis] for value, axis in zip(over, axes, strict=True)}
    if len(extents) != 1 or any(attributes.get("scan_output_directions") or []):
        raise NetworkError(FLOW)
    (extent,), rows = extents, list[list[Value]]()
    for i in range(extent):
        places = [extent - 1 - i if turned else i for turned in back]
        made = step(body, [*states, *(pick(sketch, *each) for each in zip(over, axes, places))])
        states = made[: len(states)]
        rows.append(made[len(states) :])
    return [*states, *_joined(sketch, rows, attributes.get("scan_output_axes") or [])]


def _joined(sketch: Sketch, rows: Sequence[Sequence[Value]], axes: Sequence[int]) -> list[Value]:
    """What every step adds to, along its axis, by default the first."""
    found = []
    for i, parts in enumerate(zip(*rows)):
        axis = axes[i] if i < len(axes) else 0
        found.append(concat(sketch, [unsqueeze(sketch, each, [axis]) for each in parts], axis))
    return found
