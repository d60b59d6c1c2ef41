"""How long an experiment takes, aimed as it is: its own seconds, measured, times how much more there is to search.

A search takes what its samples take, and what it takes whatever its samples are: bounds, founders, an attempt at a
proof. The latter is most of a small search, and several cores multiply both. CPU seconds of `cocco.explore` with
keep="none" on a shared buffer, alpha 0.002, for 2,000 and for 20,000 samples, on a busy machine:

    vgg16       1 core  0.9   0.3     4 cores   0.4   0.4
    resnet50    1 core  0.5   1.2     4 cores   1.5   3.7
    googlenet   1 core  1.4   2.8     4 cores   7.7  12.2
    randwire_a  1 core  8.6  13.6

An attempt that succeeds takes a part of that, which nobody knows before: so numbers are right within a factor of three.
The eight searches of vgg16 and googlenet with 1 and 4 cores, alpha 0.001 and 0.01 and 2,000 samples take 59 s; what is
said is 49.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import workloads
from cocco.cli.options import effort

PER_LAYER = 0.05  #: of a search that keeps nothing, whatever its samples are; only its ratio to PER_SEARCH counts
SEVERAL = 7.0  #: times as long as for one core takes a search for several; 3 to 20 were measured
LAYERS = 100  #: of a network that an experiment does not name; our choice
SAMPLES = 20_000  #: of a search whose samples an experiment chooses itself; our choice
COUNTED = (
    "seeds", "alphas", "batch", "buffers", "hardware", "keep", "metric", "range", "budgets", "kilobytes",
)  # fmt: skip  #: aims that repeat a search


def share(settings: Mapping[str, Any], chosen: Mapping[str, Any], keeps: bool = False) -> float:
    """Return how many times as long as with its own settings an experiment takes with those chosen in their place.

    keeps: whether its searches keep tensors on chip, whose proofs take longer.

    >>> share({"networks": ("vgg16",), "samples": 100}, {"networks": ("vgg16",), "alphas": [0.001, 0.01]})
    2.0
    >>> share({"networks": ("vgg16",), "samples": 100}, {"cores": [1, 4]})
    8.0
    """
    return _work({**settings, **chosen}, keeps) / _work(settings, keeps)


def _work(settings: Mapping[str, Any], keeps: bool) -> float:
    """Return about how many CPU seconds the searches take, but for a factor that is the same for all settings."""
    layers = [len(workloads.load(name).layers) for name in settings.get("networks") or ()] or [LAYERS]
    samples = (settings["samples"] or SAMPLES) if "samples" in settings else 0
    cores = settings.get("cores") or (1,)
    machines = sum(1.0 if each == 1 else SEVERAL for each in ([cores] if isinstance(cores, int) else cores))
    repeated = math.prod(_count(settings[name]) for name in COUNTED if settings.get(name) is not None)
    return sum(_seconds(each, samples, keeps) for each in layers) * machines * repeated


def _seconds(layers: int, samples: int, keeps: bool) -> float:
    seconds = PER_LAYER * layers + samples * effort.PER_SEARCH * layers**effort.LAYERS_POWER
    if not keeps:
        return seconds
    proofs = (effort.PER_PROOF + effort.PER_LAYER) * layers + effort.PER_ATTEMPT * min(layers, effort.MOST_ATTEMPTED)
    return seconds + proofs + samples * effort.PER_WINDOW * layers


def _count(value: Any) -> float:
    """Return how many there are: of a list its length, of a number itself; 1 for what cannot be counted."""
    if isinstance(value, (int, float)):
        return float(value)
    return float(len(value)) if isinstance(value, Collection) and not isinstance(value, str) else 1.0
