"""What a reader assumed, in notes: what became of nodes that are no layers, of weights, of inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from workloads.network.layers.layer import Note

#: how a note says it: what that means
HOW = {
    "folded": "hidden in the layers around it",
    "passed": "not understood: it hands its input on",
    "read": "constant or given by the caller: a model input, its bytes are read",
    "shared": "weights of several layers: stored once, counted for each; loaded once in a subgraph",
    "not loaded": "weights that no layer reads: constants are made of them, or nothing needs them",
    "cache": "rows of earlier steps: a model input of the products that need them; new rows are appended in DRAM",
    "recurrent": "steps in order: all of them are one product and one recurrent layer",
    "scan": "a loop over rows: one layer, whose state stays on chip from row to row and is not written",
    "counted": "what the network has, of what torch's own counter and the file or module have",
    "not counted": "multiplications that torch counts, and that no layer has",
    "masked": "an attention computes the scores that this mask, made of positions, leaves",
    "not compared": "with torch's own counter, and why",
    "experts": "rows take an expert each, routed uniformly; as many are loaded as all of the batch are expected to use",
    "chosen": "rows of it are chosen by an input: they are a model input, the table is not loaded",
    "bags": "sums of rows that an input chooses: bags of even extents, for offsets are numbers of an input",
    "batch": "read as a batch of 1",
    "extent": "a symbolic extent that was given, or a batch of 1",
    "types": "the types of the file; 16 bits are priced as such if all have them, else one byte an element",
    "in blocks": "an attention in one layer, which passes by keys and values in blocks (rewriting/in_blocks.py)",
    "in layers": "an attention that stays as it is where others are in blocks, and why",
    "sequences": "so many of them, of unequal lengths, one below the other: weights are loaded once for all",
    "prefix": "rows of the longest of several sequences, whose first ones are one cache: it is read once for all",
    "chunk": "rows of a prompt, after so many of it that are in the cache",
    "part": "the first layers of a language model, which has them so often; its norm and head are left out",
    "chips": "so many of them, each with a share of heads and columns: this network is the share of one",
    "stage": "of a pipeline of chips, each with layers that follow each other: this network is one of them",
    "send": "goes to the chip with the layers behind it",
    "all-reduce": "what they read, but the last operand of a sum, is a partial sum, which all chips add up",
    "all-gather": "each chip has so many columns of it, and gets those of the others",
    "advice": "what may be meant instead",
}


def weight_notes(
    stored: Mapping[str, int],
    uses: Mapping[str, tuple[int, frozenset[str]]],
    chosen: Collection[str],
    read: Mapping[str, int],
) -> list[Note]:
    """Return notes on stored matrices: those of several layers, those of none, and tables.

    stored: elements of each matrix; uses: of each layer its weights and the matrices that they are made of; chosen:
    tables whose rows an input chooses; read: elements of matrices that are model inputs. A table that is weights of a
    layer, too, is loaded. Layers that take different parts of a matrix do not share it.
    """
    counted = Counter(name for _, names in uses.values() for name in names)
    loaded: Counter[str] = Counter()
    for size, names in uses.values():
        for name in names:
            loaded[name] += min(size, stored[name])
    found = [Note(name, "table", "chosen", 0 if counted[name] else stored[name]) for name in chosen]
    for name, size in stored.items():
        if loaded[name] > size:
            found.append(Note(name, f"{counted[name]} layers", "shared", loaded[name] - size))
    for name, size in stored.items():
        left = size - read.get(name, 0)
        if not counted[name] and name not in chosen and left > 0:
            found.append(Note(name, "rows" if name in read else "weights", "not loaded", left))
    return found
