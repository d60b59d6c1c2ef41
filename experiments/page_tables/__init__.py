"""The tables of the pages, each made from experiments/reference by a function; `experiments.pages` writes them."""
