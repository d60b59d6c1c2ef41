"""Which kinds of subgraphs are in the plans that are recommended: the share of each kind, network by network.

    python -m benchmarks.plan_kinds [--memory 512KB] [--metric ema|energy] [--networks NAME ...]

Each network is partitioned with the default options. The table of docs/networks.md.
"""

from __future__ import annotations

import argparse
from collections import Counter

import cocco
import workloads
from simulator.accelerator import Accelerator
from simulator.model.nests.recognize import KINDS
from simulator.partition.partition import Partition
from simulator.sizes import parse_size
from simulator.subgraph_cost import SubgraphCost
from workloads.network.network import Network

NETWORKS = (
    "vgg16", "resnet50", "resnet152", "googlenet", "transformer", "gpt", "densenet121", "resnext50", "vit_b16",
    "transformer_10_20", "encoder_stack", "fcn", "l_raspp", "deeplabv3", "gpt2", "bert_base", "whisper_tiny",
    "llama3_8b", "qwen2_5_7b", "gemma2_9b",
)  # fmt: skip
#: our choice: one layer of those whose layers are alike
LAYERS = {name: 1 for name in ("llama3_8b", "qwen2_5_7b", "gemma2_9b")}
KEYS = ("one layer, held or in a loop order", "several layers, held", *KINDS)


def kinds_in(network: Network) -> dict[tuple[int, ...], str]:
    """Return the kind of each nest of a network, by its layers."""
    return {nest.layers: name for name, found in KINDS.items() for nest in found(network)}


def shares(network: Network, plan: Partition, subgraphs: tuple[SubgraphCost, ...]) -> Counter[str]:
    """Return how many layers of a plan run in each kind of subgraph."""
    nests, found = kinds_in(network), Counter[str]()
    for layers, cost in zip(plan.subgraphs, subgraphs):
        kind = KEYS[0] if len(layers) == 1 else KEYS[1] if cost.loops is None else nests[tuple(sorted(layers))]
        found[kind] += len(layers)
    return found


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memory", type=parse_size, default="512KB", help="of one shared buffer")
    parser.add_argument("--metric", choices=("ema", "energy"), default="ema")
    parser.add_argument("--networks", nargs="+", default=NETWORKS, metavar="NAME")
    options = parser.parse_args()
    chip, every = Accelerator(shared_buffer=options.memory), Counter[str]()
    print(f"| network | layers | {' | '.join(KEYS)} | MB | over the paper's plans |")
    print("|---|--:|" + "--:|" * (len(KEYS) + 2))
    for name in options.networks:
        network = workloads.load(name, layers=LAYERS[name]) if name in LAYERS else workloads.load(name)
        found = cocco.partition(network, chip, metric=options.metric, samples=2_000)
        paper = cocco.partition(
            network, Accelerator(shared_buffer=options.memory, plans="paper"), metric=options.metric, samples=2_000
        )
        counts = shares(network, found.plan, found.evaluation.subgraphs)
        every += counts
        cells = [f"{100 * counts[key] / len(network.layers):.0f} %" if counts[key] else "" for key in KEYS]
        mark = "*" if found.status == "optimal" else ""
        moved = f"{found.evaluation.ema_bytes / 1e6:.2f}{mark}"
        less = f"{100 * (found.cost / paper.cost - 1):+.1f} %"
        print(f"| {name} | {len(network.layers)} | {' | '.join(cells)} | {moved} | {less} |", flush=True)
    total = sum(every.values())
    cells = [f"{100 * every[key] / total:.1f} %" for key in KEYS]
    print(f"| all | {total} | {' | '.join(cells)} | | |")


if __name__ == "__main__":
    main()
