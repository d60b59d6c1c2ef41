"""ONNX files on the real command line: what is shown, and one line for every malformed one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.helpers.command_line import ENVIRONMENT, answer, assert_malformed, cocco
from tests.helpers.onnx_graphs import LIGHT, Graph, TensorProto, helper

pytestmark = pytest.mark.usefixtures("undrawn")


def plain(folder):
    """A convolution and its activation."""
    g = Graph()
    return g.save(folder, g.node("Relu", g.node("Conv", g.input("x", "N", 3, 16, 16), g.weight(8, 3, 3, 3))))


def test_show_lists_what_was_folded(tmp_path):
    shown = cocco("show", plain(tmp_path))
    assert shown.returncode == 0 and "Relu" in shown.stdout and "folded" in shown.stdout
    found = answer(cocco("show", plain(tmp_path), "--json"))
    folded = {"node": "relu1", "op": "Relu", "how": "folded", "weights": 0}
    assert [note for note in found["notes"] if note["how"] == "folded"] == [folded]
    assert (found["name"], found["macs"]) == ("model", 14 * 14 * 8 * 27)


def test_a_real_model_is_partitioned_and_verified(tmp_path):
    path = LIGHT / "light_squeezenet.onnx"
    done = cocco("partition", path, "--samples", 200, "-o", tmp_path / "plan.json", "--json")
    assert answer(done)["totals"]["ema_bytes"] > 0
    done = cocco("evaluate", path, "--partition", tmp_path / "plan.json", "--verify", "--json")
    assert answer(done)["verified"] is True


def test_what_is_passed_through_is_said(tmp_path):
    g = Graph()
    path = g.save(tmp_path, g.node("Odd", g.node("Conv", g.input("x", 1, 3, 8, 8), g.weight(8, 3, 3, 3))))
    assert_malformed(cocco("show", path), ["'odd1' (Odd)", "not understood", "--unsupported passthrough"])
    done = cocco("show", path, "--unsupported", "passthrough")
    assert done.returncode == 0 and "odd1 (Odd)" in done.stderr and "passed" in done.stdout


def broken_models(folder):
    """Yield (name, bytes, words of the message)."""
    good = plain(folder).read_bytes()
    yield "truncated", good[: len(good) // 2], ["is no ONNX model"]
    yield "text", b"this is no protobuf at all", ["is no ONNX model"]
    yield "empty", b"", ["is no ONNX model"]
    yield "picture", bytes(range(256)) * 8, ["is no ONNX model"]

    g = Graph()
    external = TensorProto(name="w", data_type=1, dims=(8, 3, 3, 3), data_location=TensorProto.EXTERNAL)
    external.external_data.add(key="location", value="../../etc/passwd")
    g.stored.append(external)
    model = g.model(g.node("Conv", g.input("x", 1, 3, 8, 8), "w"))
    yield "outside", model.SerializeToString(), ["initialiser 'w'", "'../../etc/passwd'", "leaves the folder"]
    for location in ("/etc/passwd", "C:\\data", "a/../../b"):
        model.graph.initializer[0].external_data[0].value = location
        yield f"at {location[:2]}", model.SerializeToString(), ["leaves the folder"]

    g = Graph()
    branch = helper.make_graph([], "then", [], [])
    out = g.node("If", g.input("x", 1, kind=TensorProto.BOOL), then_branch=branch, else_branch=branch)
    yield "control flow", g.model(out).SerializeToString(), ["'if0' (If)", "control flow"]

    g = Graph()
    out = g.node("MatMul", g.input("x", "batch", "length", 16), g.weight(16, 4))
    yield "dynamic", g.model(out).SerializeToString(), ["input 'x'", "unknown extent 'length'"]

    g = Graph()
    x = g.input("x", 1, 4, 8, 8)
    g.nodes += [
        helper.make_node("Add", [x, "b"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="second"),
    ]
    yield "cycle", g.model("b").SerializeToString(), ["'first' (Add)", "the graph has a cycle"]

    g = Graph()
    yield "undefined", g.model(g.node("Relu", "nowhere")).SerializeToString(), ["reads 'nowhere'"]

    g = Graph()
    out = g.node("Conv", g.input("x", 1, 3, 8, 8), g.weight(8, 4, 3, 3))
    yield "channels", g.model(out).SerializeToString(), ["3 channels", "[8, 4, 3, 3]"]


@pytest.mark.parametrize("position", range(13))
def test_every_malformed_model_is_one_line_and_exit_code_2(tmp_path, position):
    name, data, words = list(broken_models(tmp_path))[position]
    path = tmp_path / "broken.onnx"
    path.write_bytes(data)
    assert_malformed(cocco("show", path), ["broken.onnx", *words])


def test_a_model_of_two_gigabytes_is_refused_unread(tmp_path):
    path = tmp_path / "large.onnx"
    with open(path, "wb") as file:
        file.truncate(2**31)
    assert_malformed(cocco("show", path), ["large.onnx", "2147483648 bytes", "external data"])


def test_nothing_is_read_but_the_file_itself(tmp_path):
    """External data inside the folder is not missed when it is not there, and not opened when it is."""
    g = Graph()
    external = TensorProto(name="w", data_type=1, dims=(8, 3, 3, 3), data_location=TensorProto.EXTERNAL)
    external.external_data.add(key="location", value="weights.bin")
    g.stored.append(external)
    path = g.save(tmp_path, g.node("Conv", g.input("x", 1, 3, 8, 8), "w"))
    assert answer(cocco("show", path, "--json"))["weight_bytes"] == 216


@pytest.mark.parametrize(("package", "call"), [("onnx", "load('x.onnx')"), ("torch", "from_torch(None, None)")])
def test_a_missing_package_is_named_with_its_extra(tmp_path, package, call):
    code = f"import sys; sys.modules[{package!r}] = None; import workloads; workloads.{call}"
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False
    )
    last = done.stderr.strip().splitlines()[-1]
    assert "NetworkError" in last and f"pip install 'cocco[{package}]'" in last
