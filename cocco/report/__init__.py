"""A page about a run: one HTML file that needs nothing else, from the folder that `cocco explore -o` wrote."""

from cocco.report.page import html_of, write
from cocco.report.run import Run, RunNetwork, RunSubgraph, read

__all__ = ["Run", "RunNetwork", "RunSubgraph", "html_of", "read", "write"]
