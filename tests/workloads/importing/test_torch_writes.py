"""What a module writes into a part of an array, sums of rows that are looked up, autocast blocks and branches."""

from __future__ import annotations

import pytest

import workloads
from workloads import NetworkError

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

X = torch.zeros(1, 4, 64)


class Written(nn.Module):
    """Three projections; `way` says how the first two meet."""

    def __init__(self, way, gate=64):
        super().__init__()
        self.way, self.k, self.g, self.o = way, nn.Linear(64, 64), nn.Linear(64, gate), nn.Linear(64, 64)

    def forward(self, x):
        return self.o(self.way(self, x))


def steps(self, x):
    k = self.k(x)
    out = torch.zeros_like(k)
    for t in range(4):
        out[:, t] = k[:, t] * 2
    return out * self.g(x)


def added(self, x):
    k = self.k(x)
    k[..., :32] += self.g(x)
    return k


def narrowed(self, x):
    k = self.k(x)
    k.narrow(2, 0, 32).mul_(self.g(x))
    return k


def masked(self, x):
    k = self.k(x)
    k[:, :2].masked_fill_(self.g(x)[:, :2] > 0, 1.0)
    return k


def indexed(self, x):
    k = self.k(x)
    k[:, torch.tensor([0, 2])] = self.g(x)[:, :2]
    return k


def nested(self, x):
    k = self.k(x)
    k.view(1, 4, 2, 32).transpose(1, 2)[:, 0][:, 1:3].add_(self.g(x)[:, :2, :32])
    return k


def chosen(self, x):
    """Rows of one projection, by what the other says."""
    places = self.g(x).argmax(-1, keepdim=True).clamp(max=3)
    return torch.gather(self.k(x), 1, places.expand(1, 4, 64))


@pytest.mark.parametrize("way", [steps, added, narrowed, masked, indexed, nested, chosen])
def test_a_write_into_a_part_of_an_array_keeps_all_layers_that_feed_it(way):
    """Four positions of 64 features through three matrices, of which that of two ways is half as wide."""
    gate = 32 if way in (added, narrowed) else 64
    network = workloads.from_torch(Written(way, gate), X)
    assert network.macs == 4 * 64 * (64 + gate + 64) and network.weight_bytes == 64 * (64 + gate + 64)


def test_an_array_that_is_filled_step_by_step_is_put_down_once():
    network = workloads.from_torch(Written(steps), X)
    (layer,) = [layer for layer in network.layers if layer.op == "rearrange"]
    assert len(layer.inputs) == 4 and (layer.height, layer.channels) == (4, 64)


def test_halves_that_work_in_place_are_the_whole():
    def halves(self, x):
        k = self.k(x)
        for half in k.chunk(2, -1):
            half.relu_()
        return k + self.g(x)

    assert [layer.op for layer in workloads.from_torch(Written(halves), X).layers] == ["fc", "fc", "add", "fc"]


def test_what_is_overwritten_with_a_number_is_not_read():
    def cleared(self, x):
        k = self.k(x)
        k[..., :32] = 0
        return k * self.g(x)

    layers = {layer.name: layer for layer in workloads.from_torch(Written(cleared), X).layers}
    assert [layer.channels for layer in layers.values() if layer.op == "slice"] == [32]


def test_a_network_that_chooses_rows_of_a_code_book_computes_which():
    class Book(nn.Module):
        def __init__(self):
            super().__init__()
            self.near, self.book, self.out = nn.Linear(64, 10), nn.Embedding(10, 16), nn.Linear(16, 8)

        def forward(self, x):
            return self.out(self.book(self.near(x).argmax(-1)))

    network = workloads.from_torch(Book(), X)
    assert network.macs == 4 * (64 * 10 + 16 * 8)
    assert (4, 1, 16) in [(each.height, each.width, each.channels) for each in network.inputs]  # the rows


class Bag(nn.Module):
    def __init__(self, mode="mean"):
        super().__init__()
        self.bag, self.out = nn.EmbeddingBag(100, 32, mode=mode), nn.Linear(32, 8)

    def forward(self, places, offsets=None, weights=None):
        return self.out(self.bag(places, offsets, weights))


@pytest.mark.parametrize(("mode", "pool"), [("sum", "avgpool"), ("mean", "avgpool"), ("max", "maxpool")])
@pytest.mark.parametrize(
    ("given", "bags"),
    [
        ((torch.arange(20), torch.tensor([0])), 1),
        ((torch.arange(20)[None],), 1),
        ((torch.arange(20), torch.tensor([0, 7])), 2),  # as two of ten
    ],
)
def test_a_bag_of_embeddings_reads_a_row_for_each_of_its_words(mode, pool, given, bags):
    """20 rows of 32 bytes."""
    network = workloads.from_torch(Bag(mode), given)
    (rows,) = network.inputs
    assert rows.size_bytes == 640
    assert [(layer.op, layer.height, layer.channels) for layer in network.layers] == [(pool, bags, 32), ("fc", bags, 8)]
    assert network.weight_bytes == 32 * 8
    assert [note.op for note in network.notes if note.how == "bags"] == ["2 bags of 20 rows"] * (bags - 1)


def test_a_bag_of_embeddings_is_weighted_and_may_be_uneven():
    offsets, weights = torch.tensor([0, 3, 9]), torch.ones(20)
    network = workloads.from_torch(Bag("sum"), (torch.arange(20), offsets, weights))
    assert network.inputs[0].size_bytes == 640 and network.macs == 3 * 32 * 8
    network = workloads.from_torch(Bag(), torch.arange(20).reshape(2, 10))  # bags that do not see each other
    assert network.inputs[0].size_bytes == 320 and network.macs == 32 * 8


def test_autocast_and_gradient_blocks_are_read_where_they_stand():
    def inside(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            k = self.k(x)
            with torch.autocast("cpu", enabled=False):
                k = functional.relu(k.float())
        with torch.enable_grad():
            return k * self.g(x)

    network = workloads.from_torch(Written(inside), X)
    assert [layer.op for layer in network.layers] == ["fc", "fc", "mul", "fc"]


class Branches(nn.Module):
    def __init__(self, is_known):
        super().__init__()
        self.is_known, self.k, self.g = is_known, nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x):
        chooser = torch.tensor(x.shape[1] > 2) if self.is_known else x.sum() > 0
        return torch.cond(chooser, lambda x: self.k(x) * self.g(x), lambda x: self.k(x), (x,))


def test_a_branch_that_constants_choose_is_taken():
    assert [layer.op for layer in workloads.from_torch(Branches(True), X).layers] == ["fc", "fc", "mul"]


def test_a_branch_that_numbers_choose_is_refused():
    with pytest.raises(NetworkError, match=r"node 'cond' \(torch.cond\) has a branch that the numbers of the inputs"):
        workloads.from_torch(Branches(False), X)


#: language models with states that are written step by step, as small as they go
STATES = {
    "RecurrentGemmaForCausalLM": {
        "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 128, "lru_width": 64,
        "num_key_value_heads": 1, "head_dim": 16, "vocab_size": 100,
    },
    "RwkvForCausalLM": {
        "hidden_size": 64, "num_hidden_layers": 2, "attention_hidden_size": 64, "intermediate_size": 128,
        "context_length": 64, "vocab_size": 100,
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", STATES)
def test_language_models_that_write_their_states_have_the_macs_of_torchs_counter(name):
    from benchmarks.architectures.language import _made
    from benchmarks.architectures.vision import _import
    from benchmarks.import_models import counted_macs

    pytest.importorskip("transformers")
    _import()
    module = _made(name, **STATES[name])
    arguments = {"input_ids": torch.zeros(1, 8, dtype=torch.int64), "use_cache": False}
    assert workloads.from_torch(module, arguments).macs == counted_macs(module, arguments)
