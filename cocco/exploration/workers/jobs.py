"""Who watches a search and who works for it: listeners, processes of this machine, or workers of a dask scheduler.

A job is a step (cocco.effort.work_units). Workers compute ahead the steps that are likely to be requested next, so the
answer is the same to the byte for any number of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from cocco.effort.effort import Effort
from cocco.effort.stages import watched_by
from cocco.effort.work_units import Jobs, shared_out


@contextmanager
def helped(effort: Effort) -> Iterator[None]:
    """Connect the listeners and workers of an effort to the search in the `with` block."""
    with ExitStack() as stack:
        stack.enter_context(watched_by(effort.stages))
        if effort.workers > 1 or effort.dask is not None:
            stack.enter_context(shared_out(_jobs(effort, stack), effort.workers))
        yield


def _jobs(effort: Effort, stack: ExitStack) -> Jobs:
    """Return the function that has workers compute a function for many arguments in parallel."""
    if effort.dask is not None:
        from cocco.exploration.workers.machines import Machines

        return Machines(effort.dask, stack).run
    from cocco.exploration.workers.processes import Processes

    return Processes(effort.workers, stack).run
