"""Kept intervals: a tensor that stays on chip, whole, from one step of a partition to a later one (our extension).

A step is a subgraph by its place in the execution order. An interval [a, z] of a tensor begins at the step a that makes
it, or at one that loads it from DRAM, and ends at a later step z that reads it. So there are none of length one, and
two intervals of one tensor share no step: where they meet they are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.partition.errors import PartitionError
from workloads.errors import shown
from workloads.network.network import Network

MOST_SHOWN = 8  #: steps that a message lists; our choice
Span = tuple[int, int, int]  #: tensor id, first step, last step


@dataclass(frozen=True)
class KeptInterval:
    """A tensor that stays on chip, whole, from the step that makes or loads it to a later step that reads it.

    Layers name the steps: the maker of the tensor where the interval begins with it, else the first layer of the step
    that reads it, and the last layer that reads it in the last step.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Partition
    >>> vgg = workloads.load("vgg16")
    >>> plan = Partition.from_groups(vgg, [["conv1_1..pool1"], ["conv2_1", "conv2_2"]], keep=["pool1"])
    >>> plan.keep[0]
    KeptInterval(tensor='pool1', from_layer='pool1', until_layer='conv2_1', tensor_id=2, from_step=0, until_step=1)
    >>> plan.keep[0].to_json()
    {'tensor': 'pool1', 'from': 'pool1', 'until': 'conv2_1'}
    """

    tensor: str
    from_layer: str  #: of the step that makes or loads it
    until_layer: str  #: of the last step that reads it on chip
    tensor_id: int
    from_step: int  #: positions in the execution order
    until_step: int

    @property
    def span(self) -> Span:
        """Tensor id, first step, last step."""
        return self.tensor_id, self.from_step, self.until_step

    def to_json(self) -> dict[str, str]:
        """Return the interval as partition files have it."""
        return {"tensor": self.tensor, "from": self.from_layer, "until": self.until_layer}


class Uses:
    """Which step makes each tensor, and which later ones read it."""

    def __init__(self, network: Network, subgraphs: Sequence[Sequence[int]]) -> None:
        self.network, self.subgraphs = network, subgraphs
        self.step_of = {layer: step for step, group in enumerate(subgraphs) for layer in group}

    def made(self, tensor: int) -> int | None:
        """Return the step that makes a tensor, None for a model input."""
        return self.step_of.get(tensor)

    def reads(self, tensor: int) -> list[int]:
        """Return the steps that read a tensor from elsewhere, ascending."""
        steps = {self.step_of[layer] for layer in self.network.consumers[tensor]}
        return sorted(steps - {self.made(tensor)})

    def readers(self, tensor: int, step: int) -> list[int]:
        """Return the layers of a step that read a tensor, ascending."""
        return [layer for layer in self.network.consumers[tensor] if self.step_of[layer] == step]

    def shown(self, step: int) -> str:
        """Return a step for a message."""
        return f"step {step} (with {self.network.layers[self.subgraphs[step][0]].name!r})"

    def story(self, tensor: int) -> str:
        """Return where a tensor is made and read, for a message."""
        made, reads = self.made(tensor), self.reads(tensor)
        start = "it is a model input" if made is None else f"step {made} makes it"
        if not reads:
            return f"{start}, no other step reads it"
        listed = ", ".join(map(str, reads[:MOST_SHOWN])) + (", ..." if len(reads) > MOST_SHOWN else "")
        return f"{start}, step{'s' * (len(reads) > 1)} {listed} read{'s' * (len(reads) == 1)} it"


def named_intervals(uses: Uses, spans: Sequence[Span]) -> tuple[KeptInterval, ...]:
    """Return the intervals by first step and tensor; raises PartitionError where one is none, or two share a step."""
    for position, span in enumerate(spans):
        _check_span(uses, position, span)
    by_tensor = sorted(range(len(spans)), key=lambda i: spans[i])
    for one, other in zip(by_tensor, by_tensor[1:]):
        (tensor, _, end), (next_tensor, start, _) = spans[one], spans[other]
        if tensor == next_tensor and start <= end:
            raise PartitionError(
                f"keep {one} and keep {other} both have {_name(uses, tensor)!r} at {uses.shown(start)}; "
                "intervals of one tensor must not share a step: write them as one"
            )
    return tuple(_named(uses, span) for span in sorted(spans, key=lambda span: (span[1], span[0], span[2])))


def _check_span(uses: Uses, position: int, span: Span) -> None:
    if not (isinstance(span, tuple) and len(span) == 3 and all(type(each) is int for each in span)):
        raise PartitionError(f"keep {position} is {shown(span)}; it must be a tensor id, a first and a last step")
    tensor, start, end = span
    tensors, steps = len(uses.network.tensors), len(uses.subgraphs)
    if not 0 <= tensor < tensors:
        raise PartitionError(f"keep {position} has tensor id {tensor}; the network has ids 0 to {tensors - 1}")
    for step in (start, end):
        if not 0 <= step < steps:
            raise PartitionError(f"keep {position} has step {step}; the partition has steps 0 to {steps - 1}")
    what = f"keep {position}: {_name(uses, tensor)!r}"
    reads = uses.reads(tensor)
    if start != uses.made(tensor) and start not in reads:
        raise PartitionError(
            f"{what} cannot be kept from {uses.shown(start)}, which neither makes nor reads it; {uses.story(tensor)}"
        )
    if end not in reads:
        raise PartitionError(
            f"{what} cannot be kept until {uses.shown(end)}, which does not read it from outside; {uses.story(tensor)}"
        )
    if end <= start:
        ends = "ends where it begins" if end == start else "ends before it begins"
        raise PartitionError(
            f"{what} is kept from {uses.shown(start)} until {uses.shown(end)}; an interval that {ends} keeps nothing: "
            "it must end at a later step that reads it"
        )


def _named(uses: Uses, span: Span) -> KeptInterval:
    tensor, start, end = span
    first = tensor if uses.made(tensor) == start else uses.readers(tensor, start)[0]
    name, from_layer, until_layer = uses.network.names((tensor, first, uses.readers(tensor, end)[-1]))
    return KeptInterval(name, from_layer, until_layer, *span)


def _name(uses: Uses, tensor: int) -> str:
    return uses.network.tensors[tensor].name
