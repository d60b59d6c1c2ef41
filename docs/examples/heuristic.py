"""A heuristic of one's own: layers run together as long as their weights take less than half of the buffer."""


def by_weights(network, accelerator):
    """Return the groups of a partition; of a chain of layers, so that neighbours are connected."""
    groups, room = [], 0
    for layer in network.layers:
        if layer.weight_bytes > room:
            groups.append([])
            room = accelerator.shared_buffer // 2
        groups[-1].append(layer.name)
        room -= layer.weight_bytes
    return groups
