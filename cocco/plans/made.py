"""Plans that code makes for a network and its hardware: layer by layer, or by a heuristic of the user's own."""

from __future__ import annotations

from simulator.accelerator import Accelerator
from simulator.partition.errors import PartitionError
from simulator.partition.partition import Partition
from workloads.errors import one_line
from workloads.network.network import Network
from workloads.others import PLANS, is_python, of_packages, of_python

LAYERWISE = "layerwise"


def is_made(word: str) -> bool:
    """Whether a word that may be a plan names what makes one; otherwise it is a path."""
    return word == LAYERWISE or is_python(word) or (word.isidentifier() and of_packages(PLANS, word) is not None)


def made_plan(word: str, network: Network, accelerator: Accelerator | None) -> Partition:
    """Return the plan that "layerwise", heuristic.py:make_plan, or an entry point "cocco.plans" makes.

    The function takes the network and the accelerator (None where none is in question), and returns a Partition or the
    groups of one. Raises PartitionError, one line that names the word, where it makes none.
    """
    if word == LAYERWISE:
        return Partition.layerwise(network)
    if is_python(word):
        found = of_python(word, network, accelerator, error=PartitionError)
    else:
        found = of_packages(PLANS, word)(network, accelerator)
    try:
        return found if isinstance(found, Partition) else Partition.from_groups(network, found)
    except (TypeError, PartitionError) as error:
        raise PartitionError(f"{word}: {one_line(error)}") from None
