"""docs/networks.md says what the built-in networks are."""

from pathlib import Path

import workloads

PAGE = Path(__file__).resolve().parents[2] / "docs" / "networks.md"


def test_the_table_has_every_network_with_its_counts():
    rows = [line.split("|")[1:7] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    found = [(row[0].strip(" `"), *(int(cell.replace(",", "")) for cell in row[1:])) for row in rows]
    nets = [workloads.load(name) for name in workloads.names()]
    assert found == [
        (
            net.name, len(net.layers), net.edges, len(net.layers) + len(net.concats) + len(net.inputs),
            net.macs, net.weight_bytes,
        )
        for net in nets
    ]  # fmt: skip
