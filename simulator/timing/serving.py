"""A step of a language model in the words of those whom it serves: when the first token comes, and how many follow.

A language model is recognized by its caches: model inputs of that kind, or rows that are appended to one. A step is a
prompt if it has no cache yet, or if its last layer reads one position of several; otherwise it makes tokens (several at
once: speculation; then tokens are those computed, whether they are accepted or not).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from simulator.accelerator import Accelerator
from simulator.timing.link import chips_of, link_bytes
from workloads.network.layers.ops import PRODUCT_OPS
from workloads.network.network import Network

Bound = Literal["compute", "capacity", "bandwidth", "link"]


@dataclass(frozen=True)
class Serving:
    """What a step means to its users; seconds as executed, of the whole batch.

    Of several chips, joules and bytes are those of all, and seconds those of each, for all run alike. What crosses the
    link between them is added to what they take: nothing is computed meanwhile (our choice), and messages have no
    latency of their own.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition, evaluate
    >>> step = workloads.load("gpt2", phase="decode", past=1023)
    >>> found = evaluate(step, Partition.layerwise(step), Accelerator(shared_buffer=MiB)).serving
    >>> found.bound, found.positions, found.cache_bytes, round(found.tokens_per_s)
    ('bandwidth', 1024, 18874368, 111)
    """

    is_prompt: bool
    new_tokens: int  #: of each sequence
    sequences: int
    seconds: float
    joules: float
    cache_bytes: int  #: of all sequences, at the end of the step; states among them
    positions: int  #: of the longest cache of a sequence; 0 where it has a state only
    compute_seconds: float
    dram_seconds: float
    least_dram_seconds: float  #: if weights, inputs and outputs crossed once
    times: int | None = None  #: how often the layers of the step make up the whole model, where they are a part of it
    chips: int = 1
    weight_bytes: int = 0  #: that lie in memory, those of experts that are not in use among them
    dram_bytes: int = 0  #: that cross between DRAM and chip
    link_bytes: int = 0  #: that leave one chip for others, and as many enter it
    link_seconds: float = 0.0
    interval_seconds: float | None = None  #: between two steps of a pipeline of chips with as many of them under way

    @property
    def tokens_per_s(self) -> float:
        """Tokens of all sequences in a second."""
        return self.sequences * self.new_tokens / self.seconds

    @property
    def joules_per_token(self) -> float:
        """Energy of one token."""
        return self.joules / (self.sequences * self.new_tokens)

    @property
    def bound(self) -> Bound:
        """What takes longest: computing, link or DRAM; with room for everything on chip DRAM might not (capacity)."""
        if self.link_seconds > max(self.compute_seconds, self.dram_seconds):
            return "link"
        if self.compute_seconds >= self.dram_seconds:
            return "compute"
        return "capacity" if self.least_dram_seconds < self.compute_seconds else "bandwidth"

    @property
    def whole(self) -> Serving:
        """The same for all layers of the model, without its norm and head; itself where nothing is left out."""
        return self.scaled(self.times or 1)

    def scaled(self, times: int) -> Serving:
        """Return the same for so many times the layers, one after the other."""
        return replace(self, times=None, **{name: times * getattr(self, name) for name in GROWING})

    @staticmethod
    def in_turn(chunks: Sequence[Serving]) -> Serving:
        """Return the same for a prompt in chunks, one after the other, in one memory."""
        last, summed = chunks[-1], {name: sum(getattr(each, name) for each in chunks) for name in GROWING}
        kept = {name: max(getattr(each, name) for each in chunks) for name in ("cache_bytes", "weight_bytes")}
        return replace(last, new_tokens=sum(each.new_tokens for each in chunks), **summed | kept)

    @staticmethod
    def in_pipeline(stages: Sequence[Serving]) -> Serving:
        """Return the same for chips that each have some of the layers: a step passes through all of them.

        With as many steps under way as there are chips, those of different sequences, one ends whenever the slowest
        stage does.
        """
        summed = {name: sum(getattr(each, name) for each in stages) for name in GROWING}
        sent, slowest = (max(getattr(each, name) for each in stages) for name in ("link_bytes", "seconds"))
        return replace(stages[-1], chips=len(stages), interval_seconds=slowest, **summed | {"link_bytes": sent})

    def to_json(self) -> dict[str, Any]:
        """Return plain data, with the figures of the whole model where the step is a part of it."""
        found = asdict(self) | {
            "tokens_per_s": self.tokens_per_s, "joules_per_token": self.joules_per_token, "bound": self.bound,
        }  # fmt: skip
        return found | ({} if self.times is None else {"whole_model": self.whole.to_json()})


#: what grows with the number of layers
GROWING = (
    "seconds", "joules", "cache_bytes", "compute_seconds", "dram_seconds", "least_dram_seconds", "weight_bytes",
    "dram_bytes", "link_bytes", "link_seconds",
)  # fmt: skip


def serving_of(
    network: Network, chip: Accelerator, cycles: float, compute_cycles: float, ema_bytes: float, least_bytes: int,
    energy_pj: float,
) -> Serving | None:  # fmt: skip
    """Return what a step of a language model means to its users; None for any other network."""
    caches = [i for i, tensor in enumerate(network.tensors) if tensor.kind == "cache"]
    appended = [i for i, layer in enumerate(network.layers) if layer.appended]
    rows = next((tensor for tensor in network.inputs if tensor.kind != "cache"), None)
    if rows is None or not (caches or appended):
        return None
    told = {note.how: int(note.op) for note in network.notes if note.how in ("part", "sequences", "chunk", "prefix")}
    sequences = told.get("sequences", 1)
    new = rows.height * rows.width // sequences
    read_by = [{network.layers[v].op for v in readers} for readers in network.consumers]
    made = {i for i in appended if network.layers[i].op == "fc"}
    grown = [i for i in (*caches, *made) if PRODUCT_OPS & read_by[i]]
    before = told.get("prefix", max((network.tensors[i].height for i in grown if i in caches), default=0))
    held = sum(network.tensors[i].size_bytes for i in caches if "add" not in read_by[i])  # a state is replaced
    second, dram = 1e-9 / chip.technology.clock_ghz, chip.dram_bytes_per_cycle
    chips, crossing = chips_of(network), chip.batch * link_bytes(network)
    link = crossing / chip.technology.link_gb_per_s * 1e-9
    static_mw = chip.leakage_mw + chip.logic_mw + chip.technology.dram_background_mw
    joules = energy_pj * 1e-12 + crossing * chip.technology.link_pj_per_byte * 1e-12 + static_mw * 1e-3 * link
    weights = sum(-(-layer.parameters * layer.bits.weights // 8) for layer in network.layers)
    return Serving(
        not caches or "chunk" in told or (new > 1 and network.layers[-1].height == 1),
        new,
        chip.batch * sequences,
        cycles * second + link,
        chips * joules,
        chips * chip.batch * (held + sum(network.layers[i].size_bytes for i in appended)),
        before + new if grown else 0,
        compute_cycles * second,
        ema_bytes / dram * second,
        least_bytes / dram * second,
        told.get("part"),
        chips,
        chips * weights,
        chips * int(ema_bytes),
        crossing,
        link,
    )
