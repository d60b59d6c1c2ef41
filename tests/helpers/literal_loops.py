"""Runs the loops of one layer literally; the answer has every count and the output."""

from __future__ import annotations

import numpy as np

from tests.helpers.literal_apart import run_apart, run_copy, run_joined, run_sums
from tests.helpers.literal_chip import LOST, Chip
from tests.helpers.literal_dense import run_convolution, run_product
from tests.helpers.literal_problem import Problem


def run(network, plan, batch, seed=0):
    """Return the chip and the output of a plan, and the output computed directly."""
    problem, chip = Problem(network, batch, seed), Chip(plan)
    layer = problem.layer
    output = np.full((batch, layer.channels, layer.height, layer.width), LOST)
    if layer.op == "matmul":
        for sample in range(batch):
            run_product(problem, chip, plan, sample, output)
    elif layer.op == "rearrange":
        run_copy(problem, chip, output)
    elif layer.op in ("add", "mul", "softmax", "layernorm", "lrn"):
        for sample in range(batch):
            run_joined(problem, chip, plan, sample, output)
    elif plan.order == "RS":
        run_sums(problem, chip, output)
    elif layer.is_depthwise:
        run_apart(problem, chip, plan, output)
    else:
        run_convolution(problem, chip, plan, output)
    for u, tensor in dict(zip(problem.ids, problem.tensors)).items():
        left = int((~problem.seen[u]).sum()) * tensor.channels * batch
        if layer.op not in ("matmul", "rearrange") and problem.ids.index(u) not in layer.whole:
            chip.read_input(left)  # what nobody reads passes by once
    assert chip.activations.used == chip.weights.used == 0
    return chip, output, problem.direct()
