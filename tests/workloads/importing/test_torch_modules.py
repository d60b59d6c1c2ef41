"""Modules of PyTorch through torch.export; skipped where torch is not installed."""

from __future__ import annotations

import pytest

import workloads
from workloads import NetworkError

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402


def ops(network):
    return [layer.op for layer in network.layers]


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(8, 8, 3, padding=1, dilation=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding="same")
        )

    def forward(self, x):
        return functional.gelu(self.body(x) + x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.deep = nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.up = nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1)
        self.out = nn.Conv2d(4 + 3 + 8, 2, 1)

    def forward(self, x):
        y = self.deep(self.down(x))
        wide = functional.interpolate(y, scale_factor=2, mode="bilinear")
        return self.out(torch.cat([self.up(y), wide, x], 1))


class Attention(nn.Module):
    """Fused projections, a causal mask and a table of positions that are buffers."""

    def __init__(self, features=16, heads=4, length=6):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(features, 3 * features), nn.Linear(features, features)
        self.norm = nn.LayerNorm(features)
        self.places = nn.Parameter(torch.zeros(1, length, features))
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def forward(self, x):
        x = x + self.places
        batch, length, features = x.shape
        parts = self.qkv(self.norm(x)).reshape(batch, length, 3, self.heads, features // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-2, -1) * 0.5 + self.mask).softmax(-1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, features))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 16)
        self.block = Attention()

    def forward(self, tokens):
        return self.block(self.table(tokens))


def test_a_residual_block_has_its_sum_and_its_convolutions():
    network = workloads.from_torch(Residual(), torch.zeros(1, 8, 10, 12))
    assert ops(network) == ["conv", "conv", "add"]
    assert [layer.name for layer in network.layers][:2] == ["body.0", "body.3"]
    assert network.name == "Residual" and network.weight_bytes == 2 * 9 * 64
    assert {note.op for note in network.notes if note.how == "folded"} == {"aten.batch_norm", "aten.relu", "aten.gelu"}


def test_a_u_net_dilates_spreads_resizes_and_joins():
    network = workloads.from_torch(UNet(), (torch.zeros(1, 3, 16, 16),), name="unet")
    found = {layer.name: layer for layer in network.layers}
    assert sorted(ops(network)) == ["conv", "conv", "conv", "conv_transpose", "resize"]
    assert found["deep"].dilation == (2, 2) and found["up"].upsample == (2, 2)
    assert (found["up"].height, found["up"].macs) == (16, 64 * 16 * 32)
    assert found["out"].in_channels == 15 and len(found["out"].inputs) == 3


def test_fused_projections_are_one_layer_each_and_masks_are_constants():
    network = workloads.from_torch(Attention(), torch.zeros(1, 6, 16))
    assert ops(network) == ["add", "layernorm", "fc", "fc", "fc", "matmul", "softmax", "matmul", "fc", "add"]
    assert [tensor.name for tensor in network.inputs] == ["x", "places"]  # the mask is no input
    assert network.weight_bytes == 4 * 16 * 16 and network.macs == 6 * 4 * 256 + 2 * (6 * 7 // 2) * 16  # causal


def test_an_embedding_is_a_model_input():
    network = workloads.from_torch(Words(), torch.zeros(1, 6, dtype=torch.int64))
    assert [(t.height, t.width, t.channels) for t in network.inputs] == [(6, 1, 16), (6, 1, 16)]  # words, places
    assert network.weight_bytes == 4 * 16 * 16


def test_scaled_dot_product_attention_has_all_its_layers():
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
    network = workloads.from_torch(layer, torch.zeros(1, 5, 32))
    assert sorted(ops(network)) == sorted(
        ["layernorm"] * 2 + ["fc"] * 6 + ["matmul", "softmax", "matmul", "add", "add"]
    )


def test_what_is_not_understood_is_named_or_handed_on():
    class Odd(nn.Module):
        def forward(self, x):
            return functional.conv2d(torch.special.i0(x), torch.zeros(4, 3, 1, 1))

    with pytest.raises(NetworkError, match=r"'Odd': node 'special_i0' \(aten.special_i0\): is not understood"):
        workloads.from_torch(Odd(), torch.zeros(1, 3, 8, 8))
    network = workloads.from_torch(Odd(), torch.zeros(1, 3, 8, 8), unsupported="passthrough")
    assert [note.how for note in network.notes if "count" not in note.how] == ["passed"]


@pytest.mark.parametrize(
    ("module", "inputs", "words"),
    [
        ("text", None, "must be a torch.nn.Module"),
        (nn.Softmax(0), torch.zeros(2, 3, 4), "has batch 2, of which one cannot be taken apart"),
        (nn.Linear(3, 4), torch.zeros(1, 5), "cannot be exported"),
        (nn.ConvTranspose3d(1, 1, 3), torch.zeros(1, 1, 4, 4, 4), "transposed convolution over time"),
    ],
)
def test_what_cannot_be_imported_is_said_in_one_line(module, inputs, words):
    with pytest.raises(NetworkError, match=words) as error:
        workloads.from_torch(module, inputs)
    assert "\n" not in str(error.value)


#: million parameters and GMAC, published in timm's and torchvision's tables; what our count leaves out of the
#: parameters: batch and layer norms, biases, class token, table of positions
TIMM = [
    ("resnet50", 224, 25.557, 4.09), ("densenet121", 224, 7.979, 2.87), ("nasnetalarge", 331, 88.753, 23.89),
    ("vit_base_patch16_224", 224, 86.568, 17.58),
]  # fmt: skip

BUILT_IN = {"densenet121": "densenet121", "nasnetalarge": "nasnet", "vit_base_patch16_224": "vit_b16"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "extent", "parameters", "macs"), TIMM)
def test_models_of_timm_have_the_published_counts(name, extent, parameters, macs):
    timm = pytest.importorskip("timm")
    model = timm.create_model(name, pretrained=False)
    network = workloads.from_torch(model, torch.zeros(1, 3, extent, extent), name)
    tables = ("pos_embed", "cls_token")
    dense = sum(p.numel() for key, p in model.named_parameters() if p.ndim > 1 and key not in tables)
    assert network.weight_bytes == dense  # to the weight
    assert network.weight_bytes / 1e6 == pytest.approx(parameters, rel=0.011)  # densenet121: 1.05 % are norms
    assert network.macs / 1e9 == pytest.approx(macs, rel=0.015)  # densenet121: its table counts norms and pools
    if name in BUILT_IN:
        known = workloads.load(BUILT_IN[name])
        token = 768 * 768 if name.startswith("vit") else 0  # the built-in one multiplies its class token, too
        assert (network.macs + token, network.weight_bytes) == (known.macs, known.weight_bytes)


@pytest.mark.slow
def test_timms_resnet50_is_the_built_in_one():
    timm = pytest.importorskip("timm")
    found = workloads.from_torch(timm.create_model("resnet50", pretrained=False), torch.zeros(1, 3, 224, 224))
    known = workloads.load("resnet50", version="1.5")
    kinds = [
        sorted((layer.op, layer.height, layer.channels, layer.kernel, layer.macs) for layer in network.layers)
        for network in (found, known)
    ]
    assert kinds[0] == kinds[1]
