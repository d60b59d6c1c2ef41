from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.layer.loop_layer cimport Grid, LoopLayer, Map, Mode
from simulator.model.layer.orders cimport LoopPlan, Loops, Moved

# compiled: channels_tiles, apart_bytes, apart_weights, joined, joined_bytes, joined_weights, joined_steps, state_bytes,
# joined_traffic, two_passes, running_sums, copy, equal_loops, broadcast_bytes, map_bytes
