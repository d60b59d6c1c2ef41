"""Modules of a user's own file: model.py:make_model, imported and traced; and the types of 16 bits."""

import pytest

import workloads
from tests.helpers.command_line import answer, assert_malformed, cocco
from workloads import NetworkError

pytest.importorskip("torch")

MODEL = """
import torch
from beside import WIDTH

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, WIDTH, 3)

    def forward(self, x):
        return self.conv(x)

def make():
    return Net()

def half():
    return Net().to(torch.bfloat16)

def broken():
    raise ValueError("two\\nlines")

net = Net()
number = 7
"""
INPUT = ((1, 3, 10, 10), None)


@pytest.fixture
def model(tmp_path):
    (tmp_path / "beside.py").write_text("WIDTH = 16\n", encoding="utf-8")
    (tmp_path / "own_model.py").write_text(MODEL, encoding="utf-8")
    return tmp_path / "own_model.py"


@pytest.mark.parametrize("name", ["make", "Net", "net"])
def test_a_function_a_class_and_a_module_are_the_same_network(model, name):
    network = workloads.load(f"{model}:{name}", inputs=[INPUT])
    assert (network.name, network.macs, network.weight_bytes) == ("Net", 8 * 8 * 27 * 16, 27 * 16)


def test_16_bits_are_priced_as_such(model):
    network = workloads.load(f"{model}:half", inputs=[INPUT])
    assert network.weight_bytes == 2 * 27 * 16
    types = network.number_types()
    assert types["weights"] == types["activations"] == ("bf16",)
    assert network.retyped({"weights": 8}).weight_bytes == 27 * 16


def test_the_command_line_imports_it(model):
    shown = answer(cocco("show", "own_model.py:make", "--input", "1,3,10,10", "--json", folder=model.parent))
    assert shown["macs"] == 8 * 8 * 27 * 16
    assert answer(cocco("show", "own_model:net", "--input", "1,3,10,10", "--json", folder=model.parent)) == shown
    typed = answer(cocco("show", "own_model.py:half", "--input", "1,3,10,10", "--json", folder=model.parent))
    assert typed["numbers"]["weights"] == ["bf16"]
    asked = ("own_model.py:make", "--input", "1,3,10,10", "--samples", 50)
    cocco("explore", *asked, "-o", "run", folder=model.parent)
    assert "Verified" in cocco("evaluate", "run", "--verify", folder=model.parent).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["own_model.py:make"], ["own_model.py:make: has no inputs", "--input 1,3,224,224"]),
        (["own_model.py:mak", "--input", "1,3,10,10"], ["has no 'mak'; it has ", "make"]),
        (
            ["own_model.py:number", "--input", "1,3,10,10"],
            ["is 7; it must be a workloads.Network or a torch.nn.Module"],
        ),
        (["own_model.py:broken", "--input", "1,3,10,10"], ["raises ValueError: two lines"]),
        (["none.py:make", "--input", "1,3,10,10"], ["none.py is not there"]),
        (["own_model.py:make", "--input", "1,3,x"], ["1,3,224,224 or 1,128:int64", "'1,3,x'"]),
        (["own_model.py:make", "--input", "1,3,10,10", "--past", "3"], ["takes no option 'past'"]),
        (["vgg16", "--input", "1,3,10,10"], ["vgg16: takes no --input"]),
    ],
)
def test_what_is_wrong_is_one_line(model, words, said):
    assert_malformed(cocco("show", *words, folder=model.parent), said)


def test_options_of_a_module(model):
    with pytest.raises(NetworkError, match="takes no option 'phase'; a module has inputs, unsupported"):
        workloads.load(f"{model}:make", phase="decode")
