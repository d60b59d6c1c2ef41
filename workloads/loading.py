"""Loads and saves networks: built-in ones by name, others from files.

To add a built-in network, write a function of its name that returns a Network (see vgg.py) and list it in `_BUILT_IN`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

from workloads.errors import FileFormatError, NetworkError, shown
from workloads.files import read_mapping
from workloads.network.network import Network, check_network
from workloads.network.rewriting.in_blocks import Attention, attention_in_blocks
from workloads.others import NETWORKS, is_python, of_packages

#: name -> file of workloads/zoo that has its function. First those of Cocco in the order of Sec. 5.1.1 (plain,
#: multi-branch, irregular), then those of COSMA, Sec. V-A1, and at the end language models
_BUILT_IN = {
    "vgg16": "vgg",
    "resnet50": "resnet",
    "resnet152": "resnet",
    "googlenet": "googlenet",
    "transformer": "transformer",
    "gpt": "transformer",
    "randwire_a": "randwire",
    "randwire_b": "randwire",
    "nasnet": "nasnet",
    "densenet121": "densenet",
    "resnext50": "resnet",
    "vit_b16": "vit",
    "transformer_10_20": "transformer",
    "encoder_stack": "transformer",
    "fcn": "segmentation",
    "l_raspp": "segmentation",
    "deeplabv3": "segmentation",
    "s3d": "video",
    "r2plus1d": "video",
    "pnasnet5large": "pnasnet",
    "amoebanet_d": "amoebanet",
    "darts": "darts",
    "gpt2": "language",
    "llama3_8b": "language",
    "llama3_70b": "language",
    "qwen2_5_7b": "language",
    "mistral_7b": "language",
    "mixtral_8x7b": "language",
    "gemma2_9b": "language",
    "bert_base": "encoders",
    "whisper_tiny": "encoders",
}
#: the networks of Cocco's evaluation (Sec. 5.1.1), for experiments, benchmarks and tests about that paper
PAPER_NETWORKS = tuple(_BUILT_IN)[:9]
#: built-in networks with windows over time: whole-tensor scheduling takes them, the simulator gives them no price
CLIP_NETWORKS = ("s3d", "r2plus1d")
#: built-in language models: `length` tokens, decoders also a `phase` and `past` ones, the first `layers` of them
LANGUAGE_MODELS = tuple(_BUILT_IN)[-9:]


def names() -> tuple[str, ...]:
    """Return the names of the built-in networks.

    Returns
    -------
    tuple of str
        Those of Cocco's evaluation first (docs/networks.md).

    Examples
    --------
    >>> import workloads
    >>> workloads.names()[:3]
    ('vgg16', 'resnet50', 'resnet152')
    """
    return tuple(_BUILT_IN)


def load(name_or_path: str | os.PathLike[str], attention: Attention = "layers", **options: Any) -> Network:
    """Return a built-in network, or the one in a file (layer-graph/1, ONNX, or the config.json of a language model).

    Parameters
    ----------
    name_or_path : str or PathLike
        One of `names()`, or of the entry points "cocco.networks" of installed packages, or a path: what ends in .json,
        .onnx or .pt2 (torch.export.save) or has a path separator in it. Or model.py:make_model: a Network or
        torch.nn.Module of a file of yours, or a function in it that makes one; the file is imported.
    attention : {"layers", "blocks"}
        As the layers that it is made of, or each as one layer that runs in blocks (`attention_in_blocks`).
    **options
        Those of the network's function, such as `version="1.5"` or `phase="decode"`, `length=1`, `past=4096`,
        `layers=2` of a language model, or of the reader of ONNX files, such as `unsupported="passthrough"`
        (workloads.importing.onnx.file.read); of a module `inputs=[((1, 3, 224, 224), None)]`, shape and type of each
        argument, such as "int64" (None: as its parameters).

    Returns
    -------
    Network

    Raises
    ------
    NetworkError
        One line, for whatever cannot be loaded.

    Examples
    --------
    >>> import workloads
    >>> workloads.load("vgg16")
    Network(vgg16, 21 layers, 15,470,264,320 MACs, 138,344,128 B of weights)
    >>> workloads.load("llama3_8b", phase="decode", past=4096, layers=1)
    Network(llama3_8b_decode_past4096_layers1, 15 layers, 251,666,432 MACs, 218,103,808 B of weights)
    """
    if attention not in get_args(Attention):
        known = " or ".join(get_args(Attention))
        raise NetworkError(f"network {shown(name_or_path)} has attention {shown(attention)}; it must be {known}")
    network = _load(name_or_path, options)
    return attention_in_blocks(network) if attention == "blocks" else network


def _load(name_or_path: str | os.PathLike[str], options: dict[str, Any]) -> Network:
    try:
        source = os.fspath(name_or_path)
    except TypeError:
        source = None
    if not isinstance(source, str):
        raise NetworkError(f"a network is named by {shown(name_or_path)}; it must be a name or a path")
    if source in _BUILT_IN:
        return _build(source, getattr(import_module(f"workloads.zoo.{_BUILT_IN[source]}"), source), options)
    if source.lower().endswith(".onnx"):
        return _read_onnx(source, options)
    if source.lower().endswith(".pt2"):
        return _read_archive(source, options)
    if is_python(source):
        return _read_python(source, options)
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    if not source.lower().endswith(".json") and not any(separator in source for separator in separators):
        made = of_packages(NETWORKS, source)
        if made is not None:
            network = _build(source, made, options)
            check_network(network)
            return network
        close = get_close_matches(source.lower(), _BUILT_IN, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise NetworkError(
            f"unknown network {shown(source)}; {hint}known are {', '.join(_BUILT_IN)}, and paths of "
            ".json, .onnx and .pt2 files, and model.py:make_model"
        )
    try:
        return _of_mapping(source, read_mapping(source), options)
    except FileFormatError as error:
        raise NetworkError(str(error)) from None
    except NetworkError as error:
        raise NetworkError(f"{source}: {error}") from None


def _of_mapping(path: str, content: dict[str, Any], options: dict[str, Any]) -> Network:
    """Return the network that a file describes, or the step of the language model whose configuration it is."""
    from workloads.importing.layer_graph.files import decode
    from workloads.language.configuration import decoder_of, is_configuration
    from workloads.language.step import OPTIONS, step

    if is_configuration(content):
        for option in options:
            if option not in OPTIONS:
                raise NetworkError(f"takes no option {option!r}; a language model has {', '.join(OPTIONS)}, attention")
        name = Path(path).stem
        options = {"masks": "model"} | options
        return step(content["model_type"] if name == "config" else name, decoder_of(content), **options)
    if options:
        rule = "only built-in networks and configurations of language models take more than attention"
        raise NetworkError(f"takes no option {next(iter(options))!r}; {rule}")
    return decode(content)


def save(network: Network, path: str | os.PathLike[str]) -> None:
    """Write the network as a layer-graph/1 file (.json), atomically; `load` reads it back equal.

    Parameters
    ----------
    network : Network
        What to write.
    path : str or PathLike
        Of the file; a file that is there is replaced.

    Raises
    ------
    NetworkError
        The format has no form for it: a concat without a reader.
    OSError
        The folder does not exist or cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import workloads
    >>> network = workloads.load("googlenet")
    >>> with TemporaryDirectory() as folder:
    ...     workloads.save(network, Path(folder, "googlenet.json"))
    ...     workloads.load(Path(folder, "googlenet.json")) == network
    True
    """
    from workloads.importing.layer_graph.files import write

    check_network(network)
    write(network, path)


def from_torch(
    module: Any,
    example_inputs: Any,
    name: str | None = None,
    unsupported: Literal["error", "passthrough"] = "error",
    masks: Literal["model", "none"] = "model",
) -> Network:
    """Return the network of a PyTorch module, as torch.export sees it on these inputs (extra torch).

    Parameters
    ----------
    module : torch.nn.Module
        In evaluation mode.
    example_inputs : torch.Tensor, tuple of torch.Tensor, or mapping
        Arguments of its forward, batch 1; a mapping gives them by keyword.
    name : str, optional
        Of the network; the name of the module's class unless given.
    unsupported : {"error", "passthrough"}
        What becomes of an operator that is not known and keeps the shape of its input: an error, or it hands its
        input on (docs/importing.md).
    masks : {"model", "none"}
        Whether an attention computes the scores that its mask leaves, where that is made of positions alone, or all.

    Returns
    -------
    Network

    Raises
    ------
    NetworkError
        One line that names the node, the rule and the value.

    Examples
    --------
    >>> import torch, workloads  # doctest: +SKIP
    >>> workloads.from_torch(torch.nn.Conv2d(3, 8, 3), (torch.zeros(1, 3, 32, 32),))  # doctest: +SKIP
    Network(Conv2d, 1 layers, 194,400 MACs, 216 B of weights)
    """
    from workloads.importing.torch.module import read_module

    return read_module(module, example_inputs, name, unsupported, masks)


def _read_python(source: str, options: dict[str, Any]) -> Network:
    known = ("inputs", "unsupported", "masks")
    for option in options:
        if option not in known:
            raise NetworkError(f"{source}: takes no option {option!r}; a module has {', '.join(known)}, attention")
    from workloads.importing.torch.named import read_named

    return read_named(source, **options)


def _read_onnx(path: str, options: dict[str, Any]) -> Network:
    known = ("unsupported", "extents", "masks")
    for option in options:
        if option not in known:
            raise NetworkError(f"{path}: takes no option {option!r}; an ONNX file has {', '.join(known)}, attention")
    from workloads.importing.onnx.file import read

    return read(path, **options)


def _read_archive(path: str, options: dict[str, Any]) -> Network:
    known = ("unsupported", "masks")
    for option in options:
        if option not in known:
            raise NetworkError(f"{path}: takes no option {option!r}; a .pt2 file has {', '.join(known)}, attention")
    from workloads.importing.torch.module import read_exported

    return read_exported(path, **options)


def _build(name: str, build: Callable[..., Network], options: dict[str, Any]) -> Network:
    from inspect import signature

    known = signature(build).parameters
    for option in options:
        if option not in known:
            raise NetworkError(f"network {name!r} has no option {option!r}; it has {', '.join(known) or 'none'}")
    return build(**options)
