"""The least bytes that any schedule moves to and from DRAM: no space of plans (docs/bounds.md, "Any schedule").

Weights, model inputs and outputs cross once. Beyond that, what a stretch of time can multiply is bounded by the numbers
that it sees: those that lie on chip when it begins and those that come on chip in it (Hong and Kung, 1981; Irony,
Toledo and Tiskin, 2004; with the constant of Smith, Lowery, Langou and van de Geijn, 2019). Everything may be computed
again, any layers may run together in any order, and any number may leave and come back at any time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from cocco.bounds.floors.products import Product, Products, products_of
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.model.compulsory import compulsory_bytes
from simulator.model.subgraph.subgraph import Geometry
from workloads.network.network import Network

STRETCHES = (2.0, 1.0, 0.5, 0.25, 0.125)  #: of the memory: what comes on chip in a stretch of time; any are valid
STEPS = 16 * (0.5,) + 16 * (0.8,)  #: of sizes, our choice: more change the bound by little
OVER = 16  #: bytes: a stretch ends with a number that may be more than its rest, and one may be half made: 32 bits each
SAFE = 1 - 1e-9  #: for the rounding of floats


def any_schedule_bound_bytes(network: Network, accelerator: Accelerator) -> int:
    """Return bytes that every schedule moves at least, on all cores, for the batch (docs/bounds.md).

    Raises NetworkError where the network has no price.

    Examples
    --------
    A product of 512 x 512 x 512 in 64 KB: 3 x 512 x 512 once, and 2 x 512^3 / 256 - 3 x 512 x 512 - 2 x 64 KB more.

    >>> import workloads
    >>> from simulator import Accelerator, KiB
    >>> b = workloads.Builder("product")
    >>> _ = b.fc("y", b.input("x", 512, 1, 512), 512)
    >>> [any_schedule_bound_bytes(b.build(), Accelerator(shared_buffer=size * KiB)) for size in (64, 1024)]
    [917389, 786432]
    """
    network = network.in_batch(accelerator.batch)
    products = products_of(network, accelerator.batch)
    memory = accelerator.cores * accelerator.buffer_bytes
    beyond = [_beyond(products, memory, stretch * memory) * SAFE for stretch in STRETCHES if products.layers]
    return compulsory_bytes(Geometry(network, accelerator.technology), accelerator.batch) + int(max([0.0, *beyond]))


def any_schedule_json(evaluation: Evaluation) -> dict[str, int | None]:
    """Return the bound of what was evaluated as JSON has it; null where it does not fit."""
    assert evaluation.source is not None, "evaluate() made it"
    bound = any_schedule_bound_bytes(evaluation.source[0], evaluation.accelerator) if evaluation.fits else None
    return {"any_schedule_bound_bytes": bound}


def _beyond(products: Products, memory: int, stretch: float) -> float:
    """Return bytes that move beyond once, at least; below 0 where this proves nothing."""
    shares = (1 - 1 / (1 + products.most_inputs)) / 2  # Motzkin and Straus, 1965
    third = (memory + stretch + OVER) / 3
    most = 2 * math.sqrt(shares) * third * math.sqrt(third)  # products of a stretch, by bytes^(3/2)
    best, sizes = -math.inf, _Sizes(products, stretch / most)
    for step in STEPS:
        best = max(best, sizes.worth())
        sizes.improve(step)
    return max(best, sizes.worth()) - stretch


class _Sizes:
    """The size at which a class of each family is counted: its bytes or less. The bound holds for all such sizes.

    A result that may be made again counts no more than the products of its sum are worth (`_most`): so making it again
    does not pay.
    """

    def __init__(self, products: Products, rate: float) -> None:
        self.families, self.layers, self.rate = products.families, products.layers, rate
        self.chosen = [family.bytes for family in products.families]
        self.sizes = list(self.chosen)
        self._cap()

    def worth(self) -> float:
        """Return what all products are worth at these sizes, less each class once."""
        gained = sum([sum([self._gain(each) for each in layer]) for layer in self.layers])
        return gained - sum([size * family.count for size, family in zip(self.sizes, self.families)])

    def improve(self, step: float) -> None:
        """Multiply with this step, or divide by it, each size of which less, or more, is worth more."""
        slopes = [-size * family.count for size, family in zip(self.sizes, self.families)]  # by the logarithm of a size
        for layer in reversed(self.layers):
            result, gains = layer[0].results, [self._gain(each) / 2 for each in layer]
            slopes[result] += sum(gains)
            is_capped = self.sizes[result] < self.chosen[result]
            passed = slopes[result] / (sum(gains) or 1) if is_capped else 0.0  # the size follows those of what it reads
            for product, gain in zip(layer, gains):
                slopes[product.inputs] += gain + passed * gain
                slopes[product.weights] += gain + passed * gain
        for i, (size, slope) in enumerate(zip(self.sizes, slopes)):
            if slope < 0:
                self.chosen[i] = size * step
            elif size == self.chosen[i]:
                self.chosen[i] = min(self.families[i].bytes, size / step)
        self.sizes = list(self.chosen)
        self._cap()

    def _cap(self) -> None:
        for layer in self.layers:
            result = layer[0].results
            if self.families[result].is_remade:
                self.sizes[result] = min(self.sizes[result], self._most(layer))

    def _most(self, layer: Sequence[Product]) -> float:
        """Return the most that a result may count."""
        roots = [
            self.rate * each.least * math.sqrt(self.sizes[each.inputs] * self.sizes[each.weights] / each.reuse)
            for each in layer
        ]
        return sum(roots) ** 2

    def _gain(self, product: Product) -> float:
        sizes = self.sizes[product.inputs] * self.sizes[product.weights] * self.sizes[product.results]
        return self.rate * product.total * math.sqrt(sizes / product.reuse)
