from simulator.execution.layer.plan import LayerPlan
from workloads.network.network import Network


def run_scaled(network: Network, v: int, plan: LayerPlan, batch: int = 1, word: int = 8, full: bool = False) -> bool:
    return True
