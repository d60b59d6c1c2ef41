"""A network of eight layers in a file, small enough to search in no time: two blocks with a shortcut each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_tiny(path: Path, blocks: str = "ab") -> str:
    """Write the network, or only one of its blocks, and return its path, which `workloads.load` takes as a name."""
    nodes: list[dict[str, Any]] = [{"name": "x", "op": "input", "inputs": [], "out_shape": [1, 16, 32, 32]}]
    last = "x"
    for block in blocks:
        nodes.append(conv(f"{block}1", last, 3))
        nodes.append(conv(f"{block}2", f"{block}1", 3))
        nodes.append(conv(f"{block}0", last, 1))
        nodes.append({"name": f"{block}3", "op": "add", "inputs": [f"{block}2", f"{block}0"], "out_shape": SHAPE})
        last = f"{block}3"
    path.write_text(json.dumps({"format": "layer-graph/1", "name": "tiny", "nodes": nodes}))
    return str(path)


SHAPE = [1, 16, 32, 32]


def conv(name: str, source: str, kernel: int) -> dict[str, Any]:
    """Return a convolution of 16 channels that keeps the map."""
    pad = kernel // 2
    return {
        "name": name, "op": "conv", "inputs": [source], "out_shape": SHAPE, "kernel": [kernel, kernel],
        "stride": [1, 1], "padding": [pad] * 4, "dilation": [1, 1], "groups": 1, "in_channels": 16,
    }  # fmt: skip
