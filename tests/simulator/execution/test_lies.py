"""The table of lies: a number of a layer that the price takes is one more or less, and --verify names it.

Every operator there is, by every number of a layer or tensor that a price begins with. The lie is told where the price
reads it: in the property of a layer, or in what a geometry keeps of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product

import pytest

from simulator import Accelerator, Partition
from simulator.execution import Verification, verify
from simulator.model.subgraph.subgraph import Geometry
from workloads import Bits, Builder, Experts, Layer, Mask, Network, NetworkError
from workloads.network.layers.ops import OPS

OF_LAYER = ("weight_bytes", "weight_elements", "macs", "light_ops", "taps", "size_bytes", "output_bits")
OF_GEOMETRY = (
    "weight_bytes", "operations", "operation_extra", "row_bytes", "size_bytes", "state_bytes", "carried_bytes"
)  # fmt: skip
FIELDS = (*OF_LAYER, "number", "experts", *(f"geometry.{name}" for name in OF_GEOMETRY))


def _image(make: Callable[[Builder, str], object]) -> Network:
    b = Builder("one")
    make(b, b.input("x", 9, 8, 16))
    b.add("after", ["it", "it"])
    return b.build()


def _rows(make: Callable[[Builder, str], object]) -> Network:
    b = Builder("one")
    make(b, b.input("x", 6, 1, 16))
    b.add("after", ["it", "it"])
    return b.build()


def _attention(b: Builder, x: str) -> None:
    cache, new = b.input("cache", 5, 1, 8, kind="cache"), b.input("new", 1, 1, 8)
    b.matmul("it", x, [cache, new], 4, transpose=True, operand_heads=2)


def _masked(b: Builder, x: str) -> None:
    b.attention("it", x, b.input("k", 8, 1, 16), b.input("v", 8, 1, 16), heads=2, mask=Mask(behind=3))


CASES: dict[str, Network] = {
    "conv": _image(lambda b, x: b.conv("it", x, 24, 3, 2, 1)),
    "conv of groups": _image(lambda b, x: b.conv("it", x, 24, 3, padding=1, groups=2)),
    "conv of 4 bits": _image(lambda b, x: b.conv("it", x, 24, 3)).with_bits(Bits(weights=4, activations=16)),
    "conv, depth-wise": _image(lambda b, x: b.depthwise("it", x, 3, padding=1)),
    "conv_transpose": _image(lambda b, x: b.conv_transpose("it", x, 8, 2, 2)),
    "fc": _image(lambda b, x: b.fc("it", x, 40)),
    "fc of experts": _rows(lambda b, x: b.fc("it", x, 2 * 16, experts=Experts(16, 2))),
    "recurrent": _rows(lambda b, x: b.recurrent("it", x, 8)),
    "scan": _rows(lambda b, x: b.scan("it", [x, x, b.input("b", 6, 1, 4), b.input("c", 6, 1, 4)], 4)),
    "fc, appended": _rows(lambda b, x: b.fc("it", x, 16, appended=True)),
    "maxpool": _image(lambda b, x: b.maxpool("it", x, 3, 2)),
    "avgpool": _image(lambda b, x: b.avgpool("it", x, 2, 2)),
    "resize": _image(lambda b, x: b.resize("it", x, 18, 16)),
    "slice": _image(lambda b, x: b.slice("it", x, 8)),
    "concat": _image(lambda b, x: b.append(Layer("it", "concat", (x, x), 9, 8, 32, 32))),
    "rearrange": _image(lambda b, x: b.rearrange("it", x, 8, 9, 16)),
    "add": _image(lambda b, x: b.add("it", [x, b.input("y", 9, 8, 16)])),
    "mul": _image(lambda b, x: b.mul("it", [x, b.input("y", 1, 1, 16)])),
    "lrn": _image(lambda b, x: b.lrn("it", x)),
    "softmax": _rows(lambda b, x: b.softmax("it", x)),
    "layernorm": _rows(lambda b, x: b.layernorm("it", x)),
    "matmul": _rows(lambda b, x: b.matmul("it", x, b.input("y", 5, 1, 16), 2, transpose=True)),
    "matmul of a cache": _rows(_attention),
    "matmul with a mask": _rows(lambda b, x: b.matmul("it", x, b.input("y", 6, 1, 16), 2, True, mask=Mask())),
    "softmax with a mask": _rows(lambda b, x: b.softmax("it", x, Mask(behind=2), 2)),
    "attention with a mask": _rows(_masked),
    "attention": _rows(lambda b, x: b.attention("it", x, b.input("k", 5, 1, 16), b.input("v", 5, 1, 16), heads=2)),
}


@contextmanager
def lie(field: str, more: int) -> Iterator[None]:
    """Tell of the layer `it` so much more, wherever a price asks for this number."""
    with pytest.MonkeyPatch.context() as patch:
        if field == "experts":
            honest = Experts.in_use
            patch.setattr(Experts, "in_use", lambda self, tokens: honest(self, tokens) + more)
        elif field == "number":
            output = Layer.output.fget
            patch.setattr(Layer, "output", property(lambda self: _wider(output(self), more * (self.name == "it"))))
        elif field in OF_LAYER:
            true = getattr(Layer, field).fget
            patch.setattr(Layer, field, property(lambda self: true(self) + more * (self.name == "it")))
        else:
            begin, name = Geometry.__init__, field.removeprefix("geometry.")

            def made(self: Geometry, *given: object) -> None:
                begin(self, *given)
                getattr(self, name)[self.network.index["it"]] += more

            patch.setattr(Geometry, "__init__", made)
        yield


def _wider(tensor, more):
    return replace(tensor, bits=tensor.bits + more)


CHIP = Accelerator(shared_buffer=2**20, batch=2)


def runs_of(case: str) -> list[list[list[str]]]:
    """Return each layer alone, in a loop order of its own, and both together, in the regions of a subgraph."""
    return [[["it"], ["after"]], [["it", "after"]]][: 1 if case.startswith("attention") else 2]


def told(case: str, field: str, more: int, groups: list[list[str]]) -> Verification:
    """Return what verify says of a lie."""
    with lie(field, more):
        network = replace(CASES[case])  # what is derived of it is derived again
        return verify(network, Partition.from_groups(network, groups), CHIP)


def claims(found: Verification) -> dict[tuple[str, int | None], float | None]:
    """Return the numbers of a price that are counted at all."""
    return {(each.name, each.subgraph): each.claimed for each in found.checks if each.status != "not executed"}


def fields_of(case: str) -> list[str]:
    return [field for field in FIELDS if field != "experts" or CASES[case].layers[0].experts]


def test_every_operator_has_its_row():
    assert {network.layers[0].op for network in CASES.values()} == OPS


@pytest.mark.parametrize("case", CASES)
def test_a_number_of_a_layer_that_is_one_off_is_named_and_if_a_price_takes_it_counted(case):
    changed = 0
    for groups in runs_of(case):
        honest = verify(CASES[case], Partition.from_groups(CASES[case], groups), CHIP)
        assert honest.verified
        for field, more in product(fields_of(case), (1, -1)):
            if (case, field) == ("conv of 4 bits", "weight_elements"):
                with pytest.raises(NetworkError, match="345[57] numbers of 4 bits do not fill whole bytes"):
                    told(case, field, more, groups)
                continue
            found = told(case, field, more, groups)
            who, _, what = found.message.partition(": ")
            assert not found.verified and who in (f"layer 'it' ({CASES[case].layers[0].op})", "tensor 'it'")
            assert what.startswith(f"{field.removeprefix('geometry.')} is "), (field, more, found.message)
            if not claims(found).items() <= claims(honest).items():  # what is printed beside sums is not looked at
                assert any(each.status == "different" for each in found.checks), (field, more)
                changed += 1
    assert changed >= 12, "most of them change a price"
