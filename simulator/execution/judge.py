"""The judge: counts every subgraph of a priced partition and compares all that is printed about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.accelerator import Accelerator
from simulator.execution.claims import count_of, plan_of, subgraph_claims, total_claims
from simulator.execution.count.checks import (
    EXTRA,
    WRITTEN,
    Check,
    add,
    check_memory,
    compare,
    idle_of,
    numbers,
    slots_of,
    through_ports,
)
from simulator.execution.count.count import Count, Plan, Setting, kept_bytes
from simulator.execution.count.layer_facts import with_experts
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.stays import Lies, run_steps
from simulator.execution.layer import LayerPlan, place_in
from simulator.execution.orders import run_plan
from simulator.model.price import Price
from simulator.partition.partition import Partition
from workloads.network.network import Network

ROOMY = ("TP", "KP", "BC", "CT", "RS")  #: loop orders whose regions may be larger than what they hold at any time


@dataclass(frozen=True)
class Counted:
    """One subgraph: what was counted, and what went wrong."""

    count: Count = Count()
    miss: str = ""


def count_plan(network: Network, accelerator: Accelerator, plan: Plan) -> Counted:
    """Return the count of one subgraph; no cycles and buffer traffic where a mapper considers every update."""
    network = with_experts(network, accelerator.batch)
    part = Part(network, plan.layers, plan.lies)
    try:
        kept = _kept_bytes(network, accelerator, plan)
        setting = Setting(accelerator, accelerator.activation_capacity - kept, accelerator.weight_capacity)
        count = through_ports(run_plan(setting, part, plan)._replace(kept_bytes=kept), accelerator)
    except Miss as miss:
        return Counted(miss=str(miss))
    if not accelerator.mapper.is_flat:
        mapped = ("global_buffer_bytes", "weight_buffer_bytes", *WRITTEN, "compute_cycles")
        count = count._replace(**dict.fromkeys(mapped))
    return Counted(count)


def count_steps(
    network: Network, accelerator: Accelerator, partition: Partition, prices: Sequence[Price]
) -> list[tuple[Plan, Counted]]:
    """Return the choices of each step and its count; raises Miss if a step does not find what it reads."""
    network = with_experts(network, accelerator.batch)
    lies = run_steps(network, partition.subgraphs, [each.span for each in partition.keep])
    plans = [plan_of(*each) for each in zip(partition.subgraphs, prices, lies)]
    return [(plan, count_plan(network, accelerator, plan)) for plan in plans]


def pair_of(network: Network, accelerator: Accelerator, plan: Plan) -> tuple[int, int] | None:
    """Return an operand and the results that lie in its place, both kept, when a plan has run; None: none do."""
    if plan.loops is None or accelerator.cores > 1:
        return None
    return place_in(network, plan.layers, LayerPlan(*plan.loops), plan.lies)


def _kept_bytes(network: Network, accelerator: Accelerator, plan: Plan) -> int:
    """Return the bytes of all that is kept meanwhile."""
    pair = pair_of(network, accelerator, plan)
    kept = plan.lies.kept - {*(pair or ())[:1]}
    return kept_bytes(network, Lies(kept=kept), accelerator.technology.channel_alignment, accelerator)


def judge(
    network: Network, accelerator: Accelerator, partition: Partition, prices: Sequence[Price]
) -> tuple[tuple[Check, ...], str]:
    """Return a check of every number of a priced partition, and the first wrong one in words ("" if none is)."""
    try:
        return judge_steps(accelerator, partition, prices, count_steps(network, accelerator, partition, prices))
    except Miss as miss:
        return (), str(miss)


def judge_steps(
    accelerator: Accelerator, partition: Partition, prices: Sequence[Price], steps: Sequence[tuple[Plan, Counted]]
) -> tuple[tuple[Check, ...], str]:
    """Return the same of steps that have been counted."""
    checks = check(accelerator, prices, [found for _, found in steps])
    for names, (plan, found) in zip(partition.names, steps):
        if found.miss:
            return checks, f"{where(names)}, tile {plan.tile[0]}x{plan.tile[1]}: {found.miss}"
    return checks, first_wrong(partition, checks)


def first_wrong(partition: Partition, checks: Sequence[Check]) -> str:
    """Return the first number that differs, in words ("" if none does); a subgraph tells more than the total."""
    wrong = [one for one in checks if one.status == "different"]
    if not wrong:
        return ""
    first = min(wrong, key=lambda one: one.subgraph is None)
    names = () if first.subgraph is None else partition.names[first.subgraph]
    claimed, counted = ("nothing" if each is None else f"{each:,}" for each in (first.claimed, first.counted))
    return f"{where(names)}: {first.name} is {claimed}, counted {counted}"


def where(names: Sequence[str]) -> str:
    """Return how messages name a subgraph; the whole partition if there are no names."""
    if not names:
        return "in total"
    return f"subgraph [{', '.join(names[:4])}{', ...' if len(names) > 4 else ''}]"


def check(accelerator: Accelerator, prices: Sequence[Price], found: Sequence[Counted]) -> tuple[Check, ...]:
    """Return a check for each number of the partition, then of each subgraph in execution order."""
    accepted = [_accepted(price, each) for price, each in zip(prices, found)]
    counts = [each.count for each in found]
    slots = [slots_of(count, accelerator) for count in counts]
    idle = [idle_of(count, accelerator) for count in counts]
    together = _sum(*slots), _sum(*idle)
    counted, allowed = (numbers(add(each), accelerator, *together) for each in (counts, accepted))
    checks = list(compare(total_claims(prices, accelerator), counted, allowed))
    checks += _memories(accelerator, counts)
    keeps = any(price.kept_bytes or each.count.kept_bytes for price, each in zip(prices, found))
    for i, (price, each) in enumerate(zip(prices, found)):
        claims = subgraph_claims(price, accelerator)
        counted, allowed = (numbers(one, accelerator, slots[i], idle[i]) for one in (each.count, accepted[i]))
        if keeps:
            claims["kept_bytes"] = price.kept_bytes
        checks += compare(claims, counted, allowed, i)
    says_more = accelerator.has_tables or any(each.name in WRITTEN and each.status == "different" for each in checks)
    has_extra = any(each.name == EXTRA and (each.claimed or each.counted) for each in checks)
    unsaid = {*(() if says_more else WRITTEN), *(() if has_extra else (EXTRA,))}
    return tuple(each for each in checks if each.name not in unsaid)


def _accepted(price: Price, found: Counted) -> Count:
    """Return the numbers that a price may claim: those counted.

    For some loop orders a price says how much room their regions are given, of which they may use less.
    """
    claimed, accepted = count_of(price), found.count
    if price.loops is None or price.loops.order not in ROOMY:
        return accepted
    for name in ("activation_bytes", "weight_bytes"):
        counted = getattr(found.count, name)
        if counted is not None and counted <= getattr(claimed, name):
            accepted = accepted._replace(**{name: getattr(claimed, name)})
    return accepted


def _memories(accelerator: Accelerator, counts: Sequence[Count]) -> list[Check]:
    """Return the checks that each memory has room for what was counted."""
    weights = [count.weight_bytes for count in counts]
    activations = [_sum(count.activation_bytes, count.kept_bytes or 0) for count in counts]
    if accelerator.is_shared:
        together = [_sum(*pair) for pair in zip(activations, weights)]
        return [check_memory("shared", accelerator.activation_capacity, together)]
    return [
        check_memory("global", accelerator.activation_capacity, activations),
        check_memory("weight", accelerator.weight_capacity, weights),
    ]


def _sum(*counts: int | None) -> int | None:
    return None if None in counts else sum(each for each in counts if each is not None)
