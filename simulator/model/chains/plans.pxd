from simulator.integers cimport ceil_div, i64
from simulator.model.chains.orders cimport Needs
from simulator.model.chains.rows cimport ChainBand, ChainRows
from simulator.model.layer.goal cimport Place, Room
from simulator.model.layer.loop_layer cimport LoopLayer
from simulator.model.layer.orders cimport Loops

cdef enum:
    MOST_SLICES = 6

cdef void chain_plans(Place* at) noexcept nogil
cdef i64 fewer_words(i64 words, i64 size) noexcept nogil
cdef bint _chain_may_win(
    Place* at, ChainBand* band, ChainRows* rows, Loops loops, i64 passing, i64 reads
) noexcept nogil
cdef bint _middle_may_win(Place* at, ChainBand* band, i64 outputs) noexcept nogil
cdef void _tiles_middle_plans(Place* at, ChainBand* band, i64 outputs) noexcept nogil
cdef i64 _kept_middle(Place* at, Room left, i64 chunk, Loops loops) noexcept nogil
cdef Loops _in_pieces(LoopLayer* layer, i64 number, i64 chunk, i64 outputs, i64 kept) noexcept nogil
cdef void _layers_plans(Place* at, ChainBand* band) noexcept nogil
cdef void _middle_tiles_plans(Place* at, ChainBand* band) noexcept nogil
cdef void _slices_plans(Place* at, ChainBand* band, i64 outputs) noexcept nogil
cdef bint _fits(Place* at, Needs needs) noexcept nogil
cdef bint _offer_chain(Place* at, i64 order, i64 mode, ChainBand* band, Loops loops) noexcept nogil
