from simulator.integers cimport ceil_div, i64
from simulator.model.layer.goal cimport Place, Room
from simulator.model.layer.loop_layer cimport LoopLayer, Mode
from simulator.model.layer.orders cimport Loops

cdef enum:
    MORE_CHUNKS = 4

cdef void dense_plans(Place* at) noexcept nogil
cdef void _chunked(Place* at, Mode* mode, i64 first, i64 second) noexcept nogil
cdef void _partly(Place* at, Mode* mode) noexcept nogil
cdef void _sliced(Place* at, Mode* mode) noexcept nogil
cdef void _blocks(Place* at, Mode* mode, bint is_inner) noexcept nogil
cdef i64 _less_than_all(LoopLayer* layer, i64 words, i64 units) noexcept nogil
cdef i64 _sum_bytes(Place* at) noexcept nogil
cdef i64 _result_bytes(Place* at) noexcept nogil
cdef Room _beside(Place* at, Mode* mode) noexcept nogil
cdef Room _beside_results(Place* at, Mode* mode) noexcept nogil
cdef Room _beside_chunk(Place* at, Room room, i64 outputs) noexcept nogil
cdef i64 _kept_weights(Place* at, Room left) noexcept nogil
cdef i64 _kept_rows(Place* at, Room left, i64 row) noexcept nogil
cdef i64 _most_words(Place* at, Room room, i64 word_bytes, i64 inputs) noexcept nogil
cdef i64 _fewest_chunks(Place* at, Room room, i64 word_bytes, i64 inputs) noexcept nogil
cdef i64 _chunk(LoopLayer* layer, i64 fewest, i64 number) noexcept nogil
cdef i64 evened(i64 size, i64 most, i64 word) noexcept nogil
