"""--effort: how thorough a command is, in one word, with the seconds to expect."""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cocco.cli.options.of_methods import is_plain
from cocco.effort.levels import LEVELS, Level

if TYPE_CHECKING:
    from workloads.network.network import Network

# CPU seconds, fitted to those of `cocco explore NETWORK --effort WORD --progress` for googlenet, randwire_a and nasnet,
# which no proof finishes (72, 262 and 681 layers), on a core of a busy machine. Only what is printed depends on them.
#            googlenet  randwire_a  nasnet
#    quick        15.5        45.2   114.5
#    normal       54.5       105.3   294.1
START_SECONDS = 0.5  #: of any command
PER_LAYER = 0.125  #: bounds and windows of any budget, and addresses of what is kept
PER_PROOF = 0.115  #: and layer, at a normal effort: all memories together, before and after the search
PER_ATTEMPT = 0.36  #: and layer, at a normal effort: exact search before it gives up, ...
MOST_ATTEMPTED = 72  #: ... whose budget does not grow with more layers than so many
PER_SEARCH = 1.3e-6  #: and sample, times layers ** 0.79 (docs/search-and-proof.md)
PER_WINDOW = 1.8e-6  #: and sample and layer: windows of plans with kept tensors
LAYERS_POWER = 0.79

SEARCHES = ("partition", "explore", "pareto")  #: commands whose --samples are those of the effort


def add_effort(parser: Any, what: str) -> None:
    """Add --effort; what: of the command's counted work it scales."""
    parser.add_argument(
        "--effort", choices=tuple(LEVELS), default="normal",
        help=f"how thorough: quick, normal (default) or thorough, which sets {what}",
    )  # fmt: skip


def add_search_effort(parser: Any) -> None:
    """Add --effort of a command that has samples and proofs."""
    samples = ", ".join(f"{level.samples:,}" for level in LEVELS.values())
    add_effort(parser, f"--samples ({samples}) and the counted budgets of proofs (1/8, 1, 8 times)")


def level(options: Namespace) -> Level:
    """Return what the word of a command line stands for."""
    return LEVELS[options.effort]


def scaled(options: Namespace, asked: float | None, normal: float) -> float:
    """Return what was requested, else the default scaled by the effort."""
    return normal * float(level(options).times) if asked is None else asked


def settle_samples(options: Namespace) -> None:
    """Set the samples of the effort if none are requested."""
    if options.command in SEARCHES and options.samples is None:
        options.samples = level(options).samples


def expected_seconds(options: Namespace, networks: Sequence[Network]) -> float:
    """Return about how many seconds of one core a search takes where no proof ends it sooner, by counted work."""
    layers = sum(len(network.layers) for network in networks)
    seconds = START_SECONDS + options.samples * PER_SEARCH * layers**LAYERS_POWER
    if getattr(options, "keep", None) == "none" or is_plain(options):
        return seconds
    proofs = float(level(options).times) * (PER_PROOF * layers + PER_ATTEMPT * min(layers, MOST_ATTEMPTED))
    return seconds + proofs + layers * (PER_LAYER + options.samples * PER_WINDOW)


def say_expected(options: Namespace, networks: Sequence[Network]) -> None:
    """Print the effort and how long it may take, if it was requested or the output is a terminal."""
    is_watched = sys.stderr is not None and sys.stderr.isatty()
    if options.effort == "normal" and not options.progress and not is_watched:
        return
    seconds = expected_seconds(options, networks)
    said = f"{options.effort} effort, {options.samples:,} samples: about {_rounded(seconds)} s of one core"
    print(f"cocco: {said}, less where a proof ends it", file=sys.stderr)


def _rounded(seconds: float) -> str:
    """Return seconds with one significant digit: the estimate is no better."""
    digits = max(0, int(math.log10(max(1.0, seconds))))
    return f"{math.ceil(seconds / 10**digits) * 10**digits:,}"
