"""The paper's numbers: Cocco (Tan, Zhu, Ma), ASPLOS 2024, Section 5. One home, each with its table or sentence.

None: the text of the paper that we have lacks the number (the last rows of RandWire and NASNet are cut off).
RandWire is RandWire-A there.
"""

from __future__ import annotations

from collections.abc import Mapping

from experiments.sweep.points import Point

Cell = tuple[float, ...]


def _columns(text: str) -> dict[str, dict[str, Cell | None]]:
    """Return a table by its columns, of networks, and rows; "-" where the text has no number."""
    heads, *rows = (line.split() for line in text.split("\n") if line.strip())
    cells = {name: [_cell(row[place]) for row in rows] for place, name in enumerate(heads) if place}
    return {name: dict(zip((row[0] for row in rows), column)) for name, column in cells.items()}


def _cell(text: str) -> Cell | None:
    return None if text == "-" else tuple(int(each) if each.isdigit() else float(each) for each in text.split("/"))


#: Table 1: separate buffers, alpha = 0.002, energy: global and weight buffer in KB, cost (Formula 2)
TABLE_1 = _columns("""
    network  resnet50          googlenet         randwire_a        nasnet
    Buf(S)   512/576/1.04e7    512/576/4.07e6    512/576/3.23e6    512/576/6.14e7
    Buf(M)   1024/1152/1.07e7  1024/1152/5.06e6  1024/1152/3.92e6  1024/1152/5.83e7
    Buf(L)   2048/2304/1.24e7  2048/2304/7.18e6  2048/2304/6.00e6  2048/2304/5.66e7
    RS+GA    448/864/1.04e7    384/432/3.88e6    448/792/3.31e6    1152/2016/5.60e7
    GS+GA    128/864/1.07e7    128/144/3.80e6    -                 -
    SA       256/360/1.06e7    192/144/3.78e6    -                 -
    Cocco    704/864/1.04e7    192/432/3.75e6    -                 -
""")
#: Table 2: one shared buffer, alpha = 0.002, energy: KB, cost
TABLE_2 = _columns("""
    network  resnet50     googlenet    randwire_a   nasnet
    Buf(S)   576/1.01e7   576/3.66e6   576/2.83e6   576/6.36e7
    Buf(M)   1152/1.00e7  1152/4.04e6  1152/3.03e6  1152/5.73e7
    Buf(L)   2304/1.04e7  2304/5.09e6  2304/3.90e6  2304/5.51e7
    RS+GA    1280/9.80e6  640/3.65e6   320/2.85e6   2560/5.47e7
    GS+GA    1344/9.80e6  512/3.65e6   -            -
    SA       896/1.00e7   192/3.75e6   -            -
    Cocco    1344/9.80e6  384/3.60e6   -            -
""")
#: Table 3: cores x batch: energy and latency of the batch as a whole, shared buffer of one core
TABLE_3_FIELDS = ("energy_mj", "latency_ms", "shared_kb")
TABLE_3 = _columns("""
    network  resnet50          googlenet        randwire_a       nasnet
    1x1      4.21/4.59/1344    1.61/2.05/384    1.26/1.47/384    28.57/49.92/2624
    1x2      6.32/8.98/1728    2.18/3.91/896    2.25/2.74/704    47.68/99.87/3072
    1x8      11.88/35.93/2880  5.64/15.53/1472  8.66/10.85/1664  133.03/396.90/3072
    2x1      4.38/2.48/768     1.66/1.04/192    1.41/0.95/192    29.18/24.93/1728
    2x2      6.46/4.78/1088    2.34/1.99/384    2.37/1.80/384    48.80/49.73/2624
    2x8      13.01/19.12/1664  5.84/7.97/960    8.39/7.16/1280   153.25/227.19/3072
    4x1      4.29/1.39/448     1.34/0.54/192    -                -
    4x2      6.58/2.68/640     2.20/1.07/192    -                -
    4x8      11.50/10.71/1664  6.24/4.30/448    -                -
""")
#: Sec. 2.2.2 on Figure 3: L -> share of ResNet50's external memory access that is left. "Executing three-layer
#: subgraphs reduces [it] by 53.7 %", five-layer ones "only further reduces it by 13.6 %", read as points of L = 1.
FIGURE_3_RESNET50 = {1: 1.0, 3: 1 - 0.537, 5: 1 - 0.537 - 0.136}
#: Sec. 5.2 on Figure 11: networks on which Cocco finds the optimum of the enumeration ("the first four models")
FIGURE_11_OPTIMAL = ("vgg16", "resnet50", "resnet152", "googlenet")
FIGURE_14_FIRST_ALPHA = 0.0005  #: energies are normalised to it; the other alphas are in the picture only
#: CoSA (ISCA 2021), the authors' poster: latency and energy of Timeloop's hybrid mapper over CoSA's, geometric means
COSA_LATENCY_OVER_HYBRID = 1.5
COSA_ENERGY_OVER_HYBRID = 1.2
#: Cocco, Sec. 5.3.1 on Table 1: how much lower its cost is than that of the other methods, least and most
HEADLINE = ((0.0189, "SA, ResNet50"), (0.5033, "Buf(L), RandWire-A"))


def with_paper(row: Point, paper: Mapping[str, float | None]) -> Point:
    """Return the row with `paper_<name>` and `<name>_difference` behind each column that the paper has too.

    The difference is ours / paper - 1; both are None where the paper's text has no number.
    """
    found: Point = {}
    for name, value in row.items():
        found[name] = value
        if name in paper:
            found[f"paper_{name}"] = paper[name]
            found[f"{name}_difference"] = difference(value, paper[name])
    return found


def difference(ours: float | None, paper: float | None) -> float | None:
    """Return ours / paper - 1, None where either is missing."""
    return None if ours is None or not paper else ours / paper - 1
