"""A page about what a search found: one HTML file that needs nothing else, from the folder of its option -o."""

from cocco.report.front_run import FrontRun
from cocco.report.page import html_of, write
from cocco.report.read import read
from cocco.report.run import Run, RunNetwork, RunSubgraph

__all__ = ["FrontRun", "Run", "RunNetwork", "RunSubgraph", "html_of", "read", "write"]
