"""Schedules of whole tensors: the data, their replay, their files, and the operators of a network."""

from simulator.schedule.files import read_order, read_schedule, write_schedule
from simulator.schedule.operators import operators_of
from simulator.schedule.replay import Replay, replay
from simulator.schedule.schedule import Operator, Schedule, ScheduleError, Segment

__all__ = [
    "Operator",
    "Replay",
    "Schedule",
    "ScheduleError",
    "Segment",
    "operators_of",
    "read_order",
    "read_schedule",
    "replay",
    "write_schedule",
]
