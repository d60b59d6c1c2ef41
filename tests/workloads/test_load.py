"""load, save and names: what a user of the package meets first."""

import subprocess
import sys
from pathlib import Path

import pytest

import workloads
from tests.helpers.packages import install_package
from workloads import NetworkError


@pytest.mark.parametrize("name", ["vgg16", "nasnet"])
def test_a_saved_network_is_loaded_equal_by_text_and_by_path(tmp_path, name):
    network = workloads.load(name)
    path = tmp_path / f"{name}.json"
    workloads.save(network, path)
    assert workloads.load(path) == network
    assert workloads.load(str(path)) == network


@pytest.mark.parametrize(
    ("name", "fragments"),
    [
        ("resnet5", ["'resnet5'", "did you mean 'resnet50'?", "vgg16, resnet50", "nasnet"]),
        ("ResNet50", ["did you mean 'resnet50'?"]),
        ("", ["''", "known are"]),
        ("zzz", ["'zzz'; known are vgg16"]),
        ("model.onnx", ["model.onnx", "cannot be read", "No such file"]),
        ("missing.json", ["missing.json", "cannot be read", "No such file"]),
        ("folder/resnet50", ["folder/resnet50", "suffix"]),
        (7, ["7", "a name or a path"]),
        (b"resnet50", ["a name or a path"]),
        (None, ["None"]),
    ],
)
def test_what_cannot_be_loaded_is_said_in_one_line(name, fragments):
    with pytest.raises(NetworkError) as error:
        workloads.load(name)
    message = str(error.value)
    assert "\n" not in message
    assert [fragment for fragment in fragments if fragment not in message] == []


def test_options_are_those_of_the_network(tmp_path):
    with pytest.raises(NetworkError, match="'vgg16' has no option 'version'; it has none"):
        workloads.load("vgg16", version="1")
    with pytest.raises(NetworkError, match="'resnet50' has no option 'seed'; it has version"):
        workloads.load("resnet50", seed=1)
    path = tmp_path / "net.json"
    workloads.save(workloads.load("vgg16"), path)
    with pytest.raises(NetworkError, match="no option 'version'; only built-in networks"):
        workloads.load(path, version="1")
    with pytest.raises(NetworkError, match="'tokens' has height 0"):
        workloads.load("gpt", length=0)


def test_importing_workloads_loads_nothing_heavy():
    root = Path(workloads.__file__).parents[1]
    code = "import sys, workloads; print(sorted({'networkx', 'yaml', 'numpy', 'pandas', 'deap'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


PACKAGE = """
from workloads import Builder

def my_net(width=16):
    b = Builder("my_net")
    b.conv("only", b.input("x", 8, 8, 8), width, 1)
    return b.build()

def my_mistake():
    return "a name"
"""


def test_networks_of_other_packages_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """By the entry points of what is installed; a built-in name stays what it is."""
    points = {"my_net": "my_net", "my_mistake": "my_mistake", "vgg16": "my_net"}
    install_package(tmp_path, monkeypatch, PACKAGE, networks=points)
    assert workloads.load("my_net", width=32).weight_bytes == 8 * 32
    assert workloads.load("vgg16").name == "vgg16"
    with pytest.raises(NetworkError, match="network 'my_net' has no option 'depth'; it has width"):
        workloads.load("my_net", depth=1)
    with pytest.raises(TypeError, match="network"):
        workloads.load("my_mistake")
