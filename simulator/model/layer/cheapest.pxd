from simulator.integers cimport ceil_div, i64, row_bytes
from simulator.model.layer.goal cimport Place, Room
from simulator.model.layer.loop_layer cimport LoopLayer, Mode
from simulator.model.layer.orders cimport LoopPlan

# compiled: find_cheapest, _offer_fitting, _plans_of_tile, _joined_plans, _joined_plan, _norm_plans, _attention_plans,
# _apart_plans
