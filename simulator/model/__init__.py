"""The model in the order of docs/model.md.

subgraph                 one subgraph: its tensors, in(S), out(S), which layer reads what     section 1
tiling, regions          the consumption-centric scheme; MAIN and SIDE                        2, 3
tiles                    which tiles are tried for a subgraph that is held                     3
loops, orders, groups    a single layer: what its windows read; what each loop order moves     3
goal, dense, cheapest    what is minimized; the cheapest loop order in given memory            3
least_room               the least memory in which a loop order runs                           3
on_cores                 what a loop order moves when several cores run it                      7
loop_regions             what a loop order holds, tensor by tensor                             3
schemes                  several cores: channels dealt, columns mirrored                       7
updates, traffic         the pieces in which tensors are made; the bytes that this moves      2, 5
pricing, cost            the price of a subgraph; energy, latency, bandwidth                  4 to 6
production               the production-centric scheme of Figure 4, compared with the other
priced, held             a whole partition: every price; every buffer over time               3, 4
"""
