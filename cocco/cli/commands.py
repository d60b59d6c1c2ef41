"""What each command does: read, ask the simulator or the search, print one answer."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import workloads
from cocco.cli.hardware import accelerator_of
from cocco.cli.networks import load
from cocco.cli.output import answer, print_json
from cocco.cli.plans import read_partition, verify, with_mapper
from cocco.output.text import evaluation as report
from cocco.output.text.verification import verification_text
from simulator import evaluate
from workloads import Network

if TYPE_CHECKING:
    pass


def networks(options: Namespace, _: Sequence[str]) -> int:
    """cocco networks: the built-in networks."""
    found = [workloads.load(name) for name in workloads.names()]
    if options.json:
        print_json({"networks": [network_counts(network, len(network.layers)) for network in found]})
    else:
        print(report.networks_table(found))
    return 0


def show(options: Namespace, _: Sequence[str]) -> int:
    """cocco show: the layers of a network. out_shape is [1, channels, height, width]."""
    if options.hardware is not None or options.network is None:
        from cocco.cli.hardware_text import show_hardware

        return show_hardware(options)
    network = load(options.network, options)
    if not options.json:
        print(report.layers_table(network))
        if network.notes:
            print(f"\n{report.notes_table(network)}")
        return 0
    layers = [
        {
            "name": layer.name,
            "op": layer.op,
            "inputs": list(layer.inputs),
            "out_shape": [1, layer.channels, layer.height, layer.width],
            "macs": layer.macs,
            "weight_bytes": layer.weight_bytes,
        }
        for layer in network.layers
    ]
    notes = [note._asdict() for note in network.notes]
    print_json(network_counts(network, layers) | ({"notes": notes} if notes else {}))
    return 0


def evaluate_partition(options: Namespace, _: Sequence[str]) -> int:
    """cocco evaluate: the price of a partition on given hardware; with --verify, the proof that it runs."""
    accelerator = with_mapper(accelerator_of(options), options.mapper)
    network = load(options.network, options)
    partition = read_partition(options.partition, network, accelerator, options.tile_rule)
    if options.explain or options.trace is not None:
        from cocco.cli.explaining import evaluate_explained

        return evaluate_explained(options, network, partition, accelerator)
    if options.addresses or options.output is not None:
        from cocco.cli.addressing import evaluate_addresses

        return evaluate_addresses(options, network, partition, accelerator)
    evaluation = evaluate(network, partition, accelerator, options.tile_rule)
    verified = None
    if options.verify and evaluation.fits:
        verified = verify(network, partition, accelerator, options.tile_rule)
    if options.json:
        print_json(answer(evaluation, verified))
    else:
        print(report.evaluation_text(evaluation))
        if verified:
            print(f"\n{verification_text(verified)}")
    return 0 if evaluation.fits and (verified is None or verified.verified) else 1


def network_counts(network: Network, layers: object) -> dict[str, Any]:
    """Return the name, the layers and the sums of a network."""
    return {
        "name": network.name,
        "layers": layers,
        "edges": network.edges,
        "macs": network.macs,
        "weight_bytes": network.weight_bytes,
    }
