"""The search for the plan that runs fastest: from the best starts, changes that look best, simulated one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

from cocco.candidates.stream import Stream
from cocco.latency.draft import Draft, Group
from cocco.latency.moves import Moves
from cocco.latency.seeds import in_chunks
from cocco.latency.timed import Timed
from simulator.accelerator import Accelerator
from simulator.model.cost import METRICS, total
from simulator.model.price import Price
from simulator.model.priced import PricedPartition

STARTS = 3  #: of different subgraphs, from which is searched; our choice
AT_ONCE = 4  #: changes of which the one that looks best is simulated; our choice
SLACK = 500  #: an estimate above that of the plan by less than one part in so many is simulated, too; our choice
REPAIRS = 4  #: tensors that are dropped until a changed plan fits


@dataclass(order=True, frozen=True)
class Found:
    """A simulated plan; of those that take as long the one of less energy is the better."""

    slots: int
    energy_pj: float
    ema_bytes: int
    draft: Draft = field(compare=False)
    estimate: int = field(compare=False)
    number: int = field(compare=False)  #: among the plans that were priced


@dataclass
class Search:
    """A search on given hardware. most: plans to price; bound: slots that no plan undercuts."""

    timed: Timed
    moves: Moves
    most: int
    seed: int
    bound: int
    told: Callable[[], object]  #: called with each better plan
    found: list[Found] = field(default_factory=list)  #: what was best at any time, and all starts
    priced: int = 0

    def start(self, drafts: Iterable[Draft]) -> None:
        """Simulate drafts as given, and with their weights in chunks."""
        for draft in drafts:
            self.priced += 1
            priced = self.price(draft)
            if priced is not None:
                self.found.append(self.simulate(draft, priced))
                chunks = in_chunks(self.timed, priced, draft)
                again = self.price(chunks) if chunks != draft else None
                if again is not None:
                    self.found.append(self.simulate(chunks, again))

    def improve(self, key: Callable[[Found], float] | None = None) -> None:
        """Change the best plans until the budget is spent, or one takes no longer than any plan must.

        key: by which plans are the best to start from; the fastest without.
        """
        best_of: dict[tuple[Group, ...], Found] = {}
        for found in sorted(self.found) if key is None else sorted(self.found, key=key):
            best_of.setdefault(found.draft.groups, found)
        starts = list(best_of.values())[:STARTS]
        for i, best in enumerate(starts):
            self._climb(best, self.priced + (self.most - self.priced) // (len(starts) - i), i)

    def _climb(self, best: Found, until: int, number: int) -> None:
        """Take each change that is better, until so many plans are priced."""
        turn = 0
        while self.priced < until and best.slots > self.bound:
            turn += 1
            stream, drawn = Stream(self.seed, number, turn), list[tuple[int, int, Draft, PricedPartition]]()
            for k in range(AT_ONCE):
                self.priced += 1
                changed = self.moves.draw(best.draft, stream)
                pair = None if changed is None or changed == best.draft else self.fitting(changed)
                if pair is not None:
                    drawn.append((estimate(pair[1]), k, *pair))
            if not drawn:
                continue
            looks, _, draft, priced = min(drawn)
            if looks * SLACK > best.estimate * (SLACK + 1):
                continue
            found = self.simulate(draft, priced)
            if found < best:
                best = found
                self.found.append(found)
                self.told()

    def save(self) -> None:
        """Let steps of the best plan leave less free where that takes no longer and saves energy."""
        best = min(self.found)
        for i in range(len(best.draft.spare)):
            for left in sorted({0, best.draft.spare[i] // 2}):
                spare = best.draft.spare
                if left >= spare[i]:
                    continue
                self.priced += 1
                draft = replace(best.draft, spare=(*spare[:i], left, *spare[i + 1 :]))
                priced = self.price(draft)
                found = None if priced is None else self.simulate(draft, priced)
                if found is not None and found < best:
                    best = found
                    break
        if best not in self.found:
            self.found.append(best)
            self.told()

    def fitting(self, draft: Draft) -> tuple[Draft, PricedPartition] | None:
        """Return a changed draft with its prices, without tensors that leave no room, and with weights in chunks."""
        for _ in range(REPAIRS):
            priced = self.price(draft)
            if priced is not None:
                chunks = in_chunks(self.timed, priced, draft)
                if chunks != draft:
                    draft, priced = chunks, self.timed.priced(chunks)
                return (draft, priced) if priced.fits else None
            draft = self._roomier(draft)
        return None

    def _roomier(self, draft: Draft) -> Draft:
        """Return a draft whose first step that does not fit leaves nothing free, or without its largest kept tensor."""
        priced = self.timed.priced(draft)
        step = next(i for i, price in enumerate(priced.prices) if not isinstance(price, Price))
        group = priced.partition.subgraphs[step]
        i = draft.groups.index(group)
        if draft.spare[i]:
            return replace(draft, spare=(*draft.spare[:i], 0, *draft.spare[i + 1 :]))
        held = priced.steps[step].kept if priced.steps else ()
        sizes = [tensor.size_bytes for tensor in self.timed.network.tensors]
        largest = max(held, key=lambda u: (sizes[u], u), default=-1)
        return replace(draft, stays=frozenset(stay for stay in draft.stays if stay[0] != largest))

    def price(self, draft: Draft) -> PricedPartition | None:
        """Return a draft with its prices, None where it does not fit."""
        priced = self.timed.priced(draft)
        return priced if priced.fits else None

    def simulate(self, draft: Draft, priced: PricedPartition) -> Found:
        """Return a priced draft simulated."""
        totals = total([price for price in priced.prices if isinstance(price, Price)], self.timed.accelerator)
        energy = METRICS["energy"](totals, self.timed.accelerator)
        return Found(self.timed.slots(priced), energy, totals.ema_bytes, draft, estimate(priced), self.priced)


FIRST = 16  #: of the inputs of a step one part in so many comes before it begins; our choice
MOST_PIECES = 64  #: of a step; our choice: more change next to nothing


class Piece(NamedTuple):
    """A step, or the part of a layer between two chunks of its weights. Slots, and bytes of all cores."""

    computing: int
    before: int  #: bytes of weights that are loaded before it begins
    weights: int  #: these, and all others that it needs
    inputs: int
    outputs: int
    free: int  #: room for weights of later pieces


def pieces_of(price: Price, first_weights: int, chip: Accelerator) -> list[Piece]:
    """Return the pieces of a step; first_weights: of the layer that computes first."""
    cores, computing = chip.cores, chip.rate.slots(price.compute_cycles)
    if chip.is_shared:
        free = chip.activation_capacity - price.kept_bytes - price.activation_bytes - price.weight_bytes
    else:
        free = chip.weight_capacity - price.weight_bytes
    weights, inputs, outputs = price.ema_weight_bytes, price.ema_input_bytes, price.ema_output_bytes
    if price.loops is None:
        return [Piece(computing, first_weights, weights, inputs, outputs, free * cores)]
    count = -(-weights // (price.weight_bytes * cores)) if price.weight_bytes else 1
    count = max(1, min(count, MOST_PIECES))
    part = weights // count
    return [Piece(computing // count, part, part, inputs // count, outputs // count, free * cores)] * count


def estimate(priced: PricedPartition) -> int:
    """Return about how many slots a plan takes: loads in order of need, each as soon as there is room for it."""
    weights = priced.rules.geometry.weight_bytes
    pieces = [
        piece
        for model, price in zip(priced.models, priced.prices)
        if isinstance(price, Price)
        for piece in pieces_of(price, weights[model.subgraph.layers[0]], priced.accelerator)
    ]
    needed = list(accumulate(piece.weights for piece in pieces))
    most, least = [0] * len(pieces), needed[-1]
    for i in reversed(range(len(pieces))):
        least = min(least, needed[i] + pieces[i].free)
        most[i] = least
    time = loaded = stored = 0  # the array; bytes of weights that are there; bytes still to be stored
    for piece, whole, room in zip(pieces, needed, most):
        wait = max(0, whole - piece.weights + piece.before - loaded)
        loaded += wait
        moved = whole - loaded + piece.inputs + stored
        spent = max(piece.computing, moved)
        time += wait + piece.inputs // FIRST + spent
        loaded = max(whole, min(room, whole + spent - moved))
        stored = piece.outputs
    return time + stored
