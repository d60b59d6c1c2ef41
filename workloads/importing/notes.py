"""What a reader assumed, in notes: what became of nodes that are no layers, of weights, of inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from workloads.network.layer import Note

#: how a note says it: what that means
HOW = {
    "folded": "hidden in the layers around it",
    "passed": "not understood: it hands its input on",
    "read": "constant or given by the caller: a model input, its bytes are read",
    "shared": "weights of several layers: counted for each, stored once",
    "not loaded": "weights that no layer reads: constants are made of them, or nothing needs them",
    "cache": "rows of earlier steps: a model input of the products that need them; new rows are appended in DRAM",
    "recurrent": "steps in order: all of them are one layer for each gate",
    "experts": "rows are spread evenly over experts, of which as many are loaded as there are rows to use them",
    "chosen": "rows of it are chosen by an input: they are a model input, the table is not loaded",
    "batch": "read as a batch of 1",
    "extent": "a symbolic extent that was given, or a batch of 1",
    "types": "the types of the file; bytes are counted at one byte an element",
    "advice": "what may be meant instead",
}


def weight_notes(stored: Mapping[str, int], uses: Mapping[str, frozenset[str]], spared: Iterable[str]) -> list[Note]:
    """Return notes on stored matrices: those of several layers, and those of none.

    stored: elements of each matrix; uses: matrices that each layer reads; spared: those that are accounted for
    otherwise (rows of them are chosen, or they are a model input).
    """
    counted = Counter(name for names in uses.values() for name in names)
    found = []
    for name, size in stored.items():
        if counted[name] > 1:
            found.append(Note(name, f"{counted[name]} layers", "shared", size * (counted[name] - 1)))
    spared = set(spared)
    found += [
        Note(name, "weights", "not loaded", size)
        for name, size in stored.items()
        if not counted[name] and name not in spared
    ]
    return found
