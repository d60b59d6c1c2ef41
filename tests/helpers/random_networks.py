"""Random small networks of every kind of layer, for properties that hold for all of them."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from workloads.errors import NetworkError
from workloads.network.builder import Builder
from workloads.network.network import Network

QUICK = settings(max_examples=80, derandomize=True, deadline=None)
KINDS = (
    "conv", "depthwise", "pool", "join", "gate", "concat", "mix", "mix", "fc", "one", "attention",
    "grow", "part", "order",
)  # fmt: skip


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Up to 14 steps, each on anything before it; a step that does not fit is left out."""
    b = Builder("random")
    extent = st.integers(3, 9)
    image = b.input("image", draw(extent), draw(extent), draw(st.integers(1, 4)))
    text = b.input("text", draw(extent), 1, 4)
    names = [image, text, b.conv("first", image, 4), b.fc("second", text, 4)]
    for i, kind in enumerate(draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=14))):
        try:
            names.append(_step(draw, b, names, kind, f"n{i}"))
        except NetworkError:
            continue  # the kernel is larger than the map, or the operands do not match
    return b.build()


def _step(draw: st.DrawFn, b: Builder, names: list[str], kind: str, name: str) -> str:
    x = draw(st.sampled_from(names))
    height, width, channels = b.shape(x)
    small, side = st.integers(1, 3), st.integers(-1, 2)
    pair = st.tuples(small, small)
    padding = st.one_of(st.just("same"), st.tuples(side, side, side, side))
    same_map = st.sampled_from([other for other in names if b.shape(other)[:2] == (height, width)])
    equal = st.sampled_from([other for other in names if b.shape(other) == (height, width, channels)])
    if kind == "conv":
        groups = draw(st.sampled_from([g for g in (1, 2, 4) if channels % g == 0]))
        return b.conv(name, x, 4, draw(pair), draw(pair), draw(padding), draw(pair), groups)
    if kind == "depthwise":
        return b.depthwise(name, x, draw(pair), draw(pair), draw(padding))
    if kind == "pool":
        pool = b.maxpool if draw(st.booleans()) else b.avgpool
        return pool(name, x, draw(pair), draw(pair), draw(padding), ceil_mode=draw(st.booleans()))
    if kind == "join":
        return b.add(name, [x, *draw(st.lists(equal, min_size=1, max_size=2))])
    if kind == "gate":
        return b.mul(name, [x, b.conv(f"{name}_gate", b.global_avgpool(f"{name}_mean", x), channels)])
    if kind == "concat":
        return b.concat(name, draw(st.lists(same_map, min_size=1, max_size=3)))
    if kind == "mix":  # a concat that dissolves, unless a later step reads it too
        joined = b.concat(f"{name}_concat", draw(st.lists(same_map, min_size=1, max_size=3)))
        if draw(st.booleans()):
            names.append(joined)
        return b.conv(name, draw(st.sampled_from([joined, [x, joined], [joined, x, joined]])), 4)
    if kind == "fc":
        return b.fc(name, x, 4, flatten=draw(st.sampled_from([None, True, False])))
    if kind == "grow":
        if draw(st.booleans()):
            outside = draw(st.tuples(st.integers(0, 1), st.integers(0, 1)))
            return b.conv_transpose(name, x, 4, draw(pair), draw(pair), *outside)
        method = draw(st.sampled_from(["nearest", "linear", "cubic"]))
        return b.resize(name, x, draw(st.integers(1, 12)), draw(st.integers(1, 12)), method, draw(st.booleans()))
    if kind == "part":
        return b.slice(name, x, draw(st.integers(1, channels)), draw(pair), draw(st.integers(-1, 0)))
    if kind == "order":
        return b.rearrange(name, draw(st.lists(st.sampled_from(names), min_size=1, max_size=2)), height, width, 4)
    if kind == "one":
        return getattr(b, draw(st.sampled_from(["softmax", "layernorm", "lrn"])))(name, x)
    if width > 1:
        raise NetworkError("attention reads sequences")
    scores = b.matmul(f"{name}_scores", x, draw(equal), heads=2, transpose=True)
    value = b.fc(f"{name}_value", x, 4)
    return b.matmul(name, b.softmax(f"{name}_softmax", scores), value, heads=2)
