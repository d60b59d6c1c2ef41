# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, infer_types=True
"""The price model in machine integers: what a subgraph takes and moves, and the loop orders of a layer."""

from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy

from simulator.integers cimport gcd, mul_overflows
from simulator.model.chains.chain cimport Chain
from simulator.model.chains.rows cimport ChainBand, ChainRows
from simulator.model.schemes.columns cimport ColumnsMet, Sweep
from simulator.model.subgraph.subgraph cimport COLUMNS, ROWS

import numpy as np

from simulator.model.layer.cheapest import tiles_of
from simulator.model.layer.loop_layer import KINDS
from simulator.model.layer.orders import grid_of
from workloads.network.layers.types import row_bytes as bytes_of_row

include "simulator/model/parts.pxi"
include "model/subgraph.pxi"
include "model/price.pxi"
include "model/choice.pxi"
include "model/ways.pxi"
include "model/kept_layers.pxi"
include "model/loop_layers.pxi"
