"""The model in the order of docs/model.md.

subgraph                 one subgraph: its tensors, in(S), out(S), who reads what             section 1
tiling, regions          the consumption-centric scheme; MAIN and SIDE                        2, 3
tiles                    which tiles of a subgraph that is held are tried                      3
loops, orders, groups    a single layer: what its windows meet; what each loop order moves     3
cheapest, least_room     the cheapest loop order in given memory; the least memory             3
together                 what a loop order moves where several cores run it                     7
loop_regions             what a loop order holds, tensor by tensor                             3
schemes                  several cores: channels dealt, columns mirrored                       7
updates, traffic         in what pieces tensors are made; the bytes that this moves           2, 5
pricing, cost            the price of a subgraph; energy, latency, bandwidth                  4 to 6
production               the production-centric scheme of Figure 4, beside the other
priced, held             a whole partition: every price; every buffer over time               3, 4
"""
