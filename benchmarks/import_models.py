"""Read real modules as a user calls them: layers, MACs and weights against torch's own counter.

    python -m benchmarks.import_models [NAME ...] [--out FILE] [--table] [--plans]

NAME is part of an architecture's name; all of them take about half an hour. --out adds one JSON object per architecture
to a file; --table prints the rows of docs/importing.md from such a file and reads nothing. --plans also searches a
partition at 2 MB, executes it, and gives off-chip bytes over the floor.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from typing import Any

import workloads
from benchmarks.architectures.cases import Case, every

PLAN_BYTES = 2 * 2**20
PLAN_SAMPLES = 1000  #: our choice: enough for the founders, which say whether the floor is near


def answer_of(case: Case, plans: bool = False) -> dict[str, Any]:
    """Return what became of one architecture, as plain data."""
    started = time.perf_counter()
    found: dict[str, Any] = {"library": case.library, "name": case.name}
    try:
        module, arguments = case.make()
    except Exception as error:  # a library of another version
        return found | {"status": "not made", "why": f"{type(error).__name__}: {error}"[:300]}
    module.eval()
    found["made_seconds"] = round(time.perf_counter() - started, 2)
    started = time.perf_counter()
    try:
        network = workloads.from_torch(module, arguments, case.name)
    except workloads.NetworkError as error:
        return found | {"status": "refused", "why": str(error)[:400], "seconds": _since(started)}
    except Exception as error:
        return found | {"status": "crashed", "why": f"{type(error).__name__}: {error}"[:400]}
    found |= {"status": "loaded", "seconds": _since(started), "layers": len(network.layers), "macs": network.macs}
    found |= {"weights": network.weight_bytes, "rearranges": sum(layer.op == "rearrange" for layer in network.layers)}
    found |= {"dense": dense_parameters(module), "counted": counted_macs(module, arguments)}
    return found | (_plan(network) if plans else {})


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 2)


def dense_parameters(module: Any) -> int:
    """Return the elements of the module's parameters of two dimensions and more, each once, without embeddings."""
    import torch

    tables = {
        id(each.weight) for each in module.modules() if isinstance(each, (torch.nn.Embedding, torch.nn.EmbeddingBag))
    }
    tied = {
        id(each.weight) for each in module.modules() if isinstance(each, torch.nn.Linear) and id(each.weight) in tables
    }
    parameters = {id(each): each for each in module.parameters() if id(each) not in tables - tied}
    return sum(each.numel() for each in parameters.values() if each.ndim > 1)


def counted_macs(module: Any, arguments: Any) -> int | None:
    """Return the MACs that torch's own counter gives one call, None where it cannot run."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    fast = torch.backends.mha.get_fastpath_enabled()
    try:  # without operators that stand for whole attentions or layers: it does not count all of them
        torch.backends.mha.set_fastpath_enabled(False)
        with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            module(**arguments) if isinstance(arguments, dict) else module(*arguments)
    except Exception:
        return None
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
    return counter.get_total_flops() // 2


def _plan(network: workloads.Network) -> dict[str, Any]:
    """Off-chip bytes of the partition found at 2 MB, over the least; and whether execution agrees."""
    import cocco
    from simulator import Accelerator
    from simulator.execution import verify

    try:
        found = cocco.partition(network, Accelerator(shared_buffer=PLAN_BYTES), samples=PLAN_SAMPLES)
    except ValueError as error:
        return {"plan": str(error)[:200]}
    ends = {layer.name for layer in network.layers} - {name for layer in network.layers for name in layer.inputs}
    floor = network.weight_bytes + sum(tensor.size_bytes for tensor in network.inputs)
    floor += sum(layer.size_bytes for layer in network.layers if layer.name in ends)
    checked = verify(network, found.partition, Accelerator(shared_buffer=PLAN_BYTES))
    return {"plan": "verified" if checked.agrees else "differs", "over_floor": found.evaluation.ema_bytes / floor}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows of docs/importing.md."""
    lines = ["| architecture | layers | MACs (million) | torch's counter | weights (million) | parameters |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for row in rows:
        if row["status"] == "loaded":
            counted = "not counted" if row["counted"] is None else f"{row['counted'] / 1e6:,.1f}"
            lines.append(
                f"| {row['name']} | {row['layers']:,} | {row['macs'] / 1e6:,.1f} | {counted} | "
                f"{row['weights'] / 1e6:,.3f} | {row['dense'] / 1e6:,.3f} |"
            )
        else:
            lines.append(f"| {row['name']} | {row['status']}: {row['why'][:120]} | | | | |")
    return "\n".join(lines)


def main() -> None:
    """Read the architectures that the words name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*")
    parser.add_argument("--out", metavar="FILE")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--plans", action="store_true")
    options = parser.parse_args()
    if options.table:
        with open(options.out, encoding="utf-8") as file:
            latest = {row["name"]: row for row in map(json.loads, file)}
        print(table([latest[name] for name in every() if name in latest]))
        return
    for name, case in every().items():
        if options.names and not any(word in name for word in options.names):
            continue
        answer = answer_of(case, options.plans)
        line = json.dumps(answer)
        print(line, flush=True)
        if options.out:
            with open(options.out, "a", encoding="utf-8") as file:
                file.write(line + "\n")
        gc.collect()


if __name__ == "__main__":
    main()
