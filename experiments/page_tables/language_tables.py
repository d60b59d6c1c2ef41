"""The tables of docs/language-models.md: counts, needs of attention, and experiments/reference/language_*.csv.

`python -m experiments.language_tables` prints them; a test keeps the page equal to them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import pandas

import cocco
import workloads
from experiments.page_tables.tables import markdown, reference
from simulator import Accelerator, KiB, MiB, Partition, Technology, evaluate
from simulator.execution import verify
from simulator.model.layer.least_room import least_room
from simulator.model.pricing import PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from workloads.network.builder import Builder
from workloads.network.decoding import SelfAttention
from workloads.zoo.encoders import ENCODERS
from workloads.zoo.language import DECODERS

LENGTHS = (512, 1024, 2048, 4096, 8192)  #: of attention
ATTENTION = ("gpt2", "llama3_8b")
#: bytes across DRAM that accelforge 1.0.467 answers, by KB of one buffer: 12 heads of 64 channels, LENGTH tokens, only
#: energy of DRAM, one byte for each number and sum, softmax element-wise
ACCELFORGE = {
    4: 303_562_752, 16: 103_809_024, 64: 28_311_552, 128: 15_728_640, 256: 9_437_184, 512: 6_291_456,
}  # fmt: skip
#: Llama 3 8B: GB/s, MB of buffer and PE array (64 lanes in a PE, two for 16 bits, at 1 GHz: its TFLOPS) of three
#: machines by their makers' data, bits of weights, and the tokens per second measured there with llama.cpp in May 2024,
#: in decode and in a prompt, 1,024 tokens (GPU-Benchmarks-on-LLM-Inference of XiongjieDai: 8B F16, and Q4_K_M, whose
#: 4.58 GiB are 5 bits for a weight)
MEASURED = {
    "LPDDR4X (M1, 7 cores)": (68.25, 8, (4, 9), 5, 9.72, 87.26),
    "LPDDR5 (M2 Ultra, 76 cores)": (800, 48, (17, 25), "fp16", 36.25, 1202.74),
    "GDDR6X (RTX 4090)": (1008, 72, (40, 64), "fp16", 54.34, 9056.26),
}
MEASURED_LENGTH = 1024
IN_MEMORIES = (2, 8, 32)  #: MB of one buffer: of a chip with 100 GB/s and 16,384 MACs, 8-bit numbers
LENGTH, KILOBYTES = 2048, (16, 64, 256, 512, 1024, 2048, 4096, 8192)  #: of attention alone: tokens, one buffer


def parameters() -> str:
    """Return the parameters of every model beside those that its page counts."""
    rows = []
    for name, model in (DECODERS | ENCODERS).items():
        network = workloads.load(name)
        found = sum(layer.parameters for layer in network.layers) + model.not_loaded
        rows.append([f"`{name}`", model.source, str(model.layers), f"{found:,}", f"{model.published:,}"])
        rows[-1].append(f"{100 * (found / model.published - 1):+.2f} %")
    return markdown(["model", "configuration", "layers", "parameters", "published", "ours"], rows)


def attention_needs() -> str:
    """Return what scores, softmax and context take at least: all heads at once, one after the other, in blocks."""
    rows = []
    for name in ATTENTION:
        for length in LENGTHS:
            needs = [*(attention_need(name, length, apart) for apart in (False, True)), need_in_blocks(name, length)]
            rows.append([f"`{name}`", f"{length:,}", *(f"{need:,}" for need in needs), f"{needs[0] / needs[1]:.1f}"])
    heads = ["model", "tokens", "all heads at once, B", "head by head, B", "in blocks, B", "together / by head"]
    return markdown(heads, rows)


def attention_need(name: str, length: int, groups_apart: bool) -> int:
    """Return the bytes of activations that the fused attention of one layer takes at least."""
    network = workloads.load(name, length=length, layers=1)
    chip = Accelerator(shared_buffer=MiB, groups_apart=groups_apart, plans="paper")
    layers = [network.index[f"l1_{part}"] for part in ("scores", "softmax", "context")]
    return SubgraphModel(PricingRules(Geometry(network), chip, "exact"), layers).least_activation


def need_in_blocks(name: str, length: int) -> int:
    """Return the bytes that an attention in blocks takes at least."""
    network = workloads.load(name, length=length, layers=1, attention="blocks")
    rules = PricingRules(Geometry(network), Accelerator(shared_buffer=MiB), "exact")
    return least_room(rules.loop_layer(network.index["l1_attention"]), True).activation


def attention_traffic(sizes: Iterable[int] = KILOBYTES) -> str:
    """Return the least traffic of one attention over the capacity: all heads at once, one by one, in blocks."""
    rows = []
    for name in ATTENTION:
        for size in sizes:
            found = [
                least_traffic(name, size, *way) for way in ((False, "layers"), (True, "layers"), (False, "blocks"))
            ]
            rows.append([f"`{name}`", f"{size:,} KB", *(f"{each / 1e6:,.1f}" for each in found)])
    return markdown(["model", "one buffer", "all heads at once, MB", "head by head, MB", "in blocks, MB"], rows)


def beside_accelforge(sizes: Iterable[int] = tuple(ACCELFORGE)) -> str:
    """Return the same for the attention of one model beside what accelforge answers, in MB."""
    rows = []
    for size in sizes:
        ours = [
            least_traffic("gpt2", size, *way) for way in ((True, "layers"), (False, "blocks"), (False, "blocks", 8))
        ]
        rows.append([f"{size:,} KB", *(f"{each / 1e6:,.1f}" for each in (ACCELFORGE[size], *ours))])
    heads = ["one buffer", "accelforge", "three layers, head by head", "in blocks", "in blocks, sums of one byte"]
    return markdown(heads, rows)


def beside_measured() -> str:
    """Return tokens per second and the time to the first token of Llama 3 8B beside what was measured elsewhere."""
    rows = []
    for machine, (rate, buffer, (pe_rows, pe_columns), weights, decode, prompt) in MEASURED.items():
        technology = Technology(dram_channels=1, channel_gb_per_s=rate, pe_rows=pe_rows, pe_columns=pe_columns)
        chip = Accelerator(shared_buffer=buffer * MiB, technology=technology)
        bits = {"weights": weights, "activations": "fp16", "cache": "fp16"}
        step = workloads.load("llama3_8b", phase="decode", past=MEASURED_LENGTH).retyped(bits)
        first = workloads.load("llama3_8b", length=MEASURED_LENGTH, layers=1).retyped(bits)
        token = evaluate(step, Partition.layerwise(step), chip).serving
        layer = cocco.partition(first, chip, metric="latency-sum").evaluation.serving
        assert token is not None and layer is not None, "they are language models"
        seconds = layer.whole.seconds
        rows.append([
            machine, f"{rate:,g}", f"{pe_rows * pe_columns * 64 / 1000:,.1f}", f"{weights}",
            f"{token.tokens_per_s:.1f} ({token.bound})", f"{decode:.1f}", f"{decode / token.tokens_per_s:.2f}",
            f"{1000 * seconds:,.0f} ({layer.bound})", f"{1000 * MEASURED_LENGTH / prompt:,.0f}",
            f"{seconds * prompt / MEASURED_LENGTH:.2f}",
        ])  # fmt: skip
    heads = [
        "memory", "GB/s", "TFLOPS", "weights", "tokens/s", "measured", "of it", "first token, ms", "measured", "of it",
    ]  # fmt: skip
    return markdown(heads, rows)


def in_memories() -> str:
    """Return the time to the first token and tokens per second of Llama 3 8B in three memories, and their bounds."""
    technology, rows = Technology(dram_channels=1, channel_gb_per_s=100, pe_rows=16, pe_columns=16), []
    for size in IN_MEMORIES:
        row = [f"{size} MB"]
        for options in ({"length": 2048}, {"phase": "decode", "past": 4096}):
            step = workloads.load("llama3_8b", layers=1, **options)
            found = cocco.partition(step, Accelerator(shared_buffer=size * MiB, technology=technology),
                                    metric="latency-sum").evaluation  # fmt: skip
            assert found.serving is not None, "it is a language model"
            whole = found.serving.whole
            least = max(whole.compute_seconds, whole.least_dram_seconds)
            speeds = whole.seconds, least
            said = [f"{each:.2f} s" for each in speeds] if whole.is_prompt else [f"{1 / each:.2f}" for each in speeds]
            row += [f"{found.ema_bytes / 1e6:,.0f}", f"{said[0]} ({whole.bound})", said[1]]
        rows.append(row)
    heads = [
        "one buffer", "prompt: MB of a layer", "first token of 2,048", "at least",
        "decode: MB of a layer", "tokens/s at 4,096", "at most",
    ]  # fmt: skip
    return markdown(heads, rows)


def least_traffic(name: str, kilobytes: int, groups_apart: bool, attention: str, sum_bits: int = 32) -> int:
    """Return the least bytes across DRAM of the attention of one layer, LENGTH tokens: proved, executed."""
    model = DECODERS[name].decoder.layers[0].mixer
    assert isinstance(model, SelfAttention), "built-in models have no other"
    b = Builder(f"{name}_attention")
    query, keys, values = (
        b.input(part, LENGTH, 1, count * model.head_width)
        for part, count in (("q", model.heads), ("k", model.key_heads), ("v", model.key_heads))
    )
    if attention == "blocks":
        b.attention("attention", query, keys, values, model.heads, model.key_heads)
    else:
        scores = b.matmul("scores", query, keys, model.heads, transpose=True, operand_heads=model.key_heads)
        b.matmul("context", b.softmax("softmax", scores), values, model.heads, operand_heads=model.key_heads)
    network, chip = (
        b.build().retyped({"sums": sum_bits}),
        Accelerator(shared_buffer=kilobytes * KiB, groups_apart=groups_apart, plans="paper"),
    )
    found = cocco.partition(network, chip, metric="ema", samples=200)
    assert found.status == "optimal" and verify(network, found.plan, chip).verified, (name, kilobytes, attention)
    return int(found.evaluation.ema_bytes)


def plans() -> str:
    """Return what a layer of each model moves by hand and at least, and how the executed plan's numbers compare."""
    rows = []
    for _, row in reference("language_plans").iterrows():
        proof = "*" if row["status"] == "optimal" else ""
        hand = (row[f"{what}_bytes"] for what in ("weights", "past", "new", "in_out"))
        rows.append([
            f"`{row['network']}`", row["phase"], " + ".join(f"{size:,}" for size in hand), f"{row['hand_bytes']:,}",
            f"{row['ema_bytes']:,}{proof}", f"{row['ema_bytes'] / row['hand_bytes']:.3f}",
            f"{row['equal']} / {row['within']} / {row['different']}",
        ])  # fmt: skip
    heads = [
        "model", "phase", "weights + past + new rows + in and out", "by hand, B", "least, B", "times",
        "equal / within / different",
    ]  # fmt: skip
    return markdown(heads, rows)


def prefill_energy() -> str:
    """Return the energy of a token of prefill over length and capacity: all heads at once -> head by head, 8 bits."""
    table = reference("language_models")
    return _energy(table[(table["phase"] == "prefill") & (table["weight_bits"] == 8)], ["length"])


def decode_energy() -> str:
    """Return the energy of a token of decode over past, batch and capacity, heads apart: 8 bits -> 4."""
    table = reference("language_models")
    return _energy(table[(table["phase"] == "decode") & table["groups_apart"]], ["batch", "past"])


def _energy(table: pandas.DataFrame, steps: list[str]) -> str:
    second = "weight_bits" if len(steps) > 1 else "groups_apart"
    order = sorted(table[second].unique(), reverse=len(steps) > 1)
    sizes = sorted(table["kilobytes"].unique())
    rows = []
    for step, part in table.groupby(steps):
        row = [f"{value:,}" for value in step]
        for size in sizes:
            found = part[part["kilobytes"] == size].set_index(second)
            cells = [found.loc[way, "energy_pj"] / found.loc[way, "tokens"] / 1e9 for way in order]
            row.append(" -> ".join(f"{cell:.3f}" for cell in cells))
        rows.append(row)
    return markdown([*steps, *(f"{size:,} KB" for size in sizes)], rows)


TABLES = (
    parameters,
    plans,
    attention_needs,
    attention_traffic,
    beside_accelforge,
    beside_measured,
    in_memories,
    prefill_energy,
    decode_energy,
)
EXECUTED = (attention_traffic, beside_accelforge)  #: whose plans are executed, a minute each


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(table() for table in TABLES) + "\n")
