"""When each row operation of a priced partition runs, loads and stores: the latency that can be executed."""

from simulator.timing.simulation import Simulation, Slice, Use, simulate

__all__ = ["Simulation", "Slice", "Use", "simulate"]
