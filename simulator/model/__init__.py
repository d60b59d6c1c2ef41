"""The model in the order of docs/model.md: subgraph, tiles, regions, traffic, streaming, price, totals."""
