"""What a module reads is counted, and what is assumed is said: small modules of each kind; skipped without torch."""

from __future__ import annotations

import pytest

import workloads
from workloads import NetworkError

torch = pytest.importorskip("torch", reason="modules need torch: pip install 'cocco[torch]'")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402


def ops(network):
    return [layer.op for layer in network.layers]


def noted(network, how):
    return {note.node: note.weights for note in network.notes if note.how == how}


def fed(network):
    return {tensor.name: tensor.size_bytes for tensor in network.inputs}


class Mixed(nn.Module):
    """A kernel that is a mixture of 4 experts, by what the image is (conditional convolutions)."""

    def __init__(self, groups=1):
        super().__init__()
        self.groups = groups
        self.route = nn.Linear(8, 4)
        self.experts = nn.Parameter(torch.zeros(4, 8 * (8 // groups) * 9))

    def forward(self, x):
        kernel = self.route(x.mean((2, 3))).softmax(-1) @ self.experts
        return functional.conv2d(x, kernel.view(8, 8 // self.groups, 3, 3), padding=1, groups=self.groups)


@pytest.mark.parametrize("groups", [1, 8])
def test_a_kernel_that_the_network_computes_is_an_operand(groups):
    """Route 8 x 4, mixture 4 x (8 x 8 / groups x 9), convolution 10 x 10 x 8 x 8 / groups x 9; nothing vanishes."""
    network = workloads.from_torch(Mixed(groups), torch.zeros(1, 8, 10, 10))
    size = 8 * 8 // groups * 9
    assert network.weight_bytes == 32 + 4 * size
    assert network.macs == 32 + 4 * size + 100 * size
    assert ops(network).count("matmul") == 1


def test_a_template_is_searched_in_an_image():
    """Cross-correlation of trackers: both branches stay."""

    class Tracker(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Conv2d(3, 4, 3)

        def forward(self, template, search):
            return functional.conv2d(self.body(search), self.body(template))

    network = workloads.from_torch(Tracker(), (torch.zeros(1, 3, 8, 8), torch.zeros(1, 3, 16, 16)))
    assert set(fed(network)) == {"template", "search"}
    assert network.macs == 108 * (36 + 14 * 14) + 36 * 4 * 9 * 9
    assert noted(network, "shared") == {"body.weight": 108}


def test_a_step_of_time_goes_through_its_layers():
    """A rank 0 input: a sinusoid of it, which is computed outside, is a model input of the first product."""

    class Timed(nn.Module):
        def __init__(self):
            super().__init__()
            self.time, self.body = nn.Linear(16, 8), nn.Conv2d(3, 8, 1)

        def forward(self, x, step):
            waves = torch.cat([torch.sin(step * torch.arange(8.0)), torch.cos(step * torch.arange(8.0))])
            return self.body(x) + self.time(waves[None])[:, :, None, None]

    network = workloads.from_torch(Timed(), (torch.zeros(1, 3, 4, 4), torch.tensor(3.0)))
    assert sorted(ops(network)) == ["add", "conv", "fc"]
    assert network.weight_bytes == 24 + 128 and sorted(fed(network).values()) == [16, 48]
    assert list(noted(network, "read").values()) == [16]


def test_an_image_of_integers_is_a_model_input():
    class Bytes(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Conv2d(3, 8, 3, padding=1)

        def forward(self, x):
            return self.body(x.float() / 255)

    network = workloads.from_torch(Bytes(), torch.zeros(1, 3, 6, 5, dtype=torch.uint8))
    assert ops(network) == ["conv"] and list(fed(network).values()) == [90]


def test_a_vector_is_a_model_input():
    network = workloads.from_torch(nn.Linear(3, 4), torch.zeros(3))
    assert network.weight_bytes == 12 and list(fed(network).values()) == [3]


class Cached(nn.Module):
    """One token of attention after 6 earlier ones, which the module keeps."""

    def __init__(self, joins):
        super().__init__()
        self.joins = joins
        self.parts = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))
        length = 6 if joins else 7
        self.register_buffer("keys", torch.zeros(1, 4, length, 4))
        self.register_buffer("values", torch.zeros(1, 4, length, 4))

    def forward(self, x, place):
        q, k, v = (part(x).view(1, 1, 4, 4).transpose(1, 2) for part in self.parts)
        if self.joins:
            k, v = torch.cat([self.keys, k], 2), torch.cat([self.values, v], 2)
        else:
            k, v = self.keys.index_copy_(2, place, k), self.values.index_copy_(2, place, v)
        return functional.scaled_dot_product_attention(q, k, v)


@pytest.mark.parametrize("joins", [True, False])
def test_a_cache_that_is_a_buffer_is_read(joins):
    """Scores and context of one token with 7: 2 x 7 x 16 MACs; 6 rows of K and of V come in, one of each goes out."""
    network = workloads.from_torch(Cached(joins), (torch.zeros(1, 1, 16), torch.tensor([6])))
    assert network.macs == 3 * 256 + 2 * 7 * 16
    assert sorted(fed(network).values()) == [16, 96, 96] and "rearrange" not in ops(network)
    assert [tensor.size_bytes for tensor in network.inputs if tensor.kind == "cache"] == [96, 96]
    assert [layer.size_bytes for layer in network.layers if layer.appended] == [16, 16]
    assert sorted(noted(network, "cache")) == (["keys", "values"] if joins else ["keys.earlier", "values.earlier"])


def test_a_table_of_positions_is_read_and_computed_angles_are_not():
    class Placed(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(10, 8)
            self.register_buffer("rate", torch.ones(4))

        def forward(self, x):
            places = torch.arange(x.shape[1])
            angles = (places[:, None] * self.rate).repeat(1, 2)
            return (x + self.table(places)[None]) * angles.cos()

    network = workloads.from_torch(Placed(), torch.zeros(1, 6, 8))
    assert ops(network) == ["add"] and sorted(fed(network).values()) == [48, 48]


def test_weights_of_several_layers_are_said():
    """Counted for each layer that reads them: 3 layers, 2 of them again."""

    class Again(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            return self.layer(self.layer(self.layer(x).relu()).relu())

    network = workloads.from_torch(Again(), torch.zeros(1, 5, 8))
    assert network.weight_bytes == 3 * 64 and noted(network, "shared") == {"layer.weight": 128}
    assert [layer.shared for layer in network.layers] == ["layer.weight"] * 3


def test_weights_that_two_modules_share_have_one_name():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
            self.second.weight = self.first.weight

        def forward(self, x):
            return self.second(self.first(x).relu())

    network = workloads.from_torch(Tied(), torch.zeros(1, 5, 8))
    assert noted(network, "shared") == {"first.weight": 64} and not noted(network, "not loaded")


def test_parts_of_one_matrix_are_not_shared():
    class Cut(nn.Module):
        def __init__(self):
            super().__init__()
            self.both = nn.Parameter(torch.zeros(12, 8))

        def forward(self, x, y):
            return functional.linear(x, self.both[:4]), functional.linear(y, self.both[4:])

    network = workloads.from_torch(Cut(), (torch.zeros(1, 5, 8), torch.zeros(1, 3, 8)))
    assert network.weight_bytes == 96 and not noted(network, "shared") and not noted(network, "not loaded")
    assert not any(layer.shared for layer in network.layers)


def test_weights_that_no_layer_reads_are_said():
    class Spare(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.spare = nn.Linear(8, 8), nn.Linear(8, 4)

        def forward(self, x):
            return self.used(x)

    network = workloads.from_torch(Spare(), torch.zeros(1, 5, 8))
    assert noted(network, "not loaded") == {"spare.weight": 32}


@pytest.mark.parametrize("function", [torch.special.i0, torch.linalg.svdvals])
def test_an_operator_hands_its_input_on_only_where_it_keeps_the_shape(function):
    class Odd(nn.Module):
        def forward(self, x):
            return function(x) * 2

    with pytest.raises(NetworkError, match="is not understood"):
        workloads.from_torch(Odd(), torch.zeros(1, 6, 8))
    if function is torch.special.i0:
        return
    with pytest.raises(NetworkError, match="is not understood$"):
        workloads.from_torch(Odd(), torch.zeros(1, 6, 8), unsupported="passthrough")


@pytest.mark.parametrize(
    ("module", "inputs"),
    [
        (nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 3)), torch.zeros(2, 5, dtype=torch.int64)),
        (nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)), torch.zeros(2, 3, 8, 8)),
        (nn.Linear(3, 4), torch.zeros(2, 3)),
    ],
)
def test_a_batch_of_samples_that_do_not_see_each_other_is_read_as_one(module, inputs):
    network = workloads.from_torch(module, inputs)
    first = workloads.from_torch(module, inputs[:1])
    assert [note.op for note in network.notes if note.how == "batch"] == ["batch 2"]
    assert (network.layers, network.inputs) == (first.layers, first.inputs)


class Graph(nn.Module):
    """Nodes [N, F] whose features are summed along edges [2, M], or by a matrix [N, N]."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(16, 32), nn.Linear(32, 8)

    def forward(self, nodes, edges):
        x = self.first(nodes)
        if edges.is_floating_point():
            return self.last(edges @ x)
        return self.last(torch.zeros_like(x).index_add(0, edges[1], x[edges[0]]))


@pytest.mark.parametrize("edges", [torch.zeros(2, 78, dtype=torch.int64), torch.zeros(34, 34)])
def test_nodes_of_a_graph_see_each_other_and_are_rows(edges):
    """By hand: 34 rows of 16 x 32 + 32 x 8 = 768; a matrix adds 34 x 34 x 32."""
    network = workloads.from_torch(Graph(), (torch.zeros(34, 16), edges))
    assert network.macs == 34 * 768 + (34 * 34 * 32 if edges.is_floating_point() else 0)
    assert not [note for note in network.notes if note.how == "batch"]
