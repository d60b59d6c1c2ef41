"""The rooms of the house in the order of their imports, and what the code says about them.

`python docs/rooms.py` prints the rooms, and what each imports. tests/test_rooms.py holds the code to ROOMS.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("workloads", "simulator", "cocco", "experiments")
#: a room is a folder or a file with all that no longer name claims; each imports itself and what stands above it only
ROOMS = (
    "workloads.faces",
    "workloads.errors",
    "workloads.display",
    "workloads.files",
    "workloads.others",
    "workloads.network.layers",
    "workloads.network",
    "workloads.language",
    "workloads.zoo",
    "workloads.importing.views",
    "workloads.importing.values",
    "workloads.importing.notes",
    "workloads.importing.layers",
    "workloads.importing.sketch",
    "workloads.importing.masks",
    "workloads.importing.finishing",
    "workloads.importing.families",
    "workloads.importing.layer_graph",
    "workloads.importing.onnx",
    "workloads.importing.torch",
    "workloads",
    "simulator.integers",
    "simulator.units",
    "simulator.keywords",
    "simulator.metrics",
    "simulator.connected",
    "simulator.memory",
    "simulator.chip",
    "simulator.technology",
    "simulator.mapping",
    "simulator.sizes",
    "simulator.accelerator",
    "simulator.hardware_files",
    "simulator.partition",
    "simulator.allocation",
    "simulator.schedule",
    "simulator.model",
    "simulator.timing",
    "simulator.subgraph_cost",
    "simulator.evaluation",
    "simulator.views",
    "simulator.execution",
    "simulator",
    "cocco.problem",
    "cocco.candidates",
    "cocco.bank",
    "cocco.effort",
    "cocco.second_opinion",
    "cocco.search.exact",
    "cocco.search.keeping",
    "cocco.search.kernel",
    "cocco.search.pricing",
    "cocco.search.genetic",
    "cocco.search.baselines",
    "cocco.search",
    "cocco.bounds.floors",
    "cocco.bounds.patterns",
    "cocco.bounds.cheapest",
    "cocco.bounds.parts",
    "cocco.bounds.prices",
    "cocco.bounds",
    "cocco.plans",
    "cocco.mapping",
    "cocco.allocation",
    "cocco.scheduling.graph",
    "cocco.scheduling.plan",
    "cocco.scheduling.packing",
    "cocco.scheduling.searches",
    "cocco.scheduling.programs",
    "cocco.scheduling",
    "cocco.latency",
    "cocco.exploration.answers",
    "cocco.exploration.question",
    "cocco.exploration.memories",
    "cocco.exploration.placing",
    "cocco.exploration.searching",
    "cocco.exploration.workers",
    "cocco.exploration",
    "cocco.chips",
    "cocco.memory",
    "cocco.output.text",
    "cocco.output.layout",
    "cocco.output.program",
    "cocco.output.pictures",
    "cocco.output.folders",
    "cocco.output.report",
    "cocco",
    "cocco.cli",
    "experiments.sweep",
    "experiments.common",
    "experiments.paper",
    "experiments.beyond",
    "experiments",
)


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Return every module by its dotted name; a package is its __init__.py."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Yield the modules of the house that a file imports, inside functions and for types too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else node.module for name in names]
        yield from (name for name in names if name in known)


@cache
def arrows(root: Path = ROOT) -> frozenset[tuple[str, str]]:
    """Return (module, module that it imports) for all files; a package's face is left out where it is the importer.

    A face (`__init__.py`) hands names of its own rooms to users; nothing inside its package imports it.
    """
    known = modules(root)
    return frozenset(
        (name, other)
        for name, path in known.items()
        if path.name != "__init__.py"
        for other in imports(path, known)
        if other != name
    )


@cache
def room_of(module: str) -> str:
    """Return the room of a module: the longest name in ROOMS that it begins with."""
    claims = [room for room in ROOMS if module == room or module.startswith(f"{room}.")]
    return max(claims, key=len)


def purpose(room: str, root: Path = ROOT) -> str:
    """Return the first line of a room's docstring."""
    path = modules(root)[room]
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0]


if __name__ == "__main__":
    between = {(room_of(a), room_of(b)) for a, b in arrows()}
    for each in ROOMS:
        print(f"{each}: {purpose(each)}")
        print("    <-", ", ".join(other for other in ROOMS if (each, other) in between and other != each) or "nothing")
