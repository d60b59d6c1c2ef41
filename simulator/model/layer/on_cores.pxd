from simulator.integers cimport ceil_div, i64
from simulator.model.layer.loop_layer cimport Grid, LoopLayer, Mode
from simulator.model.layer.orders cimport LoopPlan, Loops, LoopTotals

# compiled: together, added, shared, again
