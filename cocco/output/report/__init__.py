"""A page about what a search found: one HTML file that needs nothing else, from the folder of its option -o."""

from cocco.output.folders.read.chips import ChipsRun
from cocco.output.folders.read.front import FrontRun, read
from cocco.output.folders.read.run import Run, RunNetwork, RunSubgraph
from cocco.output.report.page import html_of, write
from cocco.output.report.pair import html_of_pair, read_pair, run_json, write_pair

__all__ = [
    "ChipsRun",
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
