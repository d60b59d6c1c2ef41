"""A scan: a sequence whose rows go through a state, which each row decays, adds to, and reads.

Channel d of operand 0, u, has a state h of N numbers. Row t makes, from its own numbers and the state of row t - 1,

    h[d, n] = a[d, n] h[d, n] + b[n] u[d],    y[d] = sum over n of c[n] h[d, n]

where b and c are the last two operands, in heads that share them (N numbers each), and a follows from the weights and
from the operands in between, the gates: exp(step[d] A[d, n]) in a selective state space (Mamba: Gu and Dao, 2023,
Sec. 3.2), one decay for each head in Mamba 2, for each head and n in gated linear attention (RWKV 6), a constant in
retention. What a delta rule takes from the state before it adds (gated delta nets) is none of these.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_STATE = 2**16  #: numbers of a channel, our choice
STEPS = 3  #: multiplications of a number of the state in each row: by its decay, of what is added, for the output


@dataclass(frozen=True)
class State:
    """What one layer carries from row to row.

    Examples
    --------
    Mamba 130M: 16 numbers for each of 1,536 channels, each with a decay of its own among the weights.

    >>> from workloads import State
    >>> State(16, weights=1536 * 16)
    State(size=16, weights=24576)
    """

    size: int  #: numbers for each channel, N
    weights: int = 0  #: that decays are made of: one for each channel and number, or for heads of them
