"""A network or module that a user's own file makes, named as model.py:make_model, or package.a:net."""

from __future__ import annotations

from collections.abc import Sequence

from workloads.errors import NetworkError, shown
from workloads.network.network import Network, check_network
from workloads.others import of_python

Argument = tuple[Sequence[int], str | None]  #: its shape, and its type; None: that of the module's parameters


def read_named(
    source: str, inputs: Sequence[Argument] = (), unsupported: str = "error", masks: str = "model"
) -> Network:
    """Return the network, or that of the module, that a name stands for: itself, or what it returns when it is called.

    The file is imported: its code runs. Raises NetworkError, one line, where it cannot be imported, has no such name,
    or makes neither, or where no input of a module is given.
    """
    module = of_python(source, error=NetworkError)
    if isinstance(module, Network):
        check_network(module)
        return module
    try:
        import torch
    except ImportError:
        raise NetworkError(f"{source}: reading it takes the package torch: pip install 'cocco[torch]'") from None
    if not isinstance(module, torch.nn.Module):
        rule = "it must be a workloads.Network or a torch.nn.Module, or a function that makes one"
        raise NetworkError(f"{source}: is {shown(module)}; {rule}")
    if not inputs:
        raise NetworkError(f"{source}: has no inputs; give the shape of each argument, as in --input 1,3,224,224")
    from workloads.importing.torch.module import read_module

    own = next((each.dtype for each in module.parameters() if each.is_floating_point()), torch.float32)
    given = tuple(torch.zeros(tuple(shape), dtype=getattr(torch, kind) if kind else own) for shape, kind in inputs)
    try:
        return read_module(module.eval(), given, None, unsupported, masks)
    except NetworkError as error:
        raise NetworkError(f"{source}: {error}") from None
