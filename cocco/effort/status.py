"""How an answer ended, in the same words everywhere, and what is raised if the user stopped it."""

from __future__ import annotations

from typing import Any, Literal

Status = Literal["optimal", "feasible", "infeasible", "gave_up", "stopped"]


class Unfinished(KeyboardInterrupt):
    """Ctrl-C in a heuristic that builds one partition; `labels`: the valid partition built so far."""

    def __init__(self, labels: list[int]) -> None:
        super().__init__(labels)
        self.labels = labels


class Interrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C in a search; a KeyboardInterrupt, so a program that does not catch it ends.

    Attributes
    ----------
    result
        The best so far: what the search would have returned, with the status "stopped", or "optimal" if that is proved
        nevertheless.

    Notes
    -----
    Only the command line continues after it: it saves and prints the result and ends with the exit status 130. A search
    that is interrupted before it has an answer raises a plain KeyboardInterrupt.

    Examples
    --------
    >>> import cocco, workloads
    >>> def press(done, total, best):
    ...     raise KeyboardInterrupt
    >>> try:
    ...     cocco.explore(workloads.load("vgg16"), method="ga", progress=press)
    ... except cocco.Interrupted as stop:
    ...     print(stop.result.status, stop.result.samples < 50_000)
    stopped True
    """

    def __init__(self, result: Any) -> None:
        super().__init__(result)
        self.result = result
