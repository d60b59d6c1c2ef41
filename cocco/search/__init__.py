"""The genetic algorithm of Cocco (Sec. 4.3 and 4.4): genome, operators, repair, loop, and a DEAP toolbox of them."""

from cocco.search.toolbox import toolbox

__all__ = ["toolbox"]
