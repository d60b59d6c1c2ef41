"""Options that several commands read."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from cocco.problem.space import SharedBuffer, Space
from workloads import Network

SETTINGS = (
    "alpha", "metric", "method", "samples", "cores", "batch", "max_regions", "prefetch", "tile_rule", "plain", "prove",
    "check_addresses",
)  # fmt: skip


def settings_of(
    options: Namespace, networks: Sequence[Network], space: Space, keys: Sequence[str] = SETTINGS
) -> dict[str, Any]:
    """Return what a run folder keeps of the question: networks, weights, space and these options."""
    return {
        "networks": [network.name for network in networks],
        "weights": options.weights or [1.0] * len(networks),
        "space": {"shared_buffer": asdict(space)} if isinstance(space, SharedBuffer) else asdict(space),
        **{key: getattr(options, key) for key in keys},
        "technology": asdict(options.technology),
    }
