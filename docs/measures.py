"""The size and order of the house in numbers: `python docs/measures.py [FOLDER]`.

Of another commit: `git worktree add ../other COMMIT && python docs/measures.py ../other`.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("workloads", "simulator", "cocco", "experiments")
CYTHON = (".pyx", ".pxi", ".pxd")
SOURCES = (".py", ".pyi", ".js", ".css", *CYTHON)
MOST_FILES = 12  #: in a folder (tests/test_rooms.py)
WIDE = 110  #: columns; a line of more than that is counted


def measures(root: Path = ROOT) -> Iterator[tuple[str, object]]:
    """Yield (what is measured, its number or list) of the checkout at root."""
    texts = {
        path.relative_to(root): path.read_text(encoding="utf-8")
        for package in (*PRODUCT, "tests")
        for path in sorted((root / package).rglob("*"))
        if path.suffix in SOURCES
    }
    lines = {path: text.splitlines() for path, text in texts.items()}
    for package in (*PRODUCT, "tests"):
        yield f"lines of {package}", sum(len(each) for path, each in lines.items() if path.parts[0] == package)
    yield "lines of the four packages", sum(len(each) for path, each in lines.items() if path.parts[0] != "tests")
    yield "lines of Cython", sum(len(each) for path, each in lines.items() if path.suffix in CYTHON)
    parts = {path.with_suffix("") for path in texts if path.parts[0] != "tests"}  # types (.pxd, .pyi) belong to a file
    folders = Counter(part.parent.as_posix() for part in parts)
    yield f"folders of more than {MOST_FILES} files", {f: n for f, n in folders.most_common() if n > MOST_FILES}
    trees = [ast.parse(text) for path, text in texts.items() if path.suffix == ".py" and path.parts[0] != "tests"]
    for what, find in (("classes", _classes), ("constants", _constants)):
        counts = Counter(name for tree in trees for name in find(tree))
        several = {name: count for name, count in counts.most_common() if count > 1 and not name.startswith("_")}
        yield f"names of several {what}", (len(several), several)
    yield "'# fmt: skip'", sum("# fmt: skip" in line for each in lines.values() for line in each)
    yield f"lines over {WIDE} columns", sum(len(line) > WIDE for each in lines.values() for line in each)


def _classes(tree: ast.Module) -> Iterator[str]:
    yield from (node.name for node in tree.body if isinstance(node, ast.ClassDef))


def _constants(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (each.id for each in targets if isinstance(each, ast.Name) and each.id.isupper())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT, help="a checkout; this one without")
    for what, found in measures(parser.parse_args().folder):
        print(f"{what}: {found}")
