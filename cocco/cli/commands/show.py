"""cocco show: the layers of a network, or every number of the hardware."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from cocco.cli.options.hardware import hardware_of
from cocco.cli.options.networks import counts
from cocco.cli.options.options import NETWORK_HELP, add_json, add_unsupported
from cocco.cli.options.output import print_answer, print_json
from cocco.cli.options.usage import Parser, UsageError
from cocco.cli.running.runs import check_no_network_option, network_of
from cocco.output.text.plans.evaluation import experts_text, layers_table, notes_table
from simulator.hardware_files import hardware_text
from workloads.importing.layer_graph.marks import MASK
from workloads.network.network import Network


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "network", metavar="NETWORK", nargs="?", help=f"{NETWORK_HELP}; or the folder of a run, for its network"
    )
    add_unsupported(parser)
    parser.add_argument(
        "--hardware", metavar="FILE|DIR", nargs="?", const="",
        help="every number of the hardware with its unit and source: that of a file or a run, or the default; the "
        "output is such a file",
    )  # fmt: skip
    add_json(parser)


def run(options: Namespace) -> int:
    """Print one of the two."""
    if options.hardware is None and options.network is None:
        raise UsageError("show needs a NETWORK, or --hardware")
    if options.hardware is not None and options.network is not None:
        raise UsageError("--hardware not allowed with a NETWORK: show one of them")
    if options.network is None:
        check_no_network_option(options, "--hardware: it is of networks")
        return _show_hardware(options)
    network = network_of(options)
    print_answer(options, lambda: _to_json(network), lambda: _text(network))
    return 0


def _to_json(network: Network) -> dict[str, Any]:
    """Return the counts with each layer; out_shape is [1, channels, height, width]."""
    layers = [
        {
            "name": layer.name,
            "op": layer.op,
            "inputs": list(layer.inputs),
            "out_shape": [1, layer.channels, layer.height, layer.width],
            "macs": layer.macs,
            "weight_bytes": layer.weight_bytes,
        }
        | ({} if layer.mask is None else {"mask": {key: getattr(layer.mask, key) for key in MASK}})
        for layer in network.layers
    ]
    inputs = [
        {"name": each.name, "shape": [1, each.channels, each.height, each.width], "kind": each.kind}
        for each in network.inputs
    ]
    notes = [note._asdict() for note in network.notes]
    types = {kind: list(names) for kind, names in network.number_types().items()}
    experts = experts_text(network)
    said = {"numbers": types} | ({"experts": experts} if experts else {})
    return counts(network, layers) | {"inputs": inputs} | said | ({"notes": notes} if notes else {})


def _text(network: Network) -> str:
    parts = [layers_table(network), *([notes_table(network)] if network.notes else [])]
    return "\n\n".join(parts)


def _show_hardware(options: Namespace) -> int:
    """Print the hardware of a file, or the default, as YAML with units and sources, or as JSON."""
    accelerator = hardware_of(options.hardware)
    if options.json:
        print_json(accelerator.to_json())
    else:
        print(hardware_text(accelerator), end="")
    return 0
