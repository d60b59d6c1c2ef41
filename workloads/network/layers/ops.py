"""The operators by family; a new element-wise one is one name here."""

from __future__ import annotations

DENSE_OPS = frozenset({"conv", "fc", "conv_transpose", "recurrent"})
POOL_OPS = frozenset({"maxpool", "avgpool", "concat", "resize"})
SPREAD_OPS = frozenset({"conv_transpose", "resize"})  #: their windows slide over a map with empty rows in between
WINDOW_OPS = DENSE_OPS | POOL_OPS | {"slice"}  #: these read the channels of several producers one after the other
JOIN_OPS = frozenset({"add", "mul"})
NORM_OPS = frozenset({"softmax", "layernorm"})  #: two statistics of a position are all that its channels share
ELEMENTWISE_OPS = JOIN_OPS | NORM_OPS | {"lrn"}
PRODUCT_OPS = frozenset({"matmul", "attention"})  #: these multiply activations, head by head
ALONE_OPS = {"attention": "an attention in blocks"}  #: these run in no subgraph of several layers
OPS = WINDOW_OPS | ELEMENTWISE_OPS | PRODUCT_OPS | {"rearrange", "scan"}
