"""Random plans of every kind that runs in its own way: what a replay of their runs is drawn from."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from simulator import Accelerator, Partition
from tests.helpers.judged import random_chip, random_network_of
from tests.helpers.random_attention import random_decoder
from tests.helpers.random_chains import random_plan_with_chain
from tests.helpers.random_cores_plans import random_cores_plan
from tests.helpers.random_epilogue import random_followed
from tests.helpers.random_heads import random_heads
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_language import KINDS, is_dealt, random_language_net
from tests.helpers.random_nests import attention_network, random_nest_plan
from tests.helpers.random_plans import random_plan
from workloads.network.network import Network

Run = tuple[Network, Partition, Accelerator]


def random_run(kind: str, seed: int) -> Run:
    """Return a network, a plan and a chip; some plans leave bytes of their buffer free."""
    network, plan, chip = RUNS[kind](seed)
    rng = random.Random(seed)
    if rng.random() < 0.2:
        plan = replace(plan, spare=tuple(rng.choice((0, rng.randint(1, 2000))) for _ in plan.subgraphs))
    return network, plan, chip


def _graph(seed: int) -> Run:
    network = random_network_of(seed)
    return network, random_kept_plan(network, seed), random_chip(seed)


def _tight_graph(seed: int) -> Run:
    network, rng = random_network_of(seed), random.Random(seed)
    return network, random_kept_plan(network, seed), _chip(rng, seed, (100, 30_000), batch=rng.choice((1, 1, 2, 3, 8)))


def _nest(make: Callable[[random.Random], Network]) -> Callable[[int], Run]:
    def drawn(seed: int) -> Run:
        network, plan, _, chip = random_nest_plan(seed, make)
        return network, plan, chip

    return drawn


def _decoder(seed: int) -> Run:
    rng = random.Random(seed)
    network = random_decoder(rng)
    plan = (random_plan, random_kept_plan)[seed % 2](network, seed)
    return network, plan, Accelerator(shared_buffer=rng.choice((512, 2048, 16384)), batch=rng.choice((1, 1, 3)))


def _language(seed: int) -> Run:
    kind, rng = KINDS[seed % len(KINDS)], random.Random(seed)
    network = random_language_net(seed, kind)
    cores = rng.choice((1, 1, 1, 2, 3)) if kind in ("rows", "bits", "blocks", "experts") else 1
    chip = _chip(
        rng,
        seed,
        (64, 16_384),
        batch=rng.choice((1, 1, 2, 3, 8)),
        cores=cores if is_dealt(network, cores) else 1,
        groups_apart=True if kind == "apart" else rng.choice((None, None, False)),
    )
    return network, (random_plan, random_kept_plan)[seed // 6 % 2](network, seed), chip


def _chip(rng: random.Random, seed: int, sizes: tuple[int, int], **fields: object) -> Accelerator:
    first, second = (int(sizes[0] * (sizes[1] / sizes[0]) ** rng.random()) for _ in range(2))
    if seed % 3:
        return Accelerator(shared_buffer=first, **fields)
    return Accelerator(global_buffer=first, weight_buffer=second, **fields)


RUNS: dict[str, Callable[[int], Run]] = {
    "chains": random_plan_with_chain,
    "epilogues": _nest(random_followed),
    "attentions": _nest(attention_network),
    "heads": _nest(random_heads),
    "decoders": _decoder,
    "language": _language,
    "graphs": _graph,
    "tight graphs": _tight_graph,
    "cores": random_cores_plan,
}
