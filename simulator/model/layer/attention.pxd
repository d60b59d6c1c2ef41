from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.layer.loop_layer cimport Grid, LoopLayer
from simulator.model.layer.orders cimport LoopPlan, Loops, Moved

# compiled: tiles_blocks, rows_alike, place_of, seen_from, seen_to, most_seen, scores_bytes, coming_bytes, keys_bytes,
# position_bytes
