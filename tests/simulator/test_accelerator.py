"""How a batch and the columns of a map are dealt to cores (docs/model.md, section 7)."""

from __future__ import annotations

import pytest

from simulator import Accelerator, Partition, evaluate
from tests.helpers.graphs import chain


@pytest.mark.parametrize(
    ("cores", "batch", "samples", "bands"),
    [(1, 1, 1, 1), (4, 1, 1, 4), (3, 2, 1, 1), (5, 2, 1, 2), (8, 3, 1, 2), (2, 3, 2, 1), (4, 4, 1, 1)],
)
def test_cores_left_over_share_no_sample(cores, batch, samples, bands):
    """o = min(cores, batch) cores take ceil(batch / o) samples each; floor(cores / o) share a sample by columns."""
    machine = Accelerator(shared_buffer=1024, cores=cores, batch=batch)
    assert (machine.samples_per_core, machine.bands) == (samples, bands)


def test_three_cores_with_two_samples_hold_whole_maps():
    """The third core is no band: the activations of the chain are those of one core with one sample."""
    plan = Partition.from_ids(chain(), [range(3)])
    one, three = (
        evaluate(chain(), plan, Accelerator(global_buffer=9216, weight_buffer=4096, cores=cores, batch=batch))
        for cores, batch in ((1, 1), (3, 2))
    )
    assert one.subgraphs[0].activation_bytes == three.subgraphs[0].activation_bytes == 9216
