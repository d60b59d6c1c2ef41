"""What a price may say of a streamed layer where that is not what is counted, restated (docs/model.md, 3).

Buffer traffic is that of one pass over the inputs; the halo of rows that nothing keeps is a mean. A price that says
anything else than these or the count is wrong.
"""

from __future__ import annotations

import math
from fractions import Fraction

from simulator.execution.count import Count, Plan, Setting, count_moves
from simulator.execution.orders import chunks_of, streamed_scheme
from simulator.execution.part import ROWS, Part
from simulator.execution.scheme import Scheme
from simulator.execution.walk import walk


def approximate(setting: Setting, part: Part, plan: Plan, count: Count) -> Count:
    """Return the count with its buffer traffic, and inputs that are read again, as the closed forms have them."""
    if plan.order == "held":
        return count
    is_chunked = plan.order in ("chunk", "tile")
    scheme = streamed_scheme(setting, part, plan) if is_chunked else setting.scheme(part, plan.tile)
    inputs, once = _inputs(setting, part, plan, scheme, count), count_moves(scheme, walk(scheme))
    assert count.ema_output_bytes is not None and count.ema_weight_bytes is not None
    buffered = setting.accelerator.batch * (once.results + once.windows + once.wholes + once.copies)
    used = sum(times * part.network.layers[v].weight_bytes for v, times in once.updates.items())
    return count._replace(
        ema_input_bytes=inputs,
        global_buffer_bytes=inputs + count.ema_output_bytes + buffered,
        weight_buffer_bytes=count.ema_weight_bytes + used,
    )


def _inputs(setting: Setting, part: Part, plan: Plan, scheme: Scheme, count: Count) -> int:
    """Return the bytes of inputs from DRAM: a halo for each row of tiles without SIDE; every tap of an element."""
    assert count.ema_input_bytes is not None
    batch, tensors = setting.accelerator.batch, part.network.tensors
    if plan.order == "element":
        (v,) = part.layers
        kernel, positions = part.network.layers[v].kernel, math.prod(extent[v] for extent in part.extent)
        times = {each.tensor: each.local * math.prod(kernel) + each.whole * positions for each in part.operands[v]}
        return batch * sum(tensors[u].size_bytes * times[u] for u in times)
    if plan.order in ("chunk", "tile") and not plan.has_side:
        passes = chunks_of(setting, part, scheme)[1] if plan.order == "chunk" else 1
        once = passes * sum(tensors[u].size_bytes for u in part.inputs)
        return batch * math.ceil(once * _halo(part, plan.tile[ROWS]))
    return count.ema_input_bytes


def _halo(part: Part, tile: int) -> Fraction:
    """Return how often the input is read where each row of tiles reads again the rows that it shares with the last."""
    (v,) = part.layers
    height, layer = part.extent[ROWS][v], part.network.layers[v]
    shared = part.end(v, ROWS, 0) - part.first(v, ROWS, 0)  # elements; below 0 where some lie between two tiles
    if shared <= 0:
        return Fraction(1)
    step = Fraction(min(tile, height) * layer.stride[ROWS], layer.upsample[ROWS]).numerator
    least = min(part.extent[ROWS][u] for u in part.inputs)
    return 1 + max(Fraction(shared, step), Fraction((-(-height // tile) - 1) * shared, least))
