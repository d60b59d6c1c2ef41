"""The judge of mappings: worked by hand, and against loops that really run (docs/mapping.md, section 3)."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.mapping import SIMBA, Architecture, Core, LayerMapping, LayerShape, Level, closed_form, evaluate
from simulator.mapping.closed import layer_cycles
from simulator.technology import MAC_PJ
from tests.helpers.nest_counter import count
from workloads.network.layers.layer import Layer

SMALL = Architecture(
    (
        Level("register", 1 << 20, 8, {"W": 1}, 2),
        Level("sums", 1 << 20, 4, {"O": 1}, 2),
        Level("inputs", 1 << 20, 2, {"I": 0.5, "W": 0.5}, 1),
        Level("buffer", 1 << 20, 1, {"I": 0.5, "O": 0.5}, 4),
        Level("DRAM", None, 1, {"W": 1, "I": 1, "O": 1}),
    ),
    macs=16,
    name="small",
)  #: room for everything: the counter checks words, not capacities


@st.composite
def cases(draw: st.DrawFn) -> tuple[LayerMapping, LayerShape]:
    """A mapping of up to seven factors, and the shape whose loops these are."""
    levels: list[tuple[dict[str, int], list[tuple[str, int]]]] = [({}, []) for _ in SMALL.levels]
    extents = dict.fromkeys("RSPQCKNG", 1)
    for _ in range(draw(st.integers(1, 7))):
        d, f = draw(st.sampled_from("RSPQCKNG")), draw(st.sampled_from((2, 2, 3)))
        i = draw(st.integers(0, 4))
        spatial, temporal = levels[i]
        if draw(st.booleans()) and math.prod(spatial.values()) * f <= SMALL.levels[i].fanout and d not in spatial:
            spatial[d] = f
        else:
            temporal.append((d, f))
        extents[d] *= f
    strides = st.tuples(st.integers(1, 3), st.integers(1, 3))
    groups = extents["G"]
    shape = LayerShape(
        *((extents | {"K": extents["K"] * groups})[d] for d in "RSPQCKN"), stride=draw(strides), groups=groups,
        dilation=draw(st.sampled_from(((1, 1), (2, 1)))),
    )  # fmt: skip
    return LayerMapping.of(levels), shape


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_words_between_levels_are_those_of_loops_that_run(case: tuple[LayerMapping, LayerShape]):
    mapping, shape = case
    cost = evaluate(mapping, shape, SMALL)
    assert cost.valid, cost.violations
    counted = count(mapping, shape, SMALL)
    assert {n: {t: list(w) for t, w in e.items()} for n, e in cost.accesses.items()} == counted
    assert cost.compute_cycles == math.prod(f for each in mapping.levels for _, f in each.temporal)


@pytest.mark.slow
@settings(max_examples=4_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_words_of_thousands_of_mappings(case: tuple[LayerMapping, LayerShape]):
    mapping, shape = case
    accesses = evaluate(mapping, shape, SMALL).accesses
    assert {n: {t: list(w) for t, w in e.items()} for n, e in accesses.items()} == count(mapping, shape, SMALL)


def nest(**levels: tuple[dict[str, int], list[tuple[str, int]]]) -> LayerMapping:
    return LayerMapping.of([levels.get(f"l{i}", ({}, [])) for i in range(6)])


def test_a_product_worked_by_hand():
    """4 outputs x 6 inputs: C 2 on lanes of level 1, C 3 in the buffer, K 4 on PEs: 3 cycles.

    24 weights come once from DRAM; the 6 inputs are multicast to 4 PEs (6 reads, 24 writes); each PE adds two
    products on the way and keeps its sum: 4 words of O leave for DRAM.
    """
    shape = LayerShape(1, 1, 1, 1, 6, 4)
    cost = evaluate(nest(l1=({"C": 2}, []), l4=({"K": 4}, [("C", 3)])), shape, SIMBA)
    assert (cost.compute_cycles, cost.valid) == (3, True)
    assert cost.accesses["DRAM"] == {"W": (24, 0), "I": (6, 0), "O": (0, 4)}
    assert cost.accesses["global buffer"] == {"I": (6, 6), "O": (4, 4)}
    assert cost.accesses["input buffer"]["I"] == (24, 24)
    assert cost.accesses["accumulation buffer"]["O"] == (4 * 3 - 4 + 4, 4 * 3)
    assert cost.accesses["registers"]["W"] == (24, 24)
    assert cost.cycles == 3.0 == cost.bound_cycles  # 30 words of DRAM at 10 in a cycle
    assert cost.utilization == 24 / (1024 * 3)
    words = {name: sum(map(sum, each.values())) for name, each in cost.accesses.items()}
    from simulator.technology import Technology

    energy = sum(words[level.name] * level.word_pj(Technology()) for level in SIMBA.levels)
    assert cost.energy_pj == pytest.approx(24 * MAC_PJ + energy, rel=1e-12)


def test_a_revisited_output_is_read_back():
    """K inside C at DRAM: each of 3 words of O leaves the chip twice, and returns once."""
    mapping = nest(l5=({}, [("K", 3), ("C", 2)]))
    cost = evaluate(mapping, LayerShape(1, 1, 1, 1, 2, 3), SIMBA)
    assert cost.accesses["DRAM"]["O"] == (3, 6)
    turned = nest(l5=({}, [("C", 2), ("K", 3)]))
    assert evaluate(turned, LayerShape(1, 1, 1, 1, 2, 3), SIMBA).accesses["DRAM"]["O"] == (0, 3)


def test_the_halo_is_exact_and_a_violation_names_level_tensor_and_sizes():
    """3 x 3 windows on 40 x 40 outputs, two channels: 42 * 42 * 2 = 3528 of 4096 words; stride 2: 81 * 81 * 2."""
    shape = LayerShape(3, 3, 40, 40, 2, 1)
    inside = nest(l3=({}, [("R", 3), ("S", 3), ("P", 40), ("Q", 40), ("C", 2)]))
    assert evaluate(inside, shape, SIMBA).valid
    cost = evaluate(inside, LayerShape(3, 3, 40, 40, 2, 1, stride=(2, 2)), SIMBA)
    assert not cost.valid and cost.cycles == cost.energy_pj == math.inf and cost.accesses == {}
    assert cost.violations == ("input buffer: I takes 13122 words, has 4096",)
    assert cost.excess == {(3, "I"): 13122 / 4096}


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ({"l1": ({"K": 9}, [])}, "accumulation buffer: 9 lanes are used, there are 8"),
        ({"l5": ({}, [("K", 8)])}, "the factors of K come to 8, its bound is 9"),
        ({"l0": ({}, [("K", 9)])}, "registers: W takes 9 words, has 1"),
    ],
)
def test_what_does_not_fit_is_an_answer(levels: dict, said: str):
    cost = evaluate(nest(**levels), LayerShape(1, 1, 1, 1, 1, 9), SIMBA)
    assert not cost.valid and said in cost.violations


def test_a_mapping_of_other_levels_or_dimensions_is_malformed():
    shape = LayerShape(1, 1, 1, 1, 1, 2)
    with pytest.raises(ValueError, match="6 levels"):
        evaluate(LayerMapping.of([({}, [])]), shape, SIMBA)
    with pytest.raises(ValueError, match="DRAM: a loop over 'X'"):
        evaluate(nest(l5=({}, [("X", 2)])), shape, SIMBA)
    with pytest.raises(ValueError, match="factor of K must be an integer of at least 1, got 0"):
        evaluate(nest(l5=({}, [("K", 0)])), shape, SIMBA)


@pytest.mark.parametrize(
    ("shape", "axes", "lanes"),
    [
        (LayerShape(3, 3, 8, 8, 64, 64), "KC", {"K": 4, "C": 4}),
        (LayerShape(1, 1, 16, 4, 8, 16), "PP", {"P": 16}),
        (LayerShape(1, 3, 8, 12, 64, 32, 2), "CQ", {"C": 4, "Q": 4}),
    ],
)
def test_the_closed_form_takes_the_cycles_of_its_loop_nest(shape: LayerShape, axes: str, lanes: dict[str, int]):
    """All extents are multiples of the lanes, so nothing is rounded: the judge says the same, on one level."""
    level = Level("all", 1 << 40, 1, {"W": 0.25, "I": 0.5, "O": 0.25}, 1024)
    arch = Architecture((level, Level("DRAM", None, 1, {"W": 1, "I": 1, "O": 1})), 1024)
    spatial = {d: lanes.get(d, 1) * (8 if d in "CK" else 1) for d in "PQCK"}
    loops = [(d, shape.bounds[d] // spatial.get(d, 1)) for d in "RSPQCKN"]
    judged = evaluate(LayerMapping.of([(spatial, loops), ({}, [])]), shape, arch)
    _, cost = closed_form(shape, Core(axes=axes))
    assert judged.valid and judged.compute_cycles == cost.compute_cycles
    assert (judged.utilization, judged.cycles) == (cost.utilization, cost.cycles)
    assert judged.accesses["DRAM"]["O"] == cost.accesses["DRAM"]["O"]


@given(
    st.tuples(st.integers(1, 3), st.integers(1, 3), *[st.integers(1, 40)] * 4, st.integers(1, 3)),
    st.one_of(st.none(), st.tuples(st.integers(1, 50), st.integers(1, 50))),
)
def test_the_closed_form_is_that_of_the_simulator_and_tiles_never_help_one_choice(
    extents: tuple[int, ...], tile: tuple[int, int] | None
):
    r, s, p, q, c, k, n = extents
    shape = LayerShape(*extents)
    layer = Layer("l", "conv", ("x",), q, p, k, c, (s, r), (1, 1))
    axes, whole = closed_form(shape)
    assert whole.compute_cycles == layer_cycles(layer, samples=n)
    _, tiled = closed_form(shape, tile=tile)
    assert tiled.compute_cycles >= whole.compute_cycles
    if tile is None or (tile[0] >= q and tile[1] >= p):
        assert tiled == whole
    assert closed_form(shape, Core(axes="KC"))[1].compute_cycles >= whole.compute_cycles >= shape.macs / 1024


@given(
    extents=st.tuples(*[st.integers(1, 9)] * 4), c=st.integers(2, 20), k=st.integers(1, 20),
    groups=st.sampled_from([2, 3, 8, 32]), is_product=st.booleans(),
)  # fmt: skip
def test_groups_and_heads_take_the_cycles_of_the_model(extents, c, k, groups, is_product):
    r, s, p, q = extents
    if is_product:
        layer = Layer("m", "matmul", ("a", "b"), q, p, k * groups, c * groups, groups=groups, whole=(1,))
        r = s = 1
    else:
        layer = Layer("l", "conv", ("x",), q, p, k * groups, c * groups, (s, r), (1, 1), groups=groups)
    _, cost = closed_form(LayerShape(r, s, p, q, c, k * groups, groups=groups))
    assert cost.compute_cycles == layer_cycles(layer)


def test_depthwise_work_has_lanes_of_its_own_and_groups_share_them():
    """64 channels, 3 x 3, 16 x 16: 2304 cycles as in the model; 4 groups of 16 to 16 fill the lanes as 64 outputs."""
    _, cost = closed_form(LayerShape(3, 3, 16, 16, 1, 64, groups=64))
    assert cost.compute_cycles == 2304
    _, grouped = closed_form(LayerShape(1, 1, 4, 4, 16, 64, groups=4))
    _, dense = closed_form(LayerShape(1, 1, 4, 4, 16, 64))
    assert grouped.compute_cycles == dense.compute_cycles == 16


def test_groups_without_a_loop_run_one_after_another():
    mapping = LayerMapping.of([({}, [])] * 5 + [({}, [("K", 16), ("C", 16), ("P", 4), ("Q", 4)])])
    judged = evaluate(mapping, LayerShape(1, 1, 4, 4, 16, 64, groups=4), SIMBA)
    alone = evaluate(mapping, LayerShape(1, 1, 4, 4, 16, 16), SIMBA)
    assert (judged.energy_pj, judged.cycles) == pytest.approx((4 * alone.energy_pj, 4 * alone.cycles), rel=1e-12)
    refused = evaluate(LayerMapping.of([({}, [])] * 5 + [({}, [*mapping.levels[5].temporal, ("G", 2)])]),
                       LayerShape(1, 1, 4, 4, 16, 64, groups=4), SIMBA)  # fmt: skip
    assert refused.violations == ("the factors of G come to 2, its bound is 4",)


def test_a_depthwise_layer_worked_by_hand():
    """8 channels of a 3 x 3 window on 8 lanes, 4 outputs in turn: 36 cycles; every weight, input and output moves once.

    Each lane has a channel of its own: nothing is multicast, and no sums are added on the way.
    """
    arch = Architecture(
        (
            Level("buffer", 1024, 1, {"W": 0.25, "I": 0.5, "O": 0.25}, fanout=8),
            Level("DRAM", None, 1, {"W": 1, "I": 1, "O": 1}),
        ),
        macs=8,
    )
    shape = LayerShape(3, 3, 2, 2, 1, 8, groups=8)
    mapping = LayerMapping.of([({"G": 8}, [("P", 2), ("Q", 2), ("R", 3), ("S", 3)]), ({}, [])])
    cost = evaluate(mapping, shape, arch)
    assert (cost.valid, cost.compute_cycles, cost.utilization) == (True, 36, 1.0)
    assert cost.accesses["DRAM"] == {"W": (72, 0), "I": (128, 0), "O": (0, 32)}
    assert cost.accesses["buffer"]["W"] == (8 * 36, 72)
    assert cost.accesses["buffer"]["O"][1] == 8 * 36


@given(st.tuples(*[st.integers(1, 12)] * 4), st.tuples(*[st.integers(1, 5)] * 4))
def test_touched_inputs_are_those_that_some_window_covers(extents: tuple[int, ...], steps: tuple[int, ...]):
    r, s, p, q = extents
    columns = {x * steps[0] + i * steps[2] for x in range(p) for i in range(r)}
    rows = {y * steps[1] + j * steps[3] for y in range(q) for j in range(s)}
    shape = LayerShape(r, s, p, q, 6, 4, 3, steps[:2], 2, steps[2:])
    assert shape.touched_words == len(columns) * len(rows) * 6 * 2 * 3


@pytest.mark.parametrize(
    ("extents", "more", "said"),
    [
        ((1, 1, 0, 1, 1, 1), {}, "P must be an integer from 1"),
        ((1, 1, 1, 1, -3, 1), {}, "C must be an integer from 1 .* got -3"),
        ((1, 1, 1, 1, 1, True), {}, "K must be"),
        ((1, 1, 1, 1, 1, 6), {"groups": 4}, "K must be a multiple of groups"),
        ((1, 1, 1, 1, 1, 1), {"stride": (0, 1)}, r"stride \(width\) must be"),
        ((1, 1, 1, 1, 1, 1), {"stride": 2}, "stride must be a pair"),
    ],
)
def test_a_malformed_shape_names_the_field(extents: tuple[int, ...], more: dict, said: str):
    with pytest.raises(ValueError, match=said):
        LayerShape(*extents, **more)
