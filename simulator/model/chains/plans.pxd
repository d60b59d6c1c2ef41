from simulator.integers cimport ceil_div, i64
from simulator.model.chains.orders cimport Needs
from simulator.model.chains.rows cimport ChainBand, ChainRows
from simulator.model.layer.goal cimport Place, Room
from simulator.model.layer.loop_layer cimport LoopLayer
from simulator.model.layer.orders cimport Loops

cdef enum:
    MOST_SLICES = 6

# compiled: chain_plans, fewer_words, _chain_may_win, _middle_may_win, _tiles_middle_plans, _kept_middle, _in_pieces,
# _layers_plans, _middle_tiles_plans, _slices_plans, _fits, _offer_chain
