"""What is computed: Layer, Tensor, Network. Plain frozen data, checked once when built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from workloads.display import html
from workloads.errors import NetworkError, check_type, shown
from workloads.network.layers.kinds import check_input, check_shared
from workloads.network.layers.layer import Concat, Layer, Note, Tensor
from workloads.network.layers.ops import OPS, WINDOW_OPS
from workloads.network.layers.shapes import Shape, check_layer, check_name, check_tensor
from workloads.network.layers.types import INT8, KINDS, Bits, Experts, Number, bits_of

if TYPE_CHECKING:
    import networkx
    import pandas


INT8_NUMBER = Number()


@dataclass(frozen=True)
class Network:
    """A checked DAG of layers in topological order. Tensor ids: layer i is i, model input j is len(layers) + j.

    Raises
    ------
    NetworkError
        A name repeats, an input is unknown, a layer comes before its input, or the shape of a layer does not follow
        from those of its inputs.

    Examples
    --------
    >>> import workloads
    >>> network = workloads.load("resnet50")
    >>> network
    Network(resnet50, 72 layers, 3,857,973,248 MACs, 25,502,912 B of weights)
    >>> print(network.summary())
    resnet50: 72 layers (53 conv, 16 add, 1 maxpool, 1 avgpool, 1 fc), 87 edges
      inputs   image 224x224x3
      MACs     3,857,973,248
      weights  25,502,912 B
    >>> network.to_frame().loc[:2, ["layer", "op", "height", "width", "channels", "macs"]]
        layer       op  height  width  channels       macs
    0   conv1     conv     112    112        64  118013952
    1   pool1  maxpool      56     56        64          0
    2  s1b1_a     conv      56     56        64   12845056
    """

    name: str
    inputs: tuple[Tensor, ...]  #: of the model, each a tensor in DRAM
    layers: tuple[Layer, ...]
    concats: tuple[Concat, ...] = field(default=())  #: that are no layers, where they stood
    notes: tuple[Note, ...] = field(default=(), compare=False, repr=False)  #: for people, where it was imported

    def __post_init__(self) -> None:
        check_name("a network", self.name)
        if not self.layers:
            raise NetworkError(f"network {self.name!r} has no layers; it needs at least one")
        shapes: dict[str, Shape] = {}
        for tensor in self.inputs:
            _check_new("model input", tensor.name, shapes)
            shape = (tensor.height, tensor.width, tensor.channels)
            check_tensor(tensor.name, shape)
            check_input(tensor)
            shapes[tensor.name] = shape
        for layer in self.layers:
            _check_new("layer", layer.name, shapes)
            if type(layer.op) is not str or layer.op not in OPS:
                raise NetworkError(
                    f"layer {layer.name!r} has unknown op {shown(layer.op)}; known are {', '.join(sorted(OPS))}"
                )
            if type(layer.inputs) is not tuple or not layer.inputs:
                raise NetworkError(f"layer {layer.name!r} has inputs {shown(layer.inputs)}; it needs a tuple of names")
            try:
                operands = [shapes[producer] for producer in layer.inputs]
            except (KeyError, TypeError):
                raise self._unknown_input(layer, shapes) from None
            check_layer(layer, operands)
            shapes[layer.name] = (layer.height, layer.width, layer.channels)
        check_shared(self.layers)
        if self.concats:
            self._check_concats()

    def __repr__(self) -> str:
        return (
            f"Network({self.name}, {len(self.layers)} layers, {self.macs:,} MACs, {self.weight_bytes:,} B of weights)"
        )

    def _repr_html_(self) -> str:
        return html(self.summary(), self.to_frame())

    def summary(self) -> str:
        """Return a few lines of text: layers by operator, edges, MACs and bytes of one sample."""
        counts = Counter(layer.op for layer in self.layers)
        ops = ", ".join(f"{count} {op}" for op, count in counts.most_common())
        sources = ", ".join(f"{each.name} {each.height}x{each.width}x{each.channels}" for each in self.inputs)
        return "\n".join([
            f"{self.name}: {len(self.layers)} layers ({ops}), {self.edges} edges",
            f"  inputs   {sources}",
            f"  MACs     {self.macs:,}",
            f"  weights  {self.weight_bytes:,} B",
        ])  # fmt: skip

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per layer: name, operator, inputs joined by spaces, shapes, MACs and bytes of one sample."""
        import pandas

        return pandas.DataFrame([
            {
                "layer": layer.name, "op": layer.op, "inputs": " ".join(layer.inputs),
                "height": layer.height, "width": layer.width, "channels": layer.channels,
                "kernel_rows": layer.kernel[0], "kernel_columns": layer.kernel[1],
                "stride_rows": layer.stride[0], "stride_columns": layer.stride[1], "groups": layer.groups,
                "macs": layer.macs, "weight_bytes": layer.weight_bytes, "output_bytes": layer.size_bytes,
            }
            for layer in self.layers
        ])  # fmt: skip

    def to_networkx(self) -> networkx.DiGraph[str]:
        """Return the graph of model inputs and layers, by name, for tools of networkx.

        Returns
        -------
        networkx.DiGraph
            Nodes have the fields of `Layer` as attributes, model inputs those of `Tensor` and op "input"; edges have
            `operands`, the places among the operands of the reader. `graph.graph` has the name, and the concats that
            are not layers.

        Examples
        --------
        >>> import networkx, workloads
        >>> graph = workloads.load("resnet50").to_networkx()
        >>> networkx.dag_longest_path_length(graph), graph.nodes["conv1"]["kernel"]
        (68, (7, 7))
        >>> workloads.Network.from_networkx(graph) == workloads.load("resnet50")
        True
        """
        from workloads.network.graphs import to_graph

        return to_graph(self.name, self.inputs, self.layers, self.concats)

    @staticmethod
    def from_networkx(graph: networkx.DiGraph[str]) -> Network:
        """Return the network of a graph in the form of `to_networkx`, whether changed or made by hand.

        The layers are in the topological order closest to that of the nodes. Without `operands` on the edges into a
        layer, the edges are in operand order. Other attributes are ignored.

        Raises
        ------
        NetworkError
            One line: a cycle, a missing attribute, places of operands that repeat or are missing, or what Network
            itself refuses.

        Examples
        --------
        >>> import networkx
        >>> from workloads import Network
        >>> graph = networkx.DiGraph(name="one")
        >>> graph.add_node("x", op="input", height=8, width=8, channels=16)
        >>> graph.add_node("a", op="conv", height=8, width=8, channels=32, in_channels=16)
        >>> graph.add_edge("x", "a")
        >>> Network.from_networkx(graph).layers
        (Layer(a: conv of x, 8x8x32),)
        """
        from workloads.network.graphs import parts_of

        return Network(*parts_of(graph))

    def __getstate__(self) -> dict[str, object]:
        """The fields alone, for pickle and copy; everything derived from them is derived again."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def _unknown_input(self, layer: Layer, defined: Mapping[str, Shape]) -> NetworkError:
        producer = next(name for name in layer.inputs if type(name) is not str or name not in defined)
        if producer not in [other.name for other in self.layers]:
            return NetworkError(
                f"layer {layer.name!r} reads {shown(producer)}, which is neither a layer nor a model input"
            )
        return NetworkError(
            f"layer {layer.name!r} reads {producer!r}, which is not defined before it; "
            "the order must be topological, and a cycle has none"
        )

    def _check_concats(self) -> None:
        known = {tensor.name: 0 for tensor in self.inputs}
        known.update((layer.name, i + 1) for i, layer in enumerate(self.layers))
        position = 0
        for concat in self.concats:
            _check_new("concat", concat.name, known)
            if type(concat.position) is not int or not position <= concat.position <= len(self.layers):
                raise NetworkError(
                    f"concat {concat.name!r} has position {concat.position}; positions must not descend, "
                    f"from {position} to {len(self.layers)}"
                )
            position = concat.position
            if type(concat.inputs) is not tuple or not concat.inputs:
                raise NetworkError(
                    f"concat {concat.name!r} has inputs {shown(concat.inputs)}; it needs a tuple of names"
                )
            for name in concat.inputs:
                if known.get(name, len(self.layers) + 1) > position:
                    raise NetworkError(
                        f"concat {concat.name!r} at position {position} reads {shown(name)}, "
                        "which is not defined before it"
                    )
            known[concat.name] = position

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Tensor id of each layer and model input, by name."""
        names = [layer.name for layer in self.layers] + [tensor.name for tensor in self.inputs]
        return MappingProxyType({name: i for i, name in enumerate(names)})

    @cached_property
    def first_with(self) -> tuple[int, ...]:
        """Per layer the first one that has the same weights: as a rule itself."""
        found: dict[str, int] = {}
        return tuple(found.setdefault(each.shared, v) if each.shared else v for v, each in enumerate(self.layers))

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor by id: outputs of the layers, then the model inputs."""
        return tuple(layer.output for layer in self.layers) + self.inputs

    @cached_property
    def operands(self) -> tuple[tuple[int, ...], ...]:
        """Per layer the tensor ids of its operands, in operand order (a tensor may repeat)."""
        return tuple(tuple(self.index[name] for name in layer.inputs) for layer in self.layers)

    @cached_property
    def producers(self) -> tuple[tuple[int, ...], ...]:
        """Per layer the distinct tensor ids it reads, in operand order."""
        return tuple(tuple(dict.fromkeys(ids)) for ids in self.operands)

    @cached_property
    def consumers(self) -> tuple[tuple[int, ...], ...]:
        """Per tensor id the layers that read it, each once, ascending."""
        readers: list[list[int]] = [[] for _ in self.tensors]
        for layer, producers in enumerate(self.producers):
            for tensor in producers:
                readers[tensor].append(layer)
        return tuple(map(tuple, readers))

    @cached_property
    def siblings(self) -> tuple[tuple[int, ...], ...]:
        """Sets of two or more layers that read the same tensor, or whose channels one layer reads as a concatenation.

        Only the largest sets: none lies within another. A layer that reads the channels of several producers one after
        the other reads a concatenation; the operands of an addition or a product are none.

        Examples
        --------
        >>> import workloads
        >>> network = workloads.load("googlenet")
        >>> [network.names(each) for each in network.siblings[1:3]]
        [('inception_3a_1x1', 'inception_3a_3x3_reduce', 'inception_3a_5x5_reduce', 'inception_3a_pool'),
         ('inception_3a_1x1', 'inception_3a_3x3', 'inception_3a_5x5', 'inception_3a_pool_proj')]
        """
        count = len(self.layers)
        read = [readers for readers in self.consumers if len(readers) > 1]
        for layer, producers in zip(self.layers, self.producers):
            if layer.op in WINDOW_OPS:
                read.append(tuple(sorted(p for p in producers if p < count)))
        return _largest(dict.fromkeys(read))

    @cached_property
    def siblings_of(self) -> tuple[tuple[int, ...], ...]:
        """Per layer the positions in `siblings` of the sets that have it."""
        found: list[list[int]] = [[] for _ in self.layers]
        for i, layers in enumerate(self.siblings):
            for v in layers:
                found[v].append(i)
        return tuple(map(tuple, found))

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """Layers that go to DRAM in any case: those without readers, and rows appended to a cache."""
        return tuple(i for i, layer in enumerate(self.layers) if layer.appended or not self.consumers[i])

    @cached_property
    def is_output(self) -> tuple[bool, ...]:
        """Per tensor id whether it is one of `outputs`; model inputs are not."""
        found = set(self.outputs)
        return tuple(i in found for i in range(len(self.tensors)))

    @property
    def edges(self) -> int:
        """Number of (producer, consumer) pairs between layers; model inputs are not counted."""
        return sum(1 for producers in self.producers for p in producers if p < len(self.layers))

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one sample."""
        return sum(layer.macs for layer in self.layers)

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights that are loaded, without bias."""
        return sum(layer.weight_bytes for layer in self.layers)

    @property
    def has_paper_types(self) -> bool:
        """Whether all numbers have the bits of the paper: INT8."""
        return all(layer.bits == INT8 for layer in self.layers) and all(t.number == INT8_NUMBER for t in self.inputs)

    def in_batch(self, samples: int) -> Network:
        """Return the same network with the experts in use set to those that all tokens of this many samples use.

        Examples
        --------
        >>> import workloads
        >>> network = workloads.load("mixtral_8x7b", phase="decode", past=1, layers=1)
        >>> [network.in_batch(samples).weight_bytes for samples in (1, 4, 8)]
        [394297344, 1098940416, 1451261952]
        """
        if all(layer.experts is None or layer.experts.used is not None for layer in self.layers):
            return self
        return replace(self, layers=tuple(_in_batch(layer, samples) for layer in self.layers))

    def experts_of(self, samples: int = 1) -> tuple[tuple[Experts, int], ...]:
        """Return the mixtures of experts in the layers, each with how many tokens of this many samples share it."""
        found = ((layer.experts, samples * layer.height * layer.width) for layer in self.layers)
        return tuple(dict.fromkeys((experts, tokens) for experts, tokens in found if experts is not None))

    def with_bits(self, bits: Bits) -> Network:
        """Return the same network with these bits in every layer, and in what it reads."""
        layers = tuple(layer if layer.bits == bits else replace(layer, bits=bits) for layer in self.layers)
        inputs = tuple(_with_bits(tensor, bits) for tensor in self.inputs)
        return replace(self, inputs=inputs, layers=layers)

    def retyped(self, bits: Mapping[str, object]) -> Network:
        """Return the same network with the bits given in a mapping, and all others unchanged.

        Examples
        --------
        >>> import workloads
        >>> workloads.load("gpt2").retyped({"weights": 4}).weight_bytes, workloads.load("gpt2").weight_bytes
        (61766016, 123532032)
        """
        layers = tuple(replace(layer, bits=bits_of(bits, layer.bits)) for layer in self.layers)
        inputs = tuple(_with_bits(each, bits_of(bits, _bits_as(each))) for each in self.inputs)
        return replace(self, inputs=inputs, layers=layers)

    def number_types(self) -> dict[str, tuple[str, ...]]:
        """Return the number types of weights, activations, cache and sums, by name, in order of occurrence.

        Examples
        --------
        >>> import workloads
        >>> workloads.load("gpt2").retyped({"weights": "fp8"}).number_types()
        {'weights': ('fp8',), 'activations': ('int8',), 'cache': ('int8',), 'sums': ('int32',)}
        """
        found: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
        for tensor in self.inputs:
            found["cache" if tensor.kind == "cache" else "activations"][tensor.number.name] = None
        for layer in self.layers:
            found["cache" if layer.appended else "activations"][layer.output.number.name] = None
            if layer.has_weights:
                found["weights"][layer.bits.of_weights.name] = None
            if layer.macs:
                found["sums"][f"int{layer.bits.sums}"] = None
        return {kind: tuple(names) for kind, names in found.items() if names}

    def names(self, layers: Iterable[int]) -> tuple[str, ...]:
        """Names of the given layer or tensor ids."""
        return tuple(self.tensors[i].name for i in layers)


def _largest(sets: Iterable[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Return the sets of at least two that lie in no other, by their members."""
    found: list[tuple[int, ...]] = []
    with_layer: dict[int, list[frozenset[int]]] = {}
    for each in sorted(sets, key=len, reverse=True):
        if len(each) > 1 and not any(larger.issuperset(each) for larger in with_layer.get(each[0], ())):
            found.append(each)
            for v in each:
                with_layer.setdefault(v, []).append(frozenset(each))
    return tuple(sorted(found))


def _in_batch(layer: Layer, samples: int) -> Layer:
    if layer.experts is None:
        return layer
    tokens = samples * layer.height * layer.width
    return replace(layer, experts=replace(layer.experts, used=layer.experts.in_use(tokens)))


def _with_bits(tensor: Tensor, bits: Bits) -> Tensor:
    number = bits.of_cache if tensor.kind == "cache" else bits.of_activations
    return replace(tensor, bits=number.bits, number_as=number.kind)


def _bits_as(tensor: Tensor) -> Bits:
    """Return bits whose activations and cache are both those of a model input."""
    bits, kind = tensor.number
    return Bits(activations=bits, cache=bits, activations_as=kind, cache_as=kind)


def check_network(network: Network) -> None:
    """Raise a one-line TypeError if a network is something else, such as its name."""
    check_type("network", network, Network, "workloads.load('resnet50')")


def _check_new(what: str, name: str, defined: Mapping[str, object]) -> None:
    check_name(f"a {what}", name)
    if name in defined:
        raise NetworkError(f"{what} {name!r} is defined twice; names must be unique")
