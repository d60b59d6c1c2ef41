"""The operator Attention of ONNX (opsets 23 and 24), and a cache that it appends to."""

from __future__ import annotations

from workloads.errors import NetworkError
from workloads.importing.families import attending
from workloads.importing.onnx.operators.call import Answer, Call
from workloads.importing.values import Value


def attend(call: Call) -> Answer:
    """Queries, keys and values with heads, or with heads still to be split; mask; earlier keys and values."""
    query, key, value = (call.value(i) for i in range(3))
    is_flat = query.rank == 3
    if is_flat:
        heads, shared = call.integer("q_num_heads", 0), call.integer("kv_num_heads", 0)
        query = attending.by_heads(call.sketch, query, heads)
        key, value = (attending.by_heads(call.sketch, each, shared) for each in (key, value))
    if query.rank != 4:
        raise NetworkError(f"attends with queries of {query.rank} dimensions; 3 and 4 are known")
    query, key, value = (_map(call, each) for each in (query, key, value))
    key = attending.appended(call.sketch, call.optional(4), key)
    value = attending.appended(call.sketch, call.optional(5), value)
    found = attending.attend(call.sketch, query, key, value, call.optional(3))
    found = attending.joined_heads(call.sketch, found) if is_flat else found
    return [found, key, value][: max(1, len(call.outputs))]


def _map(call: Call, value: Value) -> Value:
    return call.sketch.fed(value) if value.is_constant else value
