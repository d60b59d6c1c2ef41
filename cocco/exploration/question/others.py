"""Methods of others: by an entry point of an installed package, or by a name in a file, as plans and networks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from functools import partial
from itertools import islice
from typing import Any

from cocco.candidates.genome import Genome
from cocco.candidates.stream import Stream
from cocco.exploration.question.question import Question
from cocco.search.genetic.operators.repair import repair
from cocco.search.genetic.trace import Trace
from cocco.search.pricing.genomes import Pricer
from workloads.errors import one_line
from workloads.others import METHODS, is_python, of_packages, of_python


def is_method(word: str) -> bool:
    """Whether a word names a method of others."""
    return is_python(word) or (word.isidentifier() and of_packages(METHODS, word) is not None)


def searched_by(word: str, question: Question) -> Trace:
    """Return the samples of a method of others: at most as many as are asked, each priced here.

    It is called with the problem, the samples and the seed, and yields for each sample groups of layer names (of
    several networks a list of these); where the memory is chosen, a pair: the bytes of each buffer, as in
    `problem.buffers`, and that. Layers that are not named run alone; groups that are not connected, wait for each other
    or do not fit are split as those of the genetic algorithm. Raises ValueError, one line, for anything else.
    """
    problem, asked = question.problem, (question.problem, question.samples, question.seed)
    method = None if is_python(word) else of_packages(METHODS, word)
    found = _yielded(partial(of_python, word, error=ValueError) if method is None else method, *asked)
    names = [
        {layer.name: offset + i for i, layer in enumerate(network.layers)}
        for network, offset in zip(problem.networks, problem.offsets)
    ]
    trace, pricer = Trace(problem, question.samples, question.progress, question.engine), Pricer(problem)
    try:
        for i, made in enumerate(islice(found, question.samples)):
            sizes, plans = made if problem.buffers else ((), made)
            memory = tuple(known.index(size) for known, size in zip(problem.buffers.values(), sizes, strict=True))
            labels = list(range(problem.size))
            plans = [plans] if len(problem.networks) == 1 else plans
            for ids, groups in zip(names, plans, strict=True):
                for group in ([ids[name] for name in each] for each in groups):
                    for v in group:
                        labels[v] = min(group)
            trace.add(pricer.evaluate(Genome(repair(problem, labels), memory), Stream(question.seed, 0, i)))
            trace.close()
    except KeyboardInterrupt:
        if not trace.samples:
            raise
        trace.is_stopped = True
    except KeyError as error:
        raise ValueError(f"{word}: sample {trace.samples + 1}: there is no layer {error}") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{word}: sample {trace.samples + 1}: {one_line(error)} (docs/adding.md)") from None
    if not trace.samples:
        raise ValueError(f"{word}: yields no plan")
    return trace


def _yielded(method: Callable[..., Iterable[Any]], *asked: object) -> Iterator[Any]:
    """What a method yields; what its code prints goes to stderr. ValueError, one line, for whatever it raises."""
    plans: Iterator[Any] | None = None
    while True:
        try:
            with redirect_stdout(sys.stderr):
                plans = iter(method(*asked)) if plans is None else plans
                each = next(plans)
        except StopIteration:
            return
        except ValueError:
            raise
        except (Exception, SystemExit) as error:
            raise ValueError(f"raises {type(error).__name__}: {one_line(error)}") from None
        yield each
