"""A page about what a search found: one HTML file that needs nothing else, from the folder of its option -o."""

from cocco.output.folders.read.front import FrontRun
from cocco.output.folders.read.read import read
from cocco.output.folders.read.run import Run, RunNetwork, RunSubgraph
from cocco.output.report.compare import html_of_pair, write_pair
from cocco.output.report.page import html_of, write
from cocco.output.report.pair import read_pair, run_json

__all__ = [
    "FrontRun",
    "Run",
    "RunNetwork",
    "RunSubgraph",
    "html_of",
    "html_of_pair",
    "read",
    "read_pair",
    "run_json",
    "write",
    "write_pair",
]
