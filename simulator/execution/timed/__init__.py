"""Replays the run of a priced partition, transfer by transfer: nothing comes late, nothing is held without room."""

from simulator.execution.timed.judge import judge_run

__all__ = ["judge_run"]
