"""What a running command shows: a bar on a terminal, or a line where it takes long; elsewhere lines, if requested.

A second thread moves the clock, so that a stage that takes long is no silence either.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any, TextIO

from cocco.effort.stages import PROGRESS, Stage

BEAT_SECONDS = 0.5  #: between two looks at the bar; our choice
LINE_SECONDS = 1.5  #: between two lines of one stage; our choice: nothing is silent for 2 seconds
QUIET_SECONDS = 4.0  #: between two lines where none are requested; our choice: nothing is silent for 5 seconds
SEARCH = "search"


class StageView:
    """The stage that a search is in, as words.

    best: how a search says what it found so far, such as "best {:.6g}".
    """

    who = "cocco"  #: the first word of its lines

    def __init__(self, samples: int, best: str) -> None:
        self.words, self.began = best, time.monotonic()
        self.stage = Stage("start", 0, samples)
        self.found: Any = None
        self.done = 0  # samples of the search; fewer than before: it is another one

    def samples(self, done: int, wanted: int, found: Any) -> None:
        """Take what the search says after each generation."""
        is_anew = self.found is None or not isinstance(found, float) or done <= self.done
        self.found, self.done = found if is_anew else min(found, self.found), done
        self._take(Stage(SEARCH, min(done, wanted), wanted, "samples", self.stage.best, self.stage.bound))

    def told(self, stage: Stage) -> None:
        """Take another stage."""
        self._take(stage)

    def text(self) -> str:
        """Return the stage, how far it is, what is known, and the seconds so far."""
        stage = self.stage
        parts = [f"{stage.name} {stage.done:,} of {stage.total:,} {stage.unit}".strip() if stage.total else stage.name]
        return ", ".join([*parts, *self.known(), f"{time.monotonic() - self.began:.0f} s"])

    def known(self) -> list[str]:
        """Return the best and the gap, as far as they are known; of a front only how many points it has."""
        if not self.words.startswith("best"):
            return [] if self.found is None else [self.words.format(self.found)]
        best = min(self.stage.best, self.found) if isinstance(self.found, float) else self.stage.best
        found = best if best < math.inf else self.found
        gap = self.stage._replace(best=best).gap
        said = [] if found is None else [self.words.format(found)]
        return said if gap is None else [*said, f"gap {100 * gap:.1f} %"]

    def _take(self, stage: Stage) -> None:
        is_new = stage.name != self.stage.name
        self.stage = stage
        self.beat(is_new)

    def beat(self, is_new: bool = False) -> None:
        """Show the stage where it is new, or time goes on."""


_views: list[StageView] = []  #: what is shown, the innermost last


class Lines(StageView):
    """A line for each stage if requested, and for what takes long one more every so often."""

    def __init__(self, samples: int, best: str, stream: TextIO, is_asked: bool = True, who: str = "cocco") -> None:
        super().__init__(samples, best)
        self.stream, self.is_asked = stream, is_asked
        self.who = _views[0].who if _views else who
        self.last = -math.inf if is_asked else self.began

    def beat(self, is_new: bool = False) -> None:
        """Print a line where the last one is old, or, if requested, of another stage."""
        now = time.monotonic()
        if (is_new and self.is_asked) or now - self.last >= (LINE_SECONDS if self.is_asked else QUIET_SECONDS):
            self.last = now
            with suppress(OSError):  # a closed standard error stops no search
                self.stream.write(f"{self.who}: {self.text()}\n")  # in one piece: two threads write
                self.stream.flush()


class Bar(StageView):
    """A tqdm bar that restarts with each stage."""

    def __init__(self, samples: int, best: str, bar: Any) -> None:
        super().__init__(samples, best)
        self.bar, self.last = bar, -math.inf

    def beat(self, is_new: bool = False) -> None:
        """Draw the bar where it has stood for a moment, or of another stage."""
        now = time.monotonic()
        if is_new:
            self.bar.unit = f" {self.stage.unit}"
            self.bar.reset(self.stage.total or None)
        if is_new or now - self.last >= BEAT_SECONDS:
            self.last = now
            self.bar.set_description_str(self.stage.name, refresh=False)
            self.bar.set_postfix_str(", ".join(self.known()), refresh=False)
            self.bar.n, self.bar.total = self.stage.done, self.stage.total or None
            self.bar.refresh()


@contextmanager
def alive(who: str, what: str, is_asked: bool) -> Iterator[None]:
    """Call the beat of whatever is shown, in a thread of its own; where nothing else is, print a line every so often.

    who: the first word of these lines; what: the stage that they name; is_asked: also without a terminal.
    """
    is_over = Event()

    def run() -> None:
        while not is_over.wait(BEAT_SECONDS):
            _views[-1].beat()

    if sys.stderr is None or _views or not (is_asked or sys.stderr.isatty()):
        yield
        return
    lines = Lines(0, "", sys.stderr, False, who)
    lines.told(Stage(what, 0, 0))
    thread = Thread(target=run, name=PROGRESS, daemon=True)
    with _in_front(lines):
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()


@contextmanager
def shown(samples: int, best: str, is_asked: bool = False) -> Iterator[StageView | None]:
    """Yield what shows a search: a bar on a terminal, else lines, few where they are not requested."""
    if sys.stderr is not None and sys.stderr.isatty():
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # no thread of its own: ours draws
        with tqdm(total=samples, unit=" samples", file=sys.stderr, leave=False, dynamic_ncols=True) as bar:
            drawn = Bar(samples, best, bar)
            with _in_front(drawn):
                yield drawn
            drawn.last = -math.inf
            drawn.beat()  # a search that is done before the bar would move shows its end all the same
    elif sys.stderr is not None and (is_asked or _views):
        lines = Lines(samples, best, sys.stderr, is_asked)
        with _in_front(lines):
            yield lines
    else:
        yield None


@contextmanager
def watched(total: int, unit: str, done: int = 0) -> Iterator[Callable[[int, int], object] | None]:
    """Yield a callback (done, total) for counted work: it moves a bar on a terminal, else what lines say."""
    with shown(total, "") as view:
        if view is not None:
            view.told(Stage(unit, done, total))
        yield None if view is None else lambda done, _: view.told(Stage(unit, done, total))


@contextmanager
def _in_front(view: StageView) -> Iterator[None]:
    """Let this be what the thread keeps alive."""
    _views.append(view)
    try:
        yield
    finally:
        _views.pop()
