"""The budgets of searches and proofs: how much work each may do before it gives up.

They count steps, states, memories or plans, never seconds, so answers do not depend on the machine. A *step* of the
exact search is a state, a subgraph and a choice of what it keeps that are looked at together; what is new takes more,
about as its share of the time in the compiled engine, which takes some three million steps a second. All values are our
choice. `larger` and `smaller` are for long networks: what suffices for a thousand layers is too little for five
thousand, or takes too long. A state of the exact search has a bit for each layer and each tensor, so its steps take
longer the more there are. The steps of a chain grow with its layers, some 2,300 for each.
"""

from __future__ import annotations

LOOK_STEPS = 5  #: steps that a set of layers counts as when it is met first,
PRICE_STEPS = 45  #: and a price

# One exact search of a network, however it is asked for
MAX_STATES = 2_000_000  #: the Transformer takes 1,200,000 at 512 KB, some 600 MB in the compiled engine
MAX_SETS = 1_000_000  #: sets of layers that are looked at
MAX_STEPS = 100_000_000  #: half a minute compiled; of one memory by the method "exact", too

# Patterns of layers (cocco.bounds.patterns.tables), which take longer to build than most searches
FIRST_STATES, FIRST_STEPS = 100_000, 1_000_000  #: of the search before there are patterns
FEW_STATES = 4_000  #: where it ends in fewer, a longer one comes next: GoogleNet has 1,000 to 2,500 then, and ends soon
LONGER = 16  #: times as many steps of that one
FAR_OFF = 1.02  #: what is asked over what the longer one excludes: above, patterns are too early
PATTERN_STEPS = 16_000_000  #: ways to run a step that all patterns of a network may look at

# Windows of a plan that are searched again (cocco.search.exact.neighbourhood)
WINDOW_STATES, WINDOW_STEPS = 60_000, 1_200_000  #: of one window: some 150 ms compiled
REPRICE_STEPS = 2_000  #: steps that a window counts as beside its search: a plan is priced again

# One memory, and all memories, of a search that proves what it answers (cocco.exploration.memories)
KEPT_STEPS = 32_000_000  #: of one memory in a default search: about two seconds compiled
KEPT_TOTAL = 256_000_000  #: of all memories together; those that are decided count half: the proof gets on
PLAIN_STEPS = 4_000_000  #: of one memory with nothing kept: under a second compiled
PLAIN_TOTAL = 30_000_000  #: of all together where a front or a limit is asked for, or a start
PLAIN_PER_LAYER = 1_000_000  #: of all together in a default search, for each layer
PLAIN_AGAIN = 4  #: times PLAIN_STEPS that one memory may take where all depends on it
HARDWARE_STEPS = 2 * KEPT_STEPS  #: on given hardware: there is only one memory
MEMORIES_STEPS = 10  #: times MAX_STEPS that the method "exact" takes for all memories together
TIERS = (64, 8, 1, 1, 0)  #: the budgets of one memory are its share of these; 0: AGAIN times as much
AGAIN = 2  #: times its budget gets a memory in the end, once one is solved, and patterns of its own
HOPELESS = (2, 2, 1, 0, 0)  #: memories that give up with each before any is solved, then the next comes
IN_A_ROW = 4  #: that give up, of a long network, then comes the next budget: each takes seconds beside its steps
FAILURES = 3  #: memories in a row that give up; then no more are tried for a default front or limit
PROOF_STEPS = {
    "auto": (KEPT_STEPS, KEPT_TOTAL, FAILURES),
    "none": (PLAIN_STEPS, PLAIN_TOTAL, None),
}  #: by what may be kept
SECOND_SHARE = 64  #: a second proof takes a share of the first, where that solved no memory at all
LOOKS = 12  #: memories whose own forced crossings are looked at where the proof is left open

# Sizes around an answer, and pairs of two buffers (nearby.py, ranges.py)
SIZES_TOTAL = KEPT_TOTAL // 2  #: steps of all sizes that the margins ask about; of one size as in the proof
SIZES_REST = KEPT_TOTAL // 4  #: steps of all others: a second or two
SIZE_TIERS = (16, 1)  #: the budgets of one size are its share of these: easy sizes first
PAIRS_TOTAL = KEPT_TOTAL * 3 // 8  #: steps of all pairs on their line: some four seconds
PAIR_TIERS = (64, 8)  #: the budgets of one pair are its share of these: most take less than the first
CHIPS_TOTAL = 4 * KEPT_TOTAL  #: steps of all machines and memories together, with what looking at one counts as
IN_VAIN = 16  #: pairs that give up with each budget, then the line is as good as it gets
SETUP, SETUP_LAYER = 500_000, 13_000  #: steps that looking at one counts as, and at least for each layer

# Plans that are made and improved (cocco.exploration.searching), where no proof comes first
FIRST_PLAN_STEPS = 600_000  #: of one first plan of a network: a second compiled at most
SAMPLE_STEPS, IMPROVING_STEPS = 20, 400  #: for each sample: of one first plan, and of the windows of a memory
FURTHER_STEPS, FURTHER_SAMPLES = 800, 10_000  #: so many more for each of the first samples: DARTS needs them

# Plans that have addresses (cocco.exploration.placing)
OTHER_MEMORIES, OTHER_STEPS = (
    8,
    KEPT_STEPS // TIERS[1],
)  #: memories that are asked for one, and steps of each
SLACK_STEPS = 16 * WINDOW_STEPS  #: in all windows of a plan that is solved again in less room: some two seconds
GRAPH_STEPS = 1_000_000  #: steps of the graph of all plans near the cheapest: GoogleNet's has 120,000 within 0.5 %
NEXT_LOOKS = 200_000  #: states that are looked at for the next plan of it: about two seconds
PACKING = 20_000_000  #: nodes of all searches for addresses of its plans: about ten seconds
MOVE_LOOKS = 150_000  #: at steps of changed plans: 1,000 of 150 steps; GoogleNet and NASNet took 3,000 a move
TRY_NODES = 2_000  #: nodes of the allocator for each plan that is tried before the next move

# Certificates by solvers (cocco.bounds.certificate), in deterministic time of CP-SAT and what it does not count
HANDED = (
    3e-6  #: for each variable and constraint of a model, each time it is solved: NASNet's take 30 ms before any search
)
BUILT = 6e-6  #: for each of them once, beside
PROJECTED = 3e-10  #: for each entry of a projection and each step that it takes at least
LAYER_EFFORT = 0.012  #: of one certificate at least, for each layer: one that has less proves hardly anything
EFFORT = 20.0  #: for one memory, some half a minute of one core: RandWire-A and NASNet in 512 KB are within 5 %
QUICK_EFFORT = 18.0  #: at most, of all memories together in a default search: some 30 seconds of one core
QUICK_SAMPLES = 110  #: samples of a default search for each unit of it: a fraction of what they take
SHARES, SHARES_KEPT = 6, 12  #: parts of the effort, of which a certificate takes one where the memory is chosen
MOST_CERTIFICATES = 40  #: where the memory is chosen: more than effort does for
MOST_KNOWN = 4_000  #: steps that one certificate hands on to the next

LAYERS = 1000  #: of k times as many budgets are k times as large, or as small


def larger(budget: int, layers: int) -> int:
    """Return a budget that grows with the network.

    Examples
    --------
    >>> larger(500, 72), larger(500, 3000)
    (500, 1500)
    """
    return budget * max(LAYERS, layers) // LAYERS


def smaller(budget: int, layers: int) -> int:
    """Return a budget, at least 1, for work that takes longer the larger the network is.

    Examples
    --------
    >>> smaller(600, 72), smaller(600, 3000)
    (600, 200)
    """
    return max(1, budget * LAYERS // max(LAYERS, layers))
