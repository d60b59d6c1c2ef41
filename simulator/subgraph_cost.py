"""The parts of an evaluation: the cost of a subgraph, why one cannot run, a tensor that stays on chip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple, Protocol

from simulator.accelerator import Accelerator
from simulator.model.cost import EnergyBreakdown, energy_breakdown, latency_cycles, total
from simulator.model.layer.orders import LoopPlan
from simulator.model.price import Price
from simulator.model.pricing import SubgraphModel
from simulator.model.subgraph.regions import Region
from simulator.partition.intervals import KeptInterval
from simulator.units import ENERGY
from workloads.display import span
from workloads.network.network import Network


@dataclass(frozen=True)
class SubgraphCost:
    """One subgraph of a priced partition: what it holds in one core, and what it takes for the whole batch.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, KiB, MiB, Partition, evaluate
    >>> vgg = workloads.load("vgg16")
    >>> chip = Accelerator(global_buffer=1 * MiB, weight_buffer=1152 * KiB)
    >>> first = evaluate(vgg, Partition.from_groups(vgg, [["conv1_1..pool1"]]), chip).subgraphs[0]
    >>> first
    SubgraphCost(conv1_1 .. pool1 (3): tile 14x112, 991,936 B EMA, 0.716 mJ, 2,082,304 cycles)
    >>> first.regions["conv1_1"]
    Region(main=(30, 224), side=(0, 0), main_bytes=430080, side_bytes=0)
    """

    layers: tuple[str, ...]
    tile: tuple[int, int]  #: output rows x columns
    activation_bytes: int  #: held by one core
    weight_bytes: int  #: held by one core
    ema_weight_bytes: int
    ema_input_bytes: int
    ema_output_bytes: int
    ema_bytes: int
    compute_cycles: int
    latency_cycles: float  #: the longest of computing, DRAM and the crossbar
    energy_pj: float
    energy_breakdown: EnergyBreakdown  #: pJ by where it is spent
    at_once: int = 1  #: samples of one core that are on chip together
    loops: LoopPlan | None = None  #: how a single layer runs; None where all regions and weights are held
    regions: Mapping[str, Region] = field(default_factory=dict, compare=False)  #: MAIN and SIDE by tensor
    kept_bytes: int | None = None  #: of one core, of tensors that stay on chip; None in a plan that keeps none
    spare_bytes: int = 0  #: left free for weights of later subgraphs
    scheme: str = ""  #: how several cores share it: channels, rotated, held, alone; of one core none
    crossbar_bytes: int = 0  #: that pass from core to core
    utilization: float = 0.0  #: MACs done over those that the PE arrays of all cores can do in compute_cycles

    def __repr__(self) -> str:
        tile = f"tile {self.tile[0]}x{self.tile[1]}"
        return f"SubgraphCost({span(self.layers)}: {tile}, {costs_text(self)})"

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco evaluate --json` prints for a subgraph."""
        content = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "regions"}
        if self.kept_bytes is None:
            del content["kept_bytes"]
        if not self.spare_bytes:
            del content["spare_bytes"]
        if not self.scheme:
            del content["scheme"], content["crossbar_bytes"]
        loops = None if self.loops is None else self.loops.choices()
        return content | {"energy_breakdown": self.energy_breakdown.parts(), "loops": loops}


@dataclass(frozen=True)
class Infeasible:
    """A subgraph that cannot run: which layers, why, and bytes of one core (None if bytes are not the reason).

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, Partition, evaluate
    >>> vgg = workloads.load("vgg16")
    >>> plan = Partition.from_groups(vgg, [["conv1_1", "conv1_2"]])
    >>> print(evaluate(vgg, plan, Accelerator(shared_buffer=2**14)).infeasible[0])
    subgraph [conv1_1, conv1_2]: no loop order of these layers fits: needs 29248 bytes, has 16384
    """

    layers: tuple[str, ...]
    reason: str
    needed_bytes: int | None
    available_bytes: int | None
    step: int | None = None  #: its place in the order of execution; None in a plan that keeps no tensors on chip

    def __str__(self) -> str:
        shown = ", ".join(self.layers[:4]) + (f", ... ({len(self.layers)} layers)" if len(self.layers) > 4 else "")
        sizes = "" if self.needed_bytes is None else f": needs {self.needed_bytes} bytes, has {self.available_bytes}"
        step = "" if self.step is None else f"step {self.step}, "
        return f"{step}subgraph [{shown}]: {self.reason}{sizes}"

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco evaluate --json` prints of it."""
        return {key: value for key, value in asdict(self).items() if key != "step" or value is not None}


class KeptTensor(NamedTuple):
    """A kept interval of a plan, and what it takes.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition, evaluate
    >>> vgg = workloads.load("vgg16")
    >>> plan = Partition.from_groups(vgg, [["conv1_1..pool1"], ["conv2_1..pool2"]], keep=["pool1"])
    >>> found = evaluate(vgg, plan, Accelerator(shared_buffer=2 * MiB))
    >>> found.keep[0].to_json()
    {'tensor': 'pool1', 'from': 'pool1', 'until': 'conv2_1', 'bytes': 802816}
    >>> found.kept_saved_bytes == 2 * 802816  # neither stored nor loaded
    True
    """

    interval: KeptInterval
    size_bytes: int  #: of one core, in every step of the interval

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco evaluate --json` prints of it."""
        return self.interval.to_json() | {"bytes": self.size_bytes}


class Costs(Protocol):
    """Anything with EMA, energy and latency: a subgraph or a whole partition."""

    @property
    def ema_bytes(self) -> float: ...

    @property
    def energy_pj(self) -> float: ...

    @property
    def latency_cycles(self) -> float: ...


def costs_text(priced: Costs) -> str:
    """Return EMA, energy and latency on one line."""
    return f"{priced.ema_bytes:,} B EMA, {ENERGY.text(priced.energy_pj)}, {priced.latency_cycles:,.0f} cycles"


def clipped(tile: tuple[int, int], network: Network, layers: Iterable[str]) -> tuple[int, int]:
    """Return a tile of the subgraph of these layers as it runs: no larger than the largest map that none of them reads.

    Examples
    --------
    >>> import workloads
    >>> clipped((64, 64), workloads.load("vgg16"), ["conv5_3", "pool5"])
    (7, 7)
    """
    own = {network.index[name] for name in layers}
    last = [network.layers[v] for v in own if not own & set(network.consumers[v])]
    return min(tile[0], max(each.height for each in last)), min(tile[1], max(each.width for each in last))


def subgraph_cost(
    names: tuple[str, ...], model: SubgraphModel, price: Price, accelerator: Accelerator, keeps: bool, spare: int = 0
) -> SubgraphCost:
    """Return the cost of a priced subgraph; keeps: whether the plan keeps tensors on chip; spare: bytes left free."""
    totals = total([price], accelerator)
    breakdown = energy_breakdown(totals, accelerator)
    tensors, layers = model.rules.geometry.network.tensors, model.rules.geometry.network.layers
    return SubgraphCost(
        names, price.tile, price.activation_bytes, price.weight_bytes,
        price.ema_weight_bytes, price.ema_input_bytes, price.ema_output_bytes, price.ema_bytes,
        price.compute_cycles, latency_cycles(totals, accelerator), breakdown.total, breakdown,
        price.at_once, price.loops,
        {
            tensors[u].name: region
            for u, region in model.residency(price).regions.items()
            if u not in model.subgraph.on_chip or region.main_bytes or region.side_bytes  # sums or a state of one kept
        },
        price.kept_bytes if keeps else None,
        spare, price.scheme, price.crossbar_bytes,
        accelerator.utilization(sum(layers[v].macs for v in model.subgraph.layers), price.compute_cycles),
    )  # fmt: skip
