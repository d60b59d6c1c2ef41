"""A network whose names would break a page or a picture that took them as they are."""

from __future__ import annotations

import json
from pathlib import Path

NAME = "</script><img src=x onerror=document.title='pwned'> & $\\frac{$"
LAYER = "<b onmouseover=alert(1)>\"'$x_{$"


def hostile_network(folder: Path) -> Path:
    """Write a layer-graph/1 file of three layers with such names, and return its path."""

    def conv(name: str, source: str) -> dict[str, object]:
        return {
            "name": name, "op": "conv", "inputs": [source], "out_shape": [1, 16, 16, 16], "kernel": [3, 3],
            "stride": [1, 1], "padding": [1, 1, 1, 1], "dilation": [1, 1], "groups": 1, "in_channels": 16,
        }  # fmt: skip

    image = {"name": "x", "op": "input", "inputs": [], "out_shape": [1, 16, 16, 16]}
    names = [f"{LAYER}{i}" for i in range(3)]
    nodes = [image, *(conv(name, source) for name, source in zip(names, ["x", *names]))]
    path = folder / "hostile.json"
    path.write_text(json.dumps({"format": "layer-graph/1", "name": NAME, "nodes": nodes}))
    return path
