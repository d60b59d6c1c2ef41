"""One step of a plan as C: held, in a loop order, a chain, an attention in blocks."""
