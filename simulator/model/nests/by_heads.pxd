from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.layer.goal cimport Place
from simulator.model.layer.loop_layer cimport RING, WHOLE, Grid, LoopLayer
from simulator.model.layer.orders cimport HP, LoopPlan, Loops, LoopTotals

# compiled: heads_plan, weights_of, heads_at_once, heads_held, heads_weights, heads_plans, heads_offered
