"""Read real modules as a user calls them: layers, MACs and weights against torch's own counter; a plan of each.

    python -m benchmarks.import_models [NAME ...] [--again] [--out FILE] [--networks FOLDER]
    python -m benchmarks.import_models --plans [NAME ...] [--again] [--out FILE] [--networks FOLDER] [--samples 300]
    python -m benchmarks.import_models --page [--out FILE]

NAME is part of an architecture's name; all of them take about half an hour. FOLDER gets the networks as layer-graph/1
files. --plans reads those, and no module: it searches a partition of each at 2 MB (nothing kept between subgraphs),
executes it, and gives off-chip bytes over the least. FILE has one JSON object per architecture, sorted; those that it
has are left out unless --again, so that a run goes on where it was stopped. --page writes the table of
docs/importing.md from it.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import workloads
from benchmarks.architectures.cases import Case, every
from benchmarks.architectures.tables import HERE, PAGE, Row, on_page, read_rows

REFERENCE = HERE / "reference.jsonl"
PLAN_BYTES = 2 * 2**20
PLAN_SAMPLES = 300  #: our choice: enough for the founders, which say whether the least is near


def answer_of(case: Case, networks: Path | None = None) -> Row:
    """Return what became of one architecture, as plain data; networks: a folder that its network is written to."""
    started = time.process_time()
    found: Row = {"library": case.library, "name": case.name}
    try:
        module, arguments = case.make()
    except Exception as error:  # a library of another version
        return found | {"status": "not made", "why": f"{type(error).__name__}: {error}"[:300]}
    module.eval()
    found["made_seconds"] = _since(started)
    started = time.process_time()
    try:
        network = workloads.from_torch(module, arguments, case.name, masks="none")
    except workloads.NetworkError as error:
        return found | {"status": "refused", "why": str(error)[:400], "seconds": _since(started)}
    except Exception as error:
        return found | {"status": "crashed", "why": f"{type(error).__name__}: {error}"[:400]}
    found |= {"status": "loaded", "seconds": _since(started), "layers": len(network.layers), "macs": network.macs}
    found |= {"weights": network.weight_bytes, "rearranges": sum(layer.op == "rearrange" for layer in network.layers)}
    found |= {"parameters": parameters(module), "counted": counted_macs(module, arguments), "notes": noted(network)}
    if networks is not None:
        networks.mkdir(parents=True, exist_ok=True)
        workloads.save(network, networks / f"{case.name}.json")
    return found


def noted(network: workloads.Network) -> dict[str, int]:
    """Return the elements of stored weights that the notes are about, by what became of them."""
    found: Counter[str] = Counter()
    for note in network.notes:
        if note.weights:
            found[note.how] += note.weights
    return dict(sorted(found.items()))


def _since(started: float) -> float:
    """Seconds of the processor: others may run beside it."""
    return round(time.process_time() - started, 2)


def parameters(module: Any) -> int:
    """Return the elements of the module's parameters of two dimensions and more, each once."""
    return sum(each.numel() for each in {id(each): each for each in module.parameters()}.values() if each.ndim > 1)


def _grouped() -> dict[Any, Any]:
    """Operations of rows sorted by expert with the weights of theirs, which torch's counter leaves out."""
    import torch

    def operations(rows: Any, weights: Any, *_: Any, **__: Any) -> int:
        return int(2 * rows[0] * rows[1] * weights[-1])

    names = (("aten", "_grouped_mm"), ("transformers", "grouped_mm_fallback"))
    found = (getattr(getattr(torch.ops, library), name, None) for library, name in names)
    return {operator: operations for operator in found if operator is not None}


def counted_macs(module: Any, arguments: Any) -> int | None:
    """Return the MACs that torch's own counter gives one call, with those of experts; None where it cannot run."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    torch.backends.mha.set_fastpath_enabled(False)  # no operators that stand for whole layers: not all are counted
    for has_gradients in (False, True):  # the counter follows some modules only with gradients
        try:
            counter = FlopCounterMode(display=False, custom_mapping=_grouped())
            with torch.set_grad_enabled(has_gradients), sdpa_kernel(SDPBackend.MATH), counter:
                module(**arguments) if isinstance(arguments, dict) else module(*arguments)
            return int(counter.get_total_flops()) // 2
        except Exception:
            continue
    return None


def planned(network: workloads.Network, samples: int = PLAN_SAMPLES) -> Row:
    """Return off-chip bytes of the partition found at 2 MB, the least that any has, and whether execution agrees."""
    import cocco
    from simulator import Accelerator
    from simulator.execution import verify

    chip, started = Accelerator(shared_buffer=PLAN_BYTES), time.process_time()
    try:
        found = cocco.partition(network, chip, method="ga", metric="ema", keep="none", samples=samples)
    except ValueError as error:
        return {"plan": "none", "plan_why": str(error)[:200]}
    answer: Row = {"floor": found.evaluation.compulsory_bytes, "ema": found.evaluation.ema_bytes}
    answer["plan_seconds"] = _since(started)
    started = time.process_time()
    checked = verify(network, found.plan, chip)
    answer["plan"] = "verified" if checked.verified else "differs"
    statuses = Counter(each.status for each in checked.checks)
    answer |= {"compared": dict(statuses), "plan_why": checked.message[:200]}
    return answer | {"subgraphs": len(found.plan.subgraphs), "verify_seconds": _since(started)}


def write_rows(path: Path, rows: dict[str, Row]) -> None:
    """Write the answers, in the order of the architectures' names; a crash leaves the earlier file."""
    text = "".join(json.dumps(rows[name], sort_keys=True) + "\n" for name in sorted(rows))
    beside = path.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def main() -> None:
    """Read the architectures that the words name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*")
    parser.add_argument("--out", metavar="FILE", type=Path, default=REFERENCE)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--plans", action="store_true")
    parser.add_argument("--networks", metavar="FOLDER", type=Path)
    parser.add_argument("--samples", metavar="N", type=int, default=PLAN_SAMPLES)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    rows = read_rows(options.out)
    if options.page:
        PAGE.write_text(on_page(PAGE.read_text(encoding="utf-8"), "architectures", list(rows.values())), "utf-8")
        return
    cases = {} if options.plans else every()
    for name in rows if options.plans else cases:
        if options.names and not any(word in name for word in options.names):
            continue
        if not options.again and ("plan" in rows[name] if options.plans else name in rows):
            continue
        path = options.networks / f"{name}.json" if options.networks else None
        if not options.plans:
            found = answer_of(cases[name], options.networks)
        elif path is not None and path.exists():
            found = planned(workloads.load(path), options.samples)
        else:
            continue
        print(json.dumps({"name": name} | found), flush=True)
        rows = read_rows(options.out)  # the other run may have written to it
        rows[name] = rows.get(name, {}) | found if options.plans else found
        write_rows(options.out, rows)
        gc.collect()


if __name__ == "__main__":
    main()
