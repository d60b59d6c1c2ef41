from simulator.integers cimport ceil_div, i64
from simulator.model.layer.goal cimport Place, Room
from simulator.model.layer.loop_layer cimport LoopLayer, Mode
from simulator.model.layer.orders cimport Loops

cdef enum:
    MORE_CHUNKS = 4

# compiled: dense_plans, _chunked, _partly, _sliced, _blocks, _less_than_all, _sum_bytes, _result_bytes, _beside,
# _beside_results, _beside_chunk, _kept_weights, _kept_rows, _most_words, _fewest_chunks, _chunk, evened
