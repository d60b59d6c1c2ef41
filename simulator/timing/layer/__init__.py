"""The steps of one layer, dense or not, with the cycles of each."""
