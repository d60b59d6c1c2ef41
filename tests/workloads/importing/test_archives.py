"""What torch.export.save wrote is read as the module itself; nothing in it is run, unpickled or evaluated."""

from __future__ import annotations

import json
import zipfile

import pytest

import workloads
from cocco.cli import main
from workloads import NetworkError

torch = pytest.importorskip("torch", reason="archives need torch: pip install 'cocco[torch]'")
from torch import nn  # noqa: E402


class Small(nn.Module):
    """Two convolutions, one of them twice, a buffer, an attention with its mask."""

    def __init__(self):
        super().__init__()
        self.first, self.again = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 1)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.register_buffer("table", torch.zeros(1, 64, 8))

    def forward(self, image):
        x = self.again(self.again(self.first(image)))
        return self.block(x.flatten(2).transpose(1, 2) + self.table)


def saved(folder, module, *inputs, **options):
    path = folder / "small.pt2"
    torch.export.save(torch.export.export(module.eval(), inputs, strict=False, **options), path)
    return path


def changed(path, change):
    """Write the archive again with another graph in it."""
    with zipfile.ZipFile(path) as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
    (name,) = (each for each in texts if "/models/" in each)
    texts[name] = change(texts[name].decode()).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for each, text in texts.items():
            archive.writestr(each, text)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_an_archive_is_the_module_in_its_types(tmp_path, kind):
    module, image = Small().to(kind), torch.zeros(1, 3, 8, 8, dtype=kind)
    network = workloads.load(saved(tmp_path, module, image))
    same = workloads.from_torch(module, image)
    assert (network.layers, network.inputs) == (same.layers, same.inputs)


def test_no_pickle_is_needed_and_no_numbers(tmp_path, capsys):
    """The archive without what is pickled in it, and without the numbers of its weights."""
    path = saved(tmp_path, nn.Conv2d(3, 8, 3), torch.zeros(1, 3, 8, 8))
    with zipfile.ZipFile(path) as archive:
        texts = {name: archive.read(name) for name in archive.namelist() if name.endswith(".json")}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    assert main(["show", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["macs"] == 36 * 8 * 27


@pytest.mark.parametrize("target", ["torch.load", "torch.ops.aten.from_file.default", "_operator.call", "#ext.call"])
def test_only_operators_of_torch_are_read(tmp_path, target):
    path = saved(tmp_path, nn.Conv2d(3, 8, 3), torch.zeros(1, 3, 8, 8))
    changed(path, lambda text: text.replace("torch.ops.aten.conv2d.default", target))
    with pytest.raises(NetworkError, match="only operators of torch are read"):
        workloads.load(path)


def test_symbolic_extents_are_not_evaluated(tmp_path):
    rows = torch.export.Dim("rows", min=2, max=64)
    path = saved(tmp_path, nn.Linear(3, 8), torch.zeros(1, 5, 3), dynamic_shapes=({1: rows},))
    with pytest.raises(NetworkError, match="has symbolic extents; export it with fixed shapes"):
        workloads.load(path)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04broken"])
def test_what_is_no_archive_is_said_in_one_line(tmp_path, content, capsys):
    path = tmp_path / "broken.pt2"
    path.write_bytes(content)
    assert main(["show", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/other.json", "{}")
    assert main(["show", str(path)]) == 2
    assert "has 0 files /models/*.json" in capsys.readouterr().err
