"""Read ONNX exports of real modules: by both exporters, with fixed and symbolic extents, quantised by onnxruntime.

    python -m benchmarks.import_exports [NAME ...] [--again] [--out FILE] [--files FOLDER]
    python -m benchmarks.import_exports --page [--out FILE]

The network of each file is compared with that of `from_torch`: MACs and weights. It takes torch, onnxscript and
onnxruntime. FILE has one JSON object per architecture; those that it has are left out unless --again. FOLDER keeps the
ONNX files, and those that are there are not made again. --page writes the table of docs/importing.md from FILE.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from inspect import Parameter, signature
from io import StringIO
from pathlib import Path
from typing import Any

import workloads
from benchmarks.architectures.cases import Case, every
from benchmarks.architectures.tables import HERE, PAGE, Row, on_page, read_rows
from benchmarks.import_models import write_rows

VAR = Parameter.VAR_POSITIONAL
REFERENCE = HERE / "exports.jsonl"
NAMES = (
    "resnet18", "mobilenet_v2", "shufflenet_v2_x1_0", "googlenet", "lraspp_mobilenet_v3_large", "timm.convnextv2_atto",
    "timm.vit_tiny_patch16_224", "timm.poolformer_s12", "timm.mobilevit_xs", "transformers.BertModel",
    "transformers.DistilBertModel", "transformers.GPT2LMHeadModel", "transformers.LlamaForCausalLM",
    "transformers.LlamaForCausalLM decode", "diffusers.unet_plain",
)  # fmt: skip
#: exporter and opset, and whether extents are symbolic
FORMS = {
    "torchscript 13": (False, 13, False),
    "torchscript 17": (False, 17, True),
    "dynamo 18": (True, 18, False),
    "dynamo 23": (True, 23, False),
    "dynamo 21": (True, 21, True),  # last: where it fails, the exporter fails ever after
}
FIXED = (13, 18)  #: opsets of the exports that are quantised, the first that there is
QUANTIZED = ("int8, dynamic", "int8, QDQ", "int8, QOperator")


def answer_of(case: Case, files: Path | None = None) -> Row:
    """Return what became of each export of one architecture, as plain data; files: a folder that keeps them."""
    module, arguments = case.make()
    told_apart(module.eval())
    network = workloads.from_torch(module, arguments, case.name, masks="none")
    found: Row = {"library": case.library, "name": case.name, "macs": network.macs, "weights": network.weight_bytes}
    with tempfile.TemporaryDirectory() as scratch:
        folder = files / case.name if files else Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for form, (is_dynamo, opset, is_symbolic) in FORMS.items():
            path, extents = folder / f"{opset}.onnx", symbolic(arguments) if is_symbolic else {}
            found[form] = _read(path, partial(export, module, arguments, path, is_dynamo, opset, extents), arguments)
        source = next((path for opset in FIXED if (path := folder / f"{opset}.onnx").exists()), folder)
        for form in QUANTIZED:
            path = folder / f"{form}.onnx"
            found[form] = _read(path, partial(quantized, source, path, form, arguments), arguments)
    return found


def told_apart(module: Any) -> None:
    """Give each bias numbers of its own: exporters store equal ones once, and the quantizer loses the second."""
    import torch

    numbers = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for each in module.parameters():
            if each.ndim == 1:
                each.add_(torch.rand(each.shape, generator=numbers))


def _read(path: Path, make: Callable[[], object], arguments: Any) -> Row:
    """Make a file and read it, with the extents that its symbols stand for."""
    started = time.process_time()
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            if not path.exists():
                make()
    except Exception as error:  # whatever an exporter says
        return {"status": "not made", "why": f"{type(error).__name__}: {error}"[:300]}
    made = time.process_time() - started
    try:
        network = workloads.load(path, extents=sizes(path, arguments), masks="none")
    except workloads.NetworkError as error:
        return {"status": "refused", "why": str(error).split(": ", 1)[-1][:300]}
    seconds = time.process_time() - started - made
    counts = {"layers": len(network.layers), "macs": network.macs, "weights": network.weight_bytes}
    return {"status": "loaded", **counts, "seconds": round(seconds, 2), "made_seconds": round(made, 1)}


def sizes(path: Path, arguments: Any) -> dict[str, int]:
    """Return the symbolic extents of the inputs of a file as the arguments have them, but for the batch."""
    import onnx

    values = arguments.values() if isinstance(arguments, dict) else arguments
    shapes = [value.shape for value in values if hasattr(value, "shape")]
    found = {}
    for info, shape in zip(onnx.load(str(path), load_external_data=False).graph.input, shapes):
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            if axis and dim.dim_param:
                found[dim.dim_param] = int(shape[axis])
    return found


def symbolic(arguments: Any) -> dict[str, dict[int, str]]:
    """Return names of extents by argument and axis: the batch, and all that are no channels."""
    import torch

    pairs = arguments.items() if isinstance(arguments, dict) else enumerate(arguments)
    found = {}
    for key, value in pairs:
        if isinstance(value, torch.Tensor) and value.ndim > 1:
            axes = {2: [1], 3: [1], 4: [2, 3]}.get(value.ndim, [])
            axes = [2] if value.ndim == 4 and value.shape[1] == 2 else axes  # a cache: [1, heads, rows, features]
            found[str(key)] = {0: "batch"} | {axis: f"extent_{key}_{axis}" for axis in axes}
    return found


def export(
    module: Any, arguments: Any, path: Path, is_dynamo: bool, opset: int, extents: dict[str, dict[int, str]]
) -> None:
    """Write an ONNX file by one of torch's exporters."""
    import torch

    keywords = arguments if isinstance(arguments, dict) else {}
    given = () if isinstance(arguments, dict) else tuple(arguments)
    names = [str(key) for key in keywords] or [f"x{i}" for i in range(len(given))]
    options: dict[str, Any] = {"opset_version": opset, "dynamo": is_dynamo, "verbose": False}
    if not is_dynamo:
        tensors = [name for name, value in zip(names, [*keywords.values(), *given]) if hasattr(value, "shape")]
        options |= {"input_names": tensors}
        options |= {"dynamic_axes": {names[int(k)] if k.isdigit() else k: v for k, v in extents.items()}}
        if keywords:
            module, given, keywords = _by_place(module, keywords)
    elif extents:
        wanted = {key: {axis: torch.export.Dim.DYNAMIC for axis in axes if axis} for key, axes in extents.items()}
        if keywords:
            options["dynamic_shapes"] = {key: wanted.get(key) for key in keywords}
        else:
            shapes = [wanted.get(str(i)) for i in range(len(given))]
            many = (
                [p.kind for p in signature(module.forward).parameters.values()].index(VAR) if _takes_any(module) else 0
            )
            options["dynamic_shapes"] = (*shapes[:many], tuple(shapes[many:])) if many else tuple(shapes)
    with torch.no_grad():
        torch.onnx.export(module, given, str(path), kwargs=keywords, **options)


def _by_place(module: Any, keywords: dict[str, Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The module with its tensors as arguments by place, which is all that the older exporter takes."""
    import torch

    tensors = {key: value for key, value in keywords.items() if isinstance(value, torch.Tensor)}

    class Call(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *given: Any) -> Any:
            made = self.module(**keywords | dict(zip(tensors, given)))
            made = list(made.values()) if isinstance(made, dict) else made
            return tuple(each for each in made if isinstance(each, torch.Tensor))

    return Call().eval(), tuple(tensors.values()), {}


def _takes_any(module: Any) -> bool:
    """Whether a module takes any number of arguments, such as caches."""
    return any(each.kind is VAR for each in signature(module.forward).parameters.values())


def quantized(source: Path, path: Path, form: str, arguments: Any) -> None:
    """Write an ONNX file with int8 weights by onnxruntime's quantizer."""
    from onnxruntime import InferenceSession, quantization

    if form == "int8, dynamic":
        quantization.quantize_dynamic(source, path)
        return
    inputs = InferenceSession(str(source)).get_inputs()
    values = arguments.values() if isinstance(arguments, dict) else arguments
    tensors = [value.numpy() for value in values if hasattr(value, "numpy")]

    class Once(quantization.CalibrationDataReader):  # type: ignore[misc]
        left = [{each.name: tensor for each, tensor in zip(inputs, tensors)}]

        def get_next(self) -> dict[str, Any] | None:
            return self.left.pop() if self.left else None

    kind = quantization.QuantFormat.QDQ if form.endswith("QDQ") else quantization.QuantFormat.QOperator
    quantization.quantize_static(source, path, Once(), quant_format=kind)


def main() -> None:
    """Export and read the architectures that the words name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*")
    parser.add_argument("--out", metavar="FILE", type=Path, default=REFERENCE)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--files", metavar="FOLDER", type=Path)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    rows = read_rows(options.out)
    if options.page:
        PAGE.write_text(on_page(PAGE.read_text(encoding="utf-8"), "exports", list(rows.values())), "utf-8")
        return
    cases = every()
    for name in NAMES:
        if options.names and not any(word in name for word in options.names) or name not in cases:
            continue
        if options.again or name not in rows:
            rows[name] = answer_of(cases[name], options.files)
            print(json.dumps(rows[name]), flush=True)
            write_rows(options.out, rows)


if __name__ == "__main__":
    main()
