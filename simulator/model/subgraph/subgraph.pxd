# One subgraph as its compiled parts see it. Arrays are by tensor id, as the dictionaries of Subgraph are.

from simulator.integers cimport i64
from simulator.model.layer.loop_layer cimport LoopLayer

cdef enum:
    ROWS = 0
    COLUMNS = 1


cdef struct Shape:
    i64 rows
    i64 columns


cdef struct Reader:
    i64 layer
    i64 local
    i64 whole
    i64 heard           # bytes of a position that the cores read: simulator.model.schemes.dealing.Heard.total
    i64 passed          # and without its own


cdef struct Nest:       # layers in one loop nest: simulator.model.nests; its loops are behind those of all layers
    i64 count
    i64* layers
    i64 made            # the layer whose tensor it makes
    i64* may_stay       # by layer: whether its tensor may stay on chip, which is made or leaves
    i64 need_count      # smallest memories in which it runs: bytes of activations and of weights
    i64* needs
    i64 least           # bytes of the activation buffer, if the other is ample
    i64 weights         # bytes of all
    i64 alike           # the same, from 1, for nests that cost the same: simulator.model.equivalence


cdef struct Geometry:   # by tensor id, layers first
    i64 count           # layers
    i64 tensors
    i64* extent[2]      # rows, columns, by tensor
    i64* channels       # by tensor
    i64* bits           # of an element
    i64* row_bytes      # of a position
    i64* size_bytes     # by tensor
    i64* state_bytes    # by tensor, held of what rows carry from one to the next: of scans, else 0
    i64* is_square
    i64* weight_bytes   # by layer, as everything below
    i64* shares         # one number, not 0, for all layers with the same weights; 0 where no other has them
    i64* operations
    i64* carried_bytes  # of a state, what an update reads and leaves
    i64* operation_extra  # what they take beyond INT8, in units
    i64* alone          # whether it runs in no subgraph of several: simulator.model.holding.Holding
    i64* unit           # simulator.model.subgraph.apart.units_of, where machine.is_apart
    i64* most_groups    # and most_groups
    i64* apart          # groups, and the cycles of all of them one after the other (simulator.model.subgraph.apart)
    i64* apart_start
    i64* is_output      # Subgraph.outputs, whoever reads it
    i64* cycles         # on one core, or of the one that has the most channels
    i64* lane_cycles    # by layer and machine.lanes, each time they are filled along the columns
    i64* dealt_weights  # bytes of the core that has the most channels
    i64* reach[2]
    i64* stride[2]
    i64* upsample[2]
    i64* padding[2]
    i64* producers      # tensor ids, each once, in operand order
    i64* producer_start
    Reader* readers     # of all tensors, those of one from reader_start[u] on
    i64* reader_start
    LoopLayer* loops    # of several cores each layer in its ways: from loop_start[v] to loop_start[v + 1]
    i64* loop_start
    i64* loop_cycles    # by entry of `loops`, of the core that has most
    Nest* nests         # on one core; by layer those that contain it
    i64* nest_at
    i64* nest_start
    i64* pairs          # of layers, then of nests: an operand and a result that may take its place, one after the other
    i64* pair_start
    i64* whole          # by tensor: bytes while it is kept (this and the next: where tensors may be kept)
    i64* moved          # bytes of one crossing of DRAM, all samples


cdef struct Subgraph:
    Geometry* geometry
    i64 layer_count
    i64 tensor_count
    i64* layers         # the first of `tensors`
    i64* tensors
    i64* consumers_first
    Reader** readers
    i64* reader_count
    i64* is_whole
    i64 has_whole_edge
    i64 is_square       # all its tensors
    i64 any_kept
    i64* on_chip        # whether it is kept whole, where any_kept


cdef inline Shape shape(i64 rows, i64 columns) noexcept nogil:
    cdef Shape found
    found.rows, found.columns = rows, columns
    return found


cdef inline bint is_kept(Subgraph* subgraph, i64 tensor) noexcept nogil:
    return subgraph.any_kept and subgraph.on_chip[tensor]
