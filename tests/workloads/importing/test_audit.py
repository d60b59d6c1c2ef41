"""No computation may vanish: layers and operands that are lost on purpose, and what torch counts."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import replace

import pytest

import workloads
from cocco.cli import main
from tests.helpers.onnx_graphs import Graph
from workloads import NetworkError

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from workloads.importing.torch import module as reader  # noqa: E402
from workloads.importing.torch.audit import audited  # noqa: E402
from workloads.importing.torch.counting import counted_macs  # noqa: E402
from workloads.importing.torch.export import exported, taken_apart  # noqa: E402
from workloads.importing.torch.graph.functional import functional  # noqa: E402

#: architectures of which every layer is lost in turn, and of 40 nodes each what they make
MANY = (
    "alexnet resnet18 googlenet inception_v3 mobilenet_v2 mobilenet_v3_large mnasnet1_0 shufflenet_v2_x1_0 "
    "squeezenet1_1 efficientnet_b0 regnet_x_800mf densenet121 swin_t resnext50_32x4d timm.resmlp_12_224 "
    "timm.convnextv2_atto timm.poolformer_s12 timm.levit_128s timm.xcit_nano_12_p16_224 timm.edgenext_xx_small "
    "timm.efficientformer_l1 timm.fastvit_t8 timm.mobilevit_s timm.ghostnet_100 timm.pit_ti_224 timm.cait_xxs24_224 "
    "transformers.BertModel transformers.RobertaModel transformers.AlbertModel transformers.DistilBertModel "
    "transformers.ElectraModel transformers.DebertaV2Model transformers.MPNetModel transformers.ModernBertModel "
    "transformers.SqueezeBertModel transformers.GPT2LMHeadModel transformers.GPTNeoXForCausalLM "
    "transformers.OPTForCausalLM transformers.BloomForCausalLM transformers.FalconForCausalLM "
    "transformers.LlamaForCausalLM transformers.MistralForCausalLM transformers.Qwen2ForCausalLM "
    "transformers.Qwen3ForCausalLM transformers.GemmaForCausalLM transformers.Gemma2ForCausalLM "
    "transformers.Phi3ForCausalLM transformers.StableLmForCausalLM transformers.CohereForCausalLM "
    "transformers.GPTJForCausalLM transformers.MixtralForCausalLM transformers.Qwen2MoeForCausalLM "
    "transformers.DeepseekV2ForCausalLM transformers.OlmoForCausalLM transformers.MambaForCausalLM "
    "transformers.ViTModel transformers.BeitModel transformers.Dinov2Model transformers.ConvNextModel "
    "transformers.PoolFormerModel transformers.CLIPVisionModel transformers.T5Model transformers.BartModel "
    "transformers.DetrModel transformers.PerceiverModel diffusers.unet_plain"
).split()
#: operators whose planted loss may go unseen, at most FEW of a module: an order of rows, a part that is no tensor of
#: its own, a stored table that is added, a pool to the extents that are there
UNSEEN = ("index", "gather", "expand", "pad", "topk", "mean", "sum", "add", "adaptive_avg_pool2d")
FEW = 4


class Block(nn.Module):
    """A bit of everything: a stem, attention of fused projections, a gated product, places that are chosen."""

    def __init__(self):
        super().__init__()
        self.stem, self.pool = nn.Conv2d(3, 16, 3, padding=1), nn.MaxPool2d(2)
        self.norm, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)
        self.gate, self.wide = nn.Linear(16, 32), nn.Linear(16, 32)
        self.head = nn.Linear(32, 5)

    def forward(self, x):
        x = self.pool(self.stem(x)).flatten(2).transpose(1, 2)
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + self.out((q @ k.transpose(1, 2)).softmax(-1) @ v)
        wide = self.wide(x)
        wide[..., :8].mul_(self.gate(x)[..., 8:16])
        return self.head(torch.cat([wide[:, :8], wide[:, 8:].relu()], 1).mean(1))


class Lossy(reader._Reader):
    """Reads one node as its first operand."""

    lost = ""

    def _answer(self, call, node):
        answer, how = super()._answer(call, node)
        maps = [value for value in call.values() if not value.is_constant]
        if node.name != self.lost or not maps:
            return answer, how
        first = next((value for value in maps if value.shape == call.shape), maps[0])
        return ([first, *answer[1:]] if isinstance(answer, list) else first), how


def read(module, arguments):
    """Return the program, what a reader leaves behind, the network, and what torch counts."""
    counted = counted_macs(module.eval(), arguments)
    program = functional(exported(module, arguments, "module")[0])
    for _ in range(reader.MAX_ROUNDS):
        try:
            found = reader._Reader(program, "module", "error")
            return program, found.reading, found.read(counted), counted
        except reader._Unknown:
            program = taken_apart(program, reader.OPERATORS)
    raise AssertionError("unknown operators")


def without(network, lost):
    """The network without a layer, whose readers have its first input instead; nothing checks its shapes."""
    kept = [layer for layer in network.layers if layer is not lost]
    inputs = [tuple(lost.inputs[0] if name == lost.name else name for name in layer.inputs) for layer in kept]
    found = copy(network)
    layers = tuple(replace(layer, inputs=names) for layer, names in zip(kept, inputs))
    object.__setattr__(found, "layers", layers)
    return found


def lose_all(module, arguments, nodes=40):
    """Lose each layer, and what some nodes make; return how many losses there were, and the operators unseen."""
    program, reading, network, counted = read(module, arguments)
    for layer in network.layers:
        with pytest.raises(NetworkError, match="mistake of the reader|in no layer"):
            audited(without(network, layer), reading, counted)
    kept = set(reading.sketch.kept)
    makers = [node for node, names in reading.made.items() if kept & set(names)]
    unseen = []
    for node in makers[:: max(1, len(makers) // nodes)]:
        lossy = Lossy(program, "module", "error")
        lossy.lost = node.name
        try:
            found = lossy.read(counted)
        except NetworkError:
            continue
        if [(each.op, each.inputs) for each in found.layers] != [(each.op, each.inputs) for each in network.layers]:
            unseen.append(reader.operator_name(node.target))
    return len(network.layers), len(makers), unseen


def test_every_lost_layer_and_every_lost_operand_of_a_block_is_seen():
    layers, _, unseen = lose_all(Block(), (torch.zeros(1, 3, 8, 8),))
    assert layers > 15 and not unseen


@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_every_lost_layer_of_real_modules_is_seen(name):
    from benchmarks.architectures.cases import every

    case = every().get(name)
    if case is None:
        pytest.skip(f"the library of {name} is not installed")
    layers, _, unseen = lose_all(*case.make())
    assert layers and set(unseen) <= set(UNSEEN) and len(unseen) <= FEW


def notes(network, how):
    return [note.op for note in network.notes if note.how == how]


def test_a_saved_module_shows_what_was_counted(tmp_path, capsys):
    """Its MACs and weights next to those that torch counts, as of an ONNX file."""
    network = workloads.from_torch(Block(), torch.zeros(1, 3, 8, 8))
    workloads.save(network, tmp_path / "block.json")
    assert workloads.load(tmp_path / "block.json").notes == network.notes
    assert main(["show", str(tmp_path / "block.json")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{network.macs:,} of {network.macs:,} counted MACs" in shown
    assert main(["show", str(tmp_path / "block.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["notes"]
    assert [note["op"] for note in found if note["how"] == "counted"] == notes(network, "counted")


def test_what_torch_counts_is_in_the_notes():
    network = workloads.from_torch(Block(), torch.zeros(1, 3, 8, 8))
    weights = 16 * 27 + 16 * 64 + 2 * 16 * 32 + 32 * 5
    text = f"{network.macs:,} of {network.macs:,}"
    assert notes(network, "counted") == [f"{weights:,} of {weights:,} elements of stored matrices", text]


def test_products_that_no_layer_has_are_explained():
    class Folded(nn.Module):
        """A table that is the product of two, one projection that nothing reads, and places times frequencies."""

        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Parameter(torch.zeros(6, 2)), nn.Parameter(torch.zeros(2, 16))
            self.unread, self.out = nn.Linear(16, 3), nn.Linear(16, 16)
            self.register_buffer("rates", torch.zeros(1, 8, 1))

        def forward(self, x, places):
            self.unread(x)
            angles = (self.rates @ places[:, None].float()).transpose(1, 2)
            return self.out(x + self.a @ self.b) * torch.cat([angles.sin(), angles.cos()], -1)

    network = workloads.from_torch(Folded(), (torch.zeros(1, 6, 16), torch.arange(6)[None]))
    assert network.macs == 6 * 16 * 16
    found = notes(network, "not counted")
    assert sorted(text.split(" ", 1)[0] for text in found) == sorted([f"{6 * 2 * 16}", f"{6 * 16 * 3}", f"{6 * 8}"])
    assert notes(network, "counted")[1] == "1,536 of 2,064"


def test_a_difference_names_the_node_and_the_amounts():
    """One of two convolutions in groups, which have half of its MACs; its weights are in a layer all the same."""
    stack = nn.Sequential(nn.Conv2d(16, 4, 1), nn.Conv2d(4, 8, 1))
    _, reading, network, counted = read(stack, torch.zeros(1, 16, 3, 2))
    first, second = network.layers
    halved = replace(network, layers=(replace(first, groups=2), second))
    text = r"has 384 MACs where torch counts 576: node 'conv2d' \(aten.conv2d\) 384 in torch, 192 here; this is"
    with pytest.raises(NetworkError, match=text):
        audited(halved, reading, counted)
    lenient = audited(halved, reading, counted, is_lenient=True)
    assert "-192 of operators that were not understood" in notes(lenient, "not compared")


def test_modules_that_torch_cannot_run_without_numbers_are_said_to_be_uncounted(monkeypatch):
    monkeypatch.setattr(reader, "counted_macs", lambda *_: None)
    network = workloads.from_torch(nn.Linear(16, 4), torch.zeros(1, 6, 16))
    assert notes(network, "not compared") == ["torch cannot count it as it is, its exported graph was counted"]
    assert notes(network, "counted")[1] == "384 of 384"


def test_recurrent_layers_and_vectors_are_counted_too():
    class Steps(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps, self.last = nn.LSTM(16, 8, 2, batch_first=True, bidirectional=True), nn.Linear(16, 4)

        def forward(self, x):
            return self.last(self.steps(x)[0])

    network = workloads.from_torch(Steps(), torch.zeros(1, 6, 16))
    assert not notes(network, "not compared") and not notes(network, "not counted")
    assert network.macs == counted_macs(Steps(), torch.zeros(1, 6, 16)) > 0


def test_counting_leaves_the_module_as_it_was():
    module = nn.Sequential(nn.Linear(16, 4), nn.BatchNorm1d(6)).train()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    assert counted_macs(module, torch.zeros(1, 6, 16)) == 384 and module.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())


def test_a_product_of_a_column_and_a_row_keeps_both():
    class Outer(nn.Module):
        """A number for each channel times a number for each position."""

        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Conv2d(3, 8, 1), nn.Conv2d(3, 1, 1)

        def forward(self, x):
            return self.a(x).mean((2, 3), keepdim=True) * self.b(x)

    network = workloads.from_torch(Outer(), torch.zeros(1, 3, 8, 8))
    assert [layer.op for layer in network.layers] == ["conv", "avgpool", "conv", "rearrange", "mul"]


@pytest.mark.parametrize(
    ("places", "ops"),
    [
        ([[[0, 1], [0, 2]]], ["fc", "fc", "slice", "slice", "rearrange"]),  # rows 1 and 2 of 6: one piece
        ([[[0, 1], [0, 4], [0, 2]]], ["fc", "fc", "rearrange"]),  # in another order
    ],
)
def test_what_a_file_writes_at_constant_positions_is_read(tmp_path, places, ops):
    g = Graph()
    x, flat = g.input("x", 1, 6, 16), [number for place in places[0] for number in place]
    count = len(places[0])
    positions = g.numbers(*flat, shape=(1, count, 2))
    rows = g.node("MatMul", g.input("y", 1, count, 16), g.weight(16, 8))
    network = workloads.load(
        g.save(tmp_path, g.node("ScatterND", g.node("MatMul", x, g.weight(16, 8)), positions, rows))
    )
    assert [layer.op for layer in network.layers] == ops
    assert network.macs == (6 + count) * 16 * 8


def test_what_a_file_writes_where_an_input_says_is_refused(tmp_path):
    from onnx import TensorProto

    g = Graph()
    x, rows = g.input("x", 1, 6, 16), g.input("y", 1, 2, 16)
    places = g.input("places", 1, 2, 2, kind=TensorProto.INT64)
    path = g.save(tmp_path, g.node("ScatterND", g.node("MatMul", x, g.weight(16, 16)), places, rows))
    with pytest.raises(
        NetworkError, match="writes where the numbers of an input say; only constant positions are known"
    ):
        workloads.load(path)


def test_rows_that_are_added_to_a_product_are_no_weights_of_it():
    class Gates(nn.Module):
        def __init__(self):
            super().__init__()
            self.heads, self.rows = nn.Parameter(torch.zeros(4, 16, 8)), nn.Parameter(torch.zeros(4, 1, 8))

        def forward(self, x):
            return torch.baddbmm(self.rows, x.reshape(6, 4, 16).transpose(0, 1), self.heads)

    assert workloads.from_torch(Gates(), torch.zeros(1, 6, 64)).macs == 6 * 4 * 16 * 8


def test_weights_of_a_file_that_are_in_no_layer_are_an_error(tmp_path, monkeypatch):
    from workloads.importing.onnx.operators import table

    g = Graph()
    x = g.input("x", "N", 6, 16)
    path = g.save(tmp_path, g.node("Add", g.node("MatMul", x, g.weight(16, 4)), g.node("MatMul", x, g.weight(16, 4))))
    network = workloads.load(path)
    assert notes(network, "counted") == ["128 of 128 elements of stored matrices"]
    monkeypatch.setitem(table.OPERATORS, "Add", lambda call: call.value(0))
    with pytest.raises(NetworkError, match="in no layer|which node"):
        workloads.load(path)
