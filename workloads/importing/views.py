"""How the dimensions of an array lie on a map of rows x columns x channels.

A dimension is a tuple of atoms, outer to inner; an atom counts `extent` steps of `stride` along one axis of the map.
Reshaping and transposing an array only regroup its atoms, so they move no data: [1, C, H, W] flattened and transposed
to [1, H W, C] has the atoms (rows, columns) in one dimension and channels in the other. The order of channels never
matters to the model, which keeps all channels of a position together; the order of positions does where a window
slides. A map that is rolled along its rows is the same map, counted from another row on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd, prod
from typing import NamedTuple

ROWS, COLUMNS, CHANNELS = 0, 1, 2
REPEATS = 3  #: no axis of the map: steps along it are the same element, which is stored once


class Atom(NamedTuple):
    """`extent` steps of `stride` along an axis of the map."""

    axis: int
    stride: int
    extent: int
    turn: tuple[int, ...] = ()  #: (stride, extent, first): of steps that are rolled, of which this is all or a part


Dim = tuple[Atom, ...]
Dims = tuple[Dim, ...]


def full(axis: int, extent: int) -> Dim:
    """Return the dimension that runs along a whole axis; nothing where the extent is 1."""
    return (Atom(axis, 1, extent),) if extent > 1 else ()


def normal(atoms: Iterable[Atom]) -> Dim:
    """Return the atoms with neighbours joined that count on from each other."""
    found: list[Atom] = []
    for atom in atoms:
        if atom.extent == 1:
            continue
        if found and found[-1][::3] == atom[::3] and found[-1].stride == atom.stride * atom.extent:
            found[-1] = atom._replace(extent=found[-1].extent * atom.extent)
        else:
            found.append(atom)
    return tuple(found)


def reshape(dims: Dims, shape: Sequence[int]) -> Dims | None:
    """Return the dimensions of the array in another shape, None where they do not regroup."""
    rest = [atom for dim in dims for atom in dim][::-1]
    found = []
    for extent in shape:
        taken: list[Atom] = []
        while extent > 1:
            if not rest:
                return None
            atom = rest.pop()
            part = gcd(atom.extent, extent)
            if part == 1 or (part < atom.extent and part < extent):
                return None
            if part < atom.extent:
                inner = atom.extent // part
                rest.append(atom._replace(extent=inner))
                atom = atom._replace(stride=atom.stride * inner, extent=part)
            taken.append(atom)
            extent //= part
        found.append(normal(taken))
    return tuple(found) if not rest else None


def extent_of(dim: Iterable[Atom]) -> int:
    """Return how many elements a dimension has."""
    return prod(atom.extent for atom in dim)


def positions(dim: Dim) -> Dim:
    """Return the atoms that run along rows or columns."""
    return tuple(atom for atom in dim if atom.axis in (ROWS, COLUMNS))


def turned(dim: Dim, steps: int) -> Dim | None:
    """Return a dimension that is rolled by some steps; None unless it is one atom, whole as it was rolled before."""
    if len(dim) != 1 or (dim[0].turn and dim[0].turn[:2] != dim[0][1:3]):
        return None
    first = (sum(dim[0].turn[2:]) - steps) % dim[0].extent
    return (dim[0]._replace(turn=(*dim[0][1:3], first) if first else ()),)


def unturned(dim: Dim) -> Dim:
    """Return the dimension from its first place on: where the order of positions is free."""
    return normal(atom._replace(turn=()) for atom in dim)


def is_channels(dim: Dim) -> bool:
    """Return whether a dimension runs along channels only, or has extent 1."""
    return all(atom.axis == CHANNELS for atom in dim)


def repeats_in(dims: Iterable[Dim]) -> bool:
    """Return whether elements are repeated along some dimension."""
    return any(atom.axis == REPEATS for dim in dims for atom in dim)


def without_repeats(dims: Iterable[Dim]) -> Dims:
    """Return the dimensions of what is stored."""
    return tuple(tuple(atom for atom in dim if atom.axis != REPEATS) for dim in dims)


def channels_in(dims: Iterable[Dim]) -> int:
    """Return the product of the channel atoms of some dimensions."""
    return prod(atom.extent for dim in dims for atom in dim if atom.axis == CHANNELS)


def numbered(dims: Dims) -> Dims:
    """Return the dimensions with their channels renumbered in order; positions stay."""
    stride = channels_in(dims)
    found = []
    for dim in dims:
        atoms = []
        for atom in dim:
            if atom.axis == CHANNELS:
                stride //= atom.extent
                atom = Atom(CHANNELS, stride, atom.extent)
            atoms.append(atom)
        found.append(normal(atoms))
    return tuple(found)


def laid_out(shape: Sequence[int], rows: Sequence[int], columns: Sequence[int]) -> tuple[Dims, tuple[int, int, int]]:
    """Return fresh dimensions of an array, these along rows and columns and the others along channels; and the map."""
    extents = [prod(shape[i] for i in axis) for axis in (rows, columns)]
    rest = [i for i in range(len(shape)) if i not in (*rows, *columns)]
    extents.append(prod(shape[i] for i in rest))
    dims: list[Dim] = [()] * len(shape)
    for axis, members in ((ROWS, rows), (COLUMNS, columns), (CHANNELS, rest)):
        stride = extents[axis]
        for i in members:
            stride //= shape[i]
            dims[i] = normal([Atom(axis, stride, shape[i])])
    return tuple(dims), (extents[ROWS], extents[COLUMNS], extents[CHANNELS])
