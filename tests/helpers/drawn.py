"""An order of test cases that a word draws: one case of each function comes before a second one of any."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256


def drawn(cases: Sequence[str], word: str) -> list[int]:
    """Return the positions of the cases ("file::function[seed]") in the drawn order.

    The same word gives the same order anywhere; every case comes first for some word, however many its function has.
    """

    def place(text: str) -> bytes:
        return sha256(f"{word} {text}".encode()).digest()

    functions: dict[str, list[int]] = defaultdict(list)
    for i in sorted(range(len(cases)), key=lambda i: place(cases[i])):
        functions[cases[i].partition("[")[0]].append(i)
    turns = [(turn, place(f"{turn} {name}"), i) for name, each in functions.items() for turn, i in enumerate(each)]
    return [i for _, _, i in sorted(turns)]
