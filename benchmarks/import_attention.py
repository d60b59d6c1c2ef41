"""One layer of models that come from PyTorch, with attention in layers and in blocks: needs, and the least traffic.

    python -m benchmarks.import_attention [FOLDER]

prints the table of docs/language-models.md: needs of one attention with all heads at once, head by head and in blocks;
the least bytes across DRAM of the whole layer in one buffer, each proved and executed. Needs the extra `models`. With a
FOLDER of networks that `benchmarks.import_models --networks` wrote: how many of their attentions can run in blocks.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocco
import workloads
from experiments.page_tables.tables import markdown
from simulator import Accelerator, KiB, MiB
from simulator.execution import verify
from simulator.model.layer.least_room import least_room
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from workloads.network.network import Network
from workloads.network.rewriting.in_blocks import LEFT, MADE

KILOBYTES = (64, 512)  #: one buffer
GPT2_TOKENS, BERT_TOKENS, PIXELS = 1024, 512, 224


def modules() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield one layer of each model by its default configuration, with random weights, and its usual arguments."""
    import torch
    import transformers as models

    tokens = {"input_ids": torch.zeros(1, GPT2_TOKENS, dtype=torch.long)}
    yield "GPT-2", models.GPT2Model(models.GPT2Config(n_layer=1, use_cache=False)), tokens
    tokens = {"input_ids": torch.zeros(1, BERT_TOKENS, dtype=torch.long)}
    yield "BERT", models.BertModel(models.BertConfig(num_hidden_layers=1)), tokens
    image = {"pixel_values": torch.zeros(1, 3, PIXELS, PIXELS)}
    yield "ViT-B/16", models.ViTModel(models.ViTConfig(num_hidden_layers=1)), image


def row(name: str, network: Network) -> list[str]:
    """Return the name, three needs of the attention, and three bytes for each buffer."""
    blocks = workloads.attention_in_blocks(network)
    assert (blocks.macs, blocks.weight_bytes) == (network.macs, network.weight_bytes)
    ways = ((network, False), (network, True), (blocks, False))
    found = [name, ", ".join(f"{need(*way):,}" for way in ways)]
    return [*found, *(", ".join(f"{least(*way, size) / 1e6:,.1f}" for way in ways) for size in KILOBYTES)]


def need(network: Network, groups_apart: bool) -> int:
    """Return the bytes of activations that the first attention takes at least."""
    rules = PricingRules(
        Geometry(network), Accelerator(shared_buffer=MiB, groups_apart=groups_apart, plans="paper"), "exact"
    )
    for v, layer in enumerate(network.layers):
        if layer.op == "attention":
            return least_room(rules.loop_layer(v), True).activation
    softmax = next(v for v, layer in enumerate(network.layers) if layer.op == "softmax")
    fused = [*network.producers[softmax], softmax, *network.consumers[softmax]]
    return SubgraphModel(rules, fused).least_activation


def least(network: Network, groups_apart: bool, kilobytes: int) -> int:
    """Return the least bytes across DRAM: proved, and executed."""
    chip = Accelerator(shared_buffer=kilobytes * KiB, groups_apart=groups_apart, plans="paper")
    found = cocco.partition(network, chip, metric="ema", samples=300)
    assert found.status == "optimal" and verify(network, found.plan, chip).verified, network
    return int(found.evaluation.ema_bytes)


def counted(folder: Path) -> str:
    """Return how many attentions of the networks in a folder are in blocks, and how many are not for which reason."""
    found: Counter[str] = Counter()
    for path in sorted(folder.glob("*.json")):
        notes = workloads.load(path, attention="blocks").notes
        found.update("" if note.how == MADE else note.op for note in notes if note.how in (MADE, LEFT))
    made = found.pop("", 0)
    return "; ".join([f"{made} in blocks", *(f"{count} in layers: {why}" for why, count in found.most_common())])


def main() -> None:
    """Print the table, or the counts."""
    if len(sys.argv) > 1:
        print(counted(Path(sys.argv[1])))
        return
    rows = [
        row(name, workloads.from_torch(module.eval(), given, "one", masks="none")) for name, module, given in modules()
    ]
    sizes = [f"{size} KB: layers, by head, blocks" for size in KILOBYTES]
    print(markdown(["model", "need of the attention: all heads at once, by head, in blocks, B", *sizes], rows))


if __name__ == "__main__":
    main()
