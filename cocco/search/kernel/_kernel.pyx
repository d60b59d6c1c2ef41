# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled twin of the search: makes and prices genomes as the Python engine does, to the byte.

The simulator states the model; the files included here repeat it in machine integers, without Python objects, so
that a search prices hundreds of thousands of genomes per second. Tests hold the two equal. Names follow the modules
that each file repeats; 64-bit overflow is found, and the caller turns to the Python engine.
"""

from libc.math cimport INFINITY, NAN, exp
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memmove, memset

from cpython.exc cimport PyErr_CheckSignals

from cocco.search.kernel._model cimport *
from simulator.integers cimport FITS, OVERFLOW, SHORT, ceil_div, floor_div, i64, imax, imin, row_bytes, u64

import mmap
from itertools import chain

import numpy as np

from cocco.search.kernel._model import _kept_numbers
from simulator.mapping.closed import cycles_of_lanes
from simulator.model.equivalence import Alike
from simulator.model.layer.least_room import least_room, needs
from simulator.model.nests.epilogue import room_of
from workloads.network.layers.ops import ALONE_OPS
from simulator.model.schemes.ways import dealt_layer
from simulator.technology import OPERATION_UNITS

cdef class Kernel
cdef class Scratch
cdef class Orders

include "genetic/operators.pxi"
include "keeping/gaps.pxi"
include "genetic/fit.pxi"
include "keeping/floors.pxi"
include "keeping/decode.pxi"
include "keeping/settle.pxi"
include "genetic/generation.pxi"
include "genetic/generations.pxi"
include "exact/sets.pxi"
include "exact/orders.pxi"


# The face to Python

cdef class Kernel:
    """The compiled engine of one search problem (cocco.problem.problem.Problem); checks nothing that Problem checks.

    `breed` makes and prices one generation, or a part of it, without the GIL; several threads may call it for
    different children at once, each with a `Scratch` of its own.
    """

    cdef Net net
    cdef Machine machine
    cdef Graph graph
    cdef Goal goal
    cdef Rates rates
    cdef LoopLayers loops
    cdef object kept    # arrays behind the pointers
    cdef KeptLayer* kept_layers     # by layer, where tensors may stay on chip
    cdef KeptLayer* own_layers      # the same, NULL where they are another kernel's
    cdef i64 may_keep   # 0: no; else 1 + the metric by which a genome keeps: ema, energy, latency
    cdef i64 kept_numbers           # the most that layer_beside needs for one layer
    cdef object rule    # simulator.model.pricing.PricingRules, of any network

    def __cinit__(self, problem, settings=None, Kernel like=None):
        """like: a kernel of the same networks and rules, in any memory, with which layers are shared."""
        self.kept, self.rule = [], problem.rules[0]
        if like is None:
            self._fill_net(problem)
            self._fill_graph(problem)
            if problem.keep == "auto":
                self._fill_kept(problem)
        else:
            self._share(like)
        self._fill_goal(problem)
        if settings is not None:
            self._fill_rates(settings, bool(problem.buffers))

    cdef _share(self, Kernel like):
        self.kept.append(like)
        self.net, self.machine, self.graph, self.loops = like.net, like.machine, like.graph, like.loops
        self.kept_layers, self.kept_numbers, self.may_keep = like.kept_layers, like.kept_numbers, like.may_keep

    def _fill_net(self, problem):
        rules, offsets, size = problem.rules, problem.offsets, problem.size
        layers = [layer for rule in rules for layer in rule.geometry.network.layers]  # with the experts of the batch
        ids, inputs = [], size  # per network: local tensor id -> union id
        for network, offset in zip(problem.networks, offsets):
            count = len(network.layers)
            ids.append([offset + i if i < count else inputs + i - count for i in range(len(network.tensors))])
            inputs += len(network.inputs)
        order = [(i, t) for i, network in enumerate(problem.networks) for t in range(len(network.layers))]
        order += [
            (i, t) for i, network in enumerate(problem.networks)
            for t in range(len(network.layers), len(network.tensors))
        ]
        self.net.count, self.net.tensors = size, len(order)
        for axis in range(2):
            self.net.extent[axis] = self._hold([rules[i].geometry.extent[axis][t] for i, t in order])
            self.net.reach[axis] = self._hold([x for rule in rules for x in rule.geometry.reach[axis]])
            self.net.stride[axis] = self._hold([x for rule in rules for x in rule.geometry.stride[axis]])
            self.net.upsample[axis] = self._hold([x for rule in rules for x in rule.geometry.upsample[axis]])
            self.net.padding[axis] = self._hold([x for rule in rules for x in rule.geometry.padding[axis]])
        self.net.is_square = self._hold([rules[i].geometry.is_square[t] for i, t in order])
        self.net.channels = self._hold([rules[i].geometry.channels[t] for i, t in order])
        self.net.bits = self._hold([rules[i].geometry.network.tensors[t].bits for i, t in order])
        self.net.row_bytes = self._hold([rules[i].geometry.row_bytes[t] for i, t in order])
        self.net.size_bytes = self._hold([rules[i].geometry.size_bytes[t] for i, t in order])
        self.net.state_bytes = self._hold([rules[i].geometry.state_bytes[t] for i, t in order])
        self.net.carried_bytes = self._hold([x for rule in rules for x in rule.geometry.carried_bytes])
        self.net.weight_bytes = self._hold([x for rule in rules for x in rule.geometry.weight_bytes])
        self.net.shares = self._hold([
            share and share + offset for rule, offset in zip(rules, offsets) for share in rule.geometry.shares
        ])
        self.net.operations = self._hold([x for rule in rules for x in rule.geometry.operations])
        self.net.operation_extra = self._hold([x for rule in rules for x in rule.geometry.operation_extra])
        self.machine.is_apart = any(unit != 1 for rule in rules for unit in rule.units)
        self.net.alone = self._hold([layer.op in ALONE_OPS for layer in layers])
        self.net.unit = self._hold([unit for rule in rules for unit in rule.units])
        self.net.most_groups = self._hold([most for rule in rules for most in rule.most_groups])
        self.net.is_output = self._hold([x for each in problem.networks for x in each.is_output[: len(each.layers)]])
        producers = [[ids[i][p] for p in each] for i, network in enumerate(problem.networks) for each in network.producers]
        self.net.producers = self._hold([p for each in producers for p in each])
        self.net.producer_start = self._hold(_starts(producers))
        readers = [
            (ids[i][each.layer], each.local, each.whole, *_heard_of(rules[i], each.layer, t))
            for i, t in order for each in rules[i].geometry.readers[t]
        ]
        self.net.readers = <Reader*>self._hold([x for each in readers for x in each])
        self.net.reader_start = self._hold(_starts([rules[i].geometry.readers[t] for i, t in order]))
        rule = rules[0]
        self._fill_cores(problem, layers)
        self.machine.is_shared, self.machine.is_exact = rule.is_shared, rule.tile_rule == "exact"
        self.machine.cores, self.machine.batch = rule.cores, rule.batch
        self.machine.max_regions = rule.max_regions or 0
        self.machine.rate, self.machine.ports = rule.rate, rule.ports
        self.machine.per_cycle = rule.rate.per_cycle
        technology = problem.accelerator.technology
        self.machine.alignment = technology.channel_alignment
        self.machine.port, self.machine.crossbar_port = technology.crossing(rule.cores)
        self.machine.has_loops = rule.has_loop_orders
        self.machine.metric = ("ema", "energy", "latency-sum").index(rule.metric)
        self.machine.crossbar = technology.on_chip.crossbar
        self.machine.dram, self.machine.operation = technology.dram_pj_per_byte, technology.on_chip.operation
        self.machine.idle, self.machine.idle_macs = technology.on_chip.idle, rule.idle_macs
        ways = [
            rules[i].loop_ways((v,)) for i, network in enumerate(problem.networks) for v in range(len(network.layers))
        ]
        ways += [problem.rules[i].loop_ways(layers) for i, layers in _nests_of(problem)]  # of one core, one each
        of_port = 1  # slots, or cycles of MACs, of a byte that passes a port
        if self.machine.ports[0]:
            of_port = ceil_div(max(self.machine.rate[0], self.machine.idle_macs), self.machine.ports[0])
        self.loops = LoopLayers([way.loops for each in ways for way in each], "bands", self.machine.port, of_port)
        self.net.loops, self.net.loop_start = self.loops.layers, self._hold(_starts(ways))
        self.net.loop_cycles = self._hold([rule.crew.looped_cycles(way) for each in ways for way in each])
        self.machine.tile_count, self.machine.tiles = len(technology.tiles), self._hold(technology.tiles)
        self._fill_nests(problem)

    def _fill_nests(self, problem):
        """The nests of all networks, and by layer those that contain it."""
        found, at = _nests_of(problem), [[] for _ in range(problem.size)]
        self.net.nests = <Nest*>self._hold([0] * (len(found) * (sizeof(Nest) // sizeof(i64))))
        alike = {i: Alike(problem.rules[i]) for i in dict(found)}
        numbers = {}
        for k, (i, layers) in enumerate(found):
            self.net.nests[k].alike = numbers.setdefault((i, alike[i].key(layers)), len(numbers) + 1)
            rules, offset = problem.rules[i], problem.offsets[i]
            smallest = needs(rules.loops_of(layers))
            ids = [offset + v for v in layers]
            self.net.nests[k].layers, self.net.nests[k].count = self._hold(ids), len(ids)
            nest = rules.nests[layers]
            self.net.nests[k].made = offset + nest.result
            self.net.nests[k].may_stay = self._hold([v not in nest.inner for v in layers])
            self.net.nests[k].needs, self.net.nests[k].need_count = self._hold(sum(smallest, ())), len(smallest)
            self.net.nests[k].least = least_room(rules.loops_of(layers), rules.is_shared).activation
            self.net.nests[k].weights = rules.geometry.weights_of(layers)
            for v in ids:
                at[v].append(k)
        self.net.nest_at, self.net.nest_start = self._hold(sum(at, [])), self._hold(_starts(at))
        groups = [(i, (v,)) for i, network in enumerate(problem.networks) for v in range(len(network.layers))] + found
        pairs = [[_union(problem, i, u) for pair in problem.rules[i].places(each) for u in pair] for i, each in groups]
        self.net.pairs, self.net.pair_start = self._hold(sum(pairs, [])), self._hold(_starts(pairs))

    def _fill_cores(self, problem, layers):
        """What layers take and how long where cores share them, or groups of channels run one after the other."""
        from simulator.model.subgraph.apart import divisors_of, one_group

        crew = problem.rules[0].crew
        technology, samples = problem.accelerator.technology, -(-crew.batch // crew.teams)
        self.machine.samples, self.machine.teams, self.machine.bands = samples, crew.teams, crew.bands
        self.net.cycles = self._hold([crew.cycles(dealt_layer(layer, crew.deal), crew.batch) for layer in layers])
        apart = [
            [x for g in divisors_of(layer, unit) for x in (g, g * crew.cycles(one_group(layer, g), crew.batch))]
            for rule in problem.rules for layer, unit in zip(rule.geometry.network.layers, rule.units)
        ]
        self.net.apart, self.net.apart_start = self._hold(x for each in apart for x in each), self._hold(_starts(apart))
        self.net.dealt_weights = self._hold([
            layer.weight_bytes * crew.deal.most(layer.channels) // layer.channels for layer in layers
        ])
        lanes = [cycles_of_lanes(layer, samples, technology) if crew.cores > 1 else {1: 0} for layer in layers]
        self.machine.lane_count, self.machine.lanes = len(lanes[0]), self._hold(lanes[0])
        self.net.lane_cycles = self._hold([cycles for each in lanes for cycles in each.values()])

    def _fill_kept(self, problem):
        """What a genome needs that may keep tensors on chip; `breed` and `values` then decode what it keeps."""
        whole, moved = [[], []], [[], []]
        self.may_keep = 1 + ("ema", "energy", "latency-sum").index(problem.metric)
        for rules in problem.rules:
            network = rules.geometry.network
            for u in range(len(network.tensors)):
                whole[u >= len(network.layers)].append(rules.whole_bytes(u))
                moved[u >= len(network.layers)].append(rules.batch * rules.geometry.size_bytes[u])
        self.net.whole, self.net.moved = self._hold(sum(whole, [])), self._hold(sum(moved, []))
        self._fill_kept_layers(problem)

    def _fill_kept_layers(self, problem):
        """What is needed to see a layer as its loops do beside kept tensors."""
        first_input = problem.size
        count = problem.size + len(_nests_of(problem))
        self.own_layers = self.kept_layers = <KeptLayer*>calloc(count + 1, sizeof(KeptLayer))
        if self.kept_layers == NULL:
            raise MemoryError("no memory for the layers of the kernel")
        place = problem.size
        for rules, offset in zip(problem.rules, problem.offsets):
            network = rules.geometry.network
            if rules.has_loop_orders:
                for v in range(len(network.layers)):
                    asked = network.operands[v], network.layers[v], first_input, offset
                    self._fill_kept_layer(offset + v, v, network, rules.loop_layer(v), *asked)
            for layers, nest in rules.nests.items():
                asked = nest.operands, nest.layer(network), first_input, offset
                self._fill_kept_layer(place, nest.result, network, rules.loops_of(layers), *asked)
                self._fill_followers(place, nest, network, rules.loops_of(layers), first_input, offset)
                place += 1
            first_input += len(network.inputs)

    def _fill_kept_layer(self, place, made, network, layer, operands, found, first_input, offset):
        cdef KeptLayer* into = &self.kept_layers[place]
        lists, numbers = _kept_numbers(network, layer, operands, found, first_input, offset)
        producers, is_new, places, whole, inputs = lists
        into.inputs, into.input_count, into.made = self._hold(inputs), len(inputs), offset + made
        into.producers, into.is_new = self._hold(producers), self._hold(is_new)
        into.places, into.place_count, into.whole = self._hold(places), len(places), self._hold(whole)
        into.second_count, into.holes, into.groups, *seconds = numbers
        for i, (tensor, rows) in enumerate(seconds):
            into.second[i], into.second_rows[i] = tensor, rows
        self.kept_numbers = max(self.kept_numbers, len(producers) + 4 * len(whole))

    def _fill_followers(self, place, nest, network, layer, first_input, offset):
        """What layers read that follow the loops of a nest, and what leaves in between."""
        cdef KeptLayer* into = &self.kept_layers[place]
        sizes = [(each.tensor, network.tensors[each.tensor]) for each in nest.others]
        ids = [u + offset if u < len(network.layers) else first_input + u - len(network.layers) for u, _ in sizes]
        rooms = [room_of(layer, tensor, each.is_gate) for each, (_, tensor) in zip(nest.others, sizes)]
        numbers = [(u, tensor.size_bytes, *room) for u, (_, tensor), room in zip(ids, sizes, rooms)]
        into.other_count, into.others = len(ids), <i64 (*)[4]>self._hold(sum(numbers, ()))
        into.leaving_count, into.leaving = len(nest.leaving), self._hold([offset + v for v in nest.leaving])
        more = [u for u in ids if u not in [into.inputs[i] for i in range(into.input_count)]]
        inputs = [into.inputs[i] for i in range(into.input_count)] + more
        into.inputs, into.input_count = self._hold(inputs), len(inputs)

    def __dealloc__(self):
        free(self.own_layers)

    def _fill_graph(self, problem):
        self.graph.size, self.graph.edges = problem.size, len(problem.edges)
        self.graph.source = self._hold([p for p, _ in problem.edges])
        self.graph.target = self._hold([v for _, v in problem.edges])
        self.graph.sets = len(problem.siblings)
        self.graph.siblings = self._hold([v for each in problem.siblings for v in each])
        self.graph.sibling_start = self._hold(_starts(problem.siblings))
        self.graph.sets_of = self._hold([i for each in problem.siblings_of for i in each])
        self.graph.sets_of_start = self._hold(_starts(problem.siblings_of))
        self.graph.producers = self._hold([p for each in problem.producers for p in each])
        self.graph.producer_start = self._hold(_starts(problem.producers))
        self.graph.consumers = self._hold([v for each in problem.consumers for v in each])
        self.graph.consumer_start = self._hold(_starts(problem.consumers))
        self.graph.networks = len(problem.networks)
        self.graph.offsets = self._hold(problem.offsets)
        self.graph.network_of = self._hold(problem.network_of)

    def _fill_goal(self, problem):
        from simulator.accelerator import static_pj_per_slot

        machine, objective, technology = problem.accelerator, problem.objective, problem.accelerator.technology
        metrics = list(map(("ema", "energy", "latency-sum").index, objective.metrics))
        self.goal.metric, self.goal.others = metrics[0], len(objective.also)
        self.goal.other = self._hold(metrics[1:])
        self.goal.worth = self._hold_floats([worth for _, worth in objective.also])
        self.goal.has_alpha, self.goal.alpha = objective.alpha is not None, objective.alpha or 0.0
        self.goal.counted = machine.cores if objective.count == "all" else 1
        self.goal.weights = self._hold_floats(objective.weights)
        self.goal.dram, self.goal.operation = technology.dram_pj_per_byte, technology.on_chip.operation
        self.goal.operation_unit = technology.on_chip.operation / OPERATION_UNITS
        self.goal.crossbar = technology.on_chip.crossbar
        sizes = problem.candidates or ((machine.activation_capacity,), (machine.weight_capacity,))
        self.goal.buffers = len(problem.candidates)
        for i in range(2):
            chosen = sizes[i if i < len(sizes) else 0]
            self.goal.choices[i] = len(chosen)
            self.goal.capacity[i] = self._hold(chosen)
            rows = [technology.sram("activation" if machine.is_shared or not i else "weight", size) for size in chosen]
            rates = [each for row in rows for each in (row.read_pj_per_byte, row.write_pj_per_byte)]
            self.goal.sram[i] = <ByteCost*>self._hold_floats(rates)
            self.goal.leakage[i] = self._hold_floats([
                0.0 if i and machine.is_shared else static_pj_per_slot(technology, machine.cores, row, None)[0]
                for row in rows
            ])
        self.goal.background, self.goal.logic = machine.static_pj_per_slot[2:]
        self.goal.idle = technology.on_chip.idle

    def _fill_rates(self, settings, has_capacities):
        from cocco.candidates.stream import threshold

        self.rates.crossing, self.rates.again = threshold(settings.crossover), threshold(settings.again)
        ends = settings.shares(has_capacities)
        self.rates.modify_end, self.rates.split_end, self.rates.merge_end, self.rates.shift_end = ends
        self.rates.deviation = settings.deviation
        self.rates.tournament, self.rates.retries = settings.tournament, settings.retries
        self.rates.is_uniform = settings.uniform

    cdef i64* _hold(self, values) except NULL:
        array = np.array([int(value) for value in values] + [0], dtype=np.int64)
        self.kept.append(array)
        cdef i64[::1] view = array
        return &view[0]

    cdef double* _hold_floats(self, values) except NULL:
        array = np.array([float(value) for value in values] + [0.0], dtype=np.float64)
        self.kept.append(array)
        cdef double[::1] view = array
        return &view[0]

    def breed(
        self, Scratch scratch, u64 seed, u64 generation, i64 first, i64 last,
        const i64[:, ::1] parent_labels, const i64[:, ::1] parent_capacities, const i64[:, ::1] founder_labels,
        i64[:, ::1] labels, i64[:, ::1] capacities, double[::1] value, double[::1] cost,
    ):
        """Make and price children first..last-1 of a generation, writing row i of each output for child i.

        parent_labels, parent_capacities: the population sorted by cost, empty for a generation of founders.
        """
        cdef Brood brood
        cdef Individual child
        cdef i64 i, size = self.graph.size
        cdef int status = FITS
        brood.size, brood.parents = size, parent_labels.shape[0]
        brood.founders = founder_labels.shape[0]
        brood.founder_labels = &founder_labels[0, 0] if brood.founders else NULL
        brood.seed, brood.generation = seed, generation
        cdef char[::1] room = np.empty((brood.parents + 1) * sizeof(Individual), dtype=np.int8)
        brood.parent = <Individual*>&room[0]
        with nogil:
            for i in range(brood.parents):
                brood.parent[i].labels = <i64*>&parent_labels[i, 0]
                brood.parent[i].capacities = <i64*>&parent_capacities[i, 0]
                hash_individual(&brood.parent[i], size, self.goal.buffers)
            for i in range(first, last):
                child = row_of(i, labels, capacities, value, cost)
                let_in(i)
                status = make_child(self, scratch, &brood, i, &child)
                if status != FITS:
                    break
        if status == OVERFLOW:
            raise OverflowError("64 bits do not hold the steps of a subgraph")

    def values(
        self, Scratch scratch, i64[:, ::1] labels, i64[:, ::1] capacities, double[::1] value, double[::1] cost
    ):
        """Price genomes that are valid and fit, row by row; one that does not fit is cut, as its labels then say."""
        cdef i64 i, count = labels.shape[0]
        cdef int status = FITS
        cdef u64 stream
        cdef Individual one
        with nogil:
            for i in range(count):
                stream = open_stream(0, 0, <u64>i)
                let_in(i)
                one = row_of(i, labels, capacities, value, cost)
                status = evaluate(self, scratch, &one, &stream)
                if status != FITS:
                    break
        if status == OVERFLOW:
            raise OverflowError("64 bits do not hold the steps of a subgraph")

    def price(self, Scratch scratch, layers, i64 capacity, i64 weight_capacity):
        """Return what one subgraph adds to the totals (simulator.model.cost.Totals), None if short."""
        cdef i64[::1] ids = np.array(sorted(layers), dtype=np.int64)
        cdef Row row
        cdef Memory memory
        cdef int status
        memory.activations = capacity
        memory.weights = capacity if self.machine.is_shared else weight_capacity
        goal = self.rule.goal(capacity, weight_capacity)
        memory.activation_pj.read, memory.activation_pj.write = goal.activation, goal.activation_write
        memory.weight_pj.read, memory.weight_pj.write = goal.weights, goal.weights_write
        memory.static_pj = goal.static
        memory.reserved = memory.elsewhere = memory.handed = 0
        with nogil:
            status = price(&self.net, &self.machine, &scratch.work, &ids[0], ids.shape[0], &memory, &row)
        if status == OVERFLOW:
            raise OverflowError("64 bits do not hold the steps of this subgraph")
        if status == SHORT:
            return None
        return numbers_of(&row)

    def cost(self, Scratch scratch, layers):
        """Return Formula 1 of a subgraph on given hardware, with the weight of its network; inf if it does not fit."""
        cdef i64* ids = scratch.bench.group
        cdef i64 v, count = 0
        cdef Memory memory = memory_of(self, 0, 0)
        cdef Row row
        cdef int status
        for v in layers:
            ids[count] = v
            count += 1
        with nogil:
            status = price(&self.net, &self.machine, &scratch.work, ids, count, &memory, &row)
        if status == OVERFLOW:
            raise OverflowError("64 bits do not hold the steps of this subgraph")
        if status == SHORT:
            return INFINITY
        return row_cost(self, &memory, &row, self.graph.network_of[ids[0]])

    def may_fit(self, Scratch scratch, layers, i64 capacity, i64 weight_capacity):
        """Return False only where neither these ascending layers nor any larger set fits as a subgraph."""
        cdef i64[::1] ids = np.array(layers, dtype=np.int64)
        cdef Memory memory
        memory.activations = capacity
        memory.weights = capacity if self.machine.is_shared else weight_capacity
        return may_fit(self, scratch, &ids[0], ids.shape[0], &memory)


cdef inline Individual row_of(
    i64 i, i64[:, ::1] labels, i64[:, ::1] capacities, double[::1] value, double[::1] cost
) noexcept nogil:
    """The genome in a row of these arrays, and what it costs."""
    cdef Individual one
    one.labels, one.capacities, one.value, one.cost = &labels[i, 0], &capacities[i, 0], &value[i], &cost[i]
    return one


cdef inline int let_in(i64 number) except -1 nogil:
    """Let Ctrl-C in, and other threads, every few genomes or sets of layers."""
    if not number & 15:
        with gil:
            PyErr_CheckSignals()
    return 0


cdef tuple numbers_of(Row* row):
    """A row as simulator.model.cost.Totals."""
    return tuple([(<i64*>row)[i] for i in range(ROW_NUMBERS)])


cdef class Scratch:
    """The working memory of one thread for one kernel: linear in layers and edges, whatever the number of samples."""

    cdef Work work
    cdef Bench bench
    cdef Bench other
    cdef Row* totals
    cdef Memo memo
    cdef Keeping kept
    cdef Keeping* keeping   # NULL where nothing may stay on chip
    cdef object held        # arrays behind its pointers

    def __cinit__(self, Kernel kernel):
        cdef i64 n = kernel.net.tensors + 2, edges = kernel.net.reader_start[kernel.net.tensors] + 1
        cdef i64* at
        cdef i64 v
        self.keeping, self.held = NULL, []
        self.totals = <Row*>room(self.held, kernel.graph.networks + 1, sizeof(Row))
        self.memo.entries, self.memo.layer = <Entry*>room(self.held, ENTRIES, sizeof(Entry)), <Print*>room(self.held, n, sizeof(Print))
        self.memo.last = ENTRIES - 1
        for v in range(kernel.graph.size):
            self.memo.layer[v].first, self.memo.layer[v].second = print_first(v), print_second(v)
        lay_out_work(&self.work, <i64*>room(self.held, 41 * n + 5 * edges, 8), n, edges)
        self.work.nests.entries, self.work.nests.last = <Entry*>room(self.held, 1 << 12, sizeof(Entry)), (1 << 12) - 1
        at = <i64*>room(self.held, 40 * n + 2 * (kernel.graph.edges + kernel.graph.sets), 8)
        at = lay_out_bench(&self.bench, at, n, &kernel.graph)
        lay_out_bench(&self.other, at, n, &kernel.graph)
        if kernel.may_keep:
            self._lay_out_keeping(kernel)
            self.keeping = &self.kept

    cdef _lay_out_keeping(self, Kernel kernel):
        cdef Keeping* k = &self.kept
        cdef Places* p = &k.places
        cdef i64 u, n = kernel.graph.size + 2, tensors = kernel.net.tensors, i
        cdef i64 places = kernel.net.reader_start[tensors] + tensors + 2
        p.layers, p.tensors = kernel.graph.size, tensors
        p.whole, p.moved, p.is_output = kernel.net.whole, kernel.net.moved, kernel.net.is_output
        p.start, p.count = <i64*>room(self.held, tensors, 8), <i64*>room(self.held, tensors, 8)
        for u in range(tensors):
            p.start[u] = kernel.net.reader_start[u] + u
        p.step, p.takes = <i64*>room(self.held, places, 8), <i64*>room(self.held, places, 8)
        p.is_kept, p.is_taken = <i64*>room(self.held, places, 8), <i64*>room(self.held, places, 8)
        p.stay = <i64*>room(self.held, places, 8)
        p.free, p.slots, p.first_stay = <i64*>room(self.held, n, 8), <i64*>room(self.held, n, 8), <i64*>room(self.held, n, 8)
        p.candidates, p.standing = <Candidate*>room(self.held, places, sizeof(Candidate)), <i64*>room(self.held, places, 8)
        p.ranked, p.fresh = <i64*>room(self.held, places, 8), <i64*>room(self.held, 2 * places, 8)
        p.stays = <Stay*>room(self.held, places, sizeof(Stay))
        k.by, k.layers, k.alone = kernel.may_keep - 1, kernel.kept_layers, <Row*>room(self.held, n, sizeof(Row))
        k.members, k.member_start = <i64*>room(self.held, n, 8), <i64*>room(self.held, n, 8)
        k.inputs, k.input_start = <i64*>room(self.held, 2 * places, 8), <i64*>room(self.held, n, 8)
        k.reserved, k.handed = <i64*>room(self.held, n, 8), <i64*>room(self.held, n, 8)
        k.rows = <Row*>room(self.held, n, sizeof(Row))
        k.status, k.active = <int32_t*>room(self.held, n, 4), <i64*>room(self.held, places, 8)
        k.passing, k.touches = <i64*>room(self.held, n, 8), <i64*>room(self.held, n, 8)
        k.prints, k.asked = <Print*>room(self.held, n, sizeof(Print)), <Print*>room(self.held, n, sizeof(Print))
        k.spare = <i64*>room(self.held, tensors + kernel.kept_numbers, 8)
        for i in range(3):
            k.sets[i] = <u64*>room(self.held, tensors // 64 + 1, 8)
        k.floors.entries = <FloorEntry*>room(self.held, FLOOR_ENTRIES, sizeof(FloorEntry))
        k.floors.arena = <i64*>room(self.held, FLOOR_ARENA, 8)
        k.prices.entries, k.prices.last = <Entry*>room(self.held, KEPT_ENTRIES, sizeof(Entry)), KEPT_ENTRIES - 1


cdef void* room(list held, i64 count, i64 size) except NULL:
    """Return zeros that live as long as the list; memory that is never written to is address space only."""
    cdef unsigned char[::1] view = zeros(count * size + 8)
    held.append(view)
    return &view[0]


def zeros(size):
    """Return so many bytes, all 0; of many, straight from the system: what the heap gives again it must clear first."""
    if size < 1 << 17 or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(size, dtype=np.uint8)
    try:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        raise MemoryError("no memory for the kernel's scratch space") from None


cdef i64* take(i64** at, i64 count) noexcept:
    cdef i64* here = at[0]
    at[0] += count
    return here


cdef void lay_out_work(Work* w, i64* at, i64 n, i64 edges) noexcept:
    cdef Subgraph* s = &w.subgraph
    cdef int i
    w.stamp = 0
    w.seen, w.cell_bytes = take(&at, n), take(&at, n)
    s.tensors, s.consumers_first, s.reader_count = take(&at, n), take(&at, n), take(&at, n)
    s.layers, s.readers = s.tensors, <Reader**>take(&at, n)
    s.is_whole, s.on_chip = take(&at, n), take(&at, n)
    for i in range(2):
        w.rates[i].component, w.rates[i].rate = take(&at, n), take(&at, n)
        w.tiles[i], w.updates[i] = <Tile*>take(&at, 4 * n), <Updates*>take(&at, 4 * n)
    w.steps.step, w.steps.updates, w.steps.length = take(&at, n), take(&at, n), take(&at, n)
    w.tiling.merged, w.tiling.held = take(&at, n), take(&at, n)
    w.regions = <Region*>take(&at, 6 * n)
    w.bands.unit, w.bands.most = take(&at, n), take(&at, n)
    w.readers = <Reader*>take(&at, 5 * edges)


cdef i64* lay_out_bench(Bench* b, i64* at, i64 n, Graph* g) noexcept:
    cdef i64 i
    b.spare, b.root, b.start, b.next, b.last = take(&at, n), take(&at, n), take(&at, n), take(&at, n), take(&at, n)
    b.waits, b.ready, b.done, b.flag, b.flag2 = take(&at, n), take(&at, n), take(&at, n), take(&at, n), take(&at, n)
    b.group, b.part, b.parts, b.queue = take(&at, n), take(&at, n), take(&at, n), take(&at, n)
    b.queue_length, b.order, b.place = take(&at, n), take(&at, n), take(&at, n)
    b.prints, b.crossing = <Print*>take(&at, 2 * n), take(&at, g.edges)
    b.met = take(&at, g.sets)
    for i in range(g.sets):
        b.met[i] = -1
    return at


def _heard_of(rules, v, u):
    """Return the bytes of a position of a tensor that the cores of a layer read, and those that cross."""
    if rules.cores == 1:
        return rules.geometry.row_bytes[u], 0
    heard = rules.crew.deal.heard(rules.geometry.network, v, u)
    return heard.total, heard.total - heard.own


def _union(problem, i, u):
    """Return the id of a tensor of a network in the union: layers of all networks first."""
    layers = len(problem.networks[i].layers)
    if u < layers:
        return problem.offsets[i] + u
    return problem.size + sum(len(each.inputs) for each in problem.networks[:i]) + u - layers


def _nests_of(problem):
    """Return the nests of all networks, each with the position of its network."""
    return [(i, layers) for i, rules in enumerate(problem.rules) for layers in rules.nests]


def _starts(lists):
    starts, count = [0], 0
    for each in lists:
        count += len(each)
        starts.append(count)
    return starts


cdef i64 _index_size(i64 entries):
    cdef i64 size = 1024
    while size < 2 * entries:
        size *= 2
    return size


include "genetic/near.pxi"
include "genetic/annealing.pxi"
include "genetic/evolve.pxi"
include "genetic/improve.pxi"
include "exact/prices.pxi"
include "exact/search.pxi"
include "exact/floors.pxi"
include "exact/near.pxi"
include "exact/steps.pxi"
include "exact/alike.pxi"
include "patterns/runs.pxi"
include "patterns/ways.pxi"
include "patterns/steps.pxi"
