"""Options that several commands take: networks, buffers, machine, space, search."""

from __future__ import annotations

import argparse
from argparse import Namespace
from dataclasses import replace
from typing import Any, get_args

from cocco.cli.options import values
from cocco.cli.options.effort import add_search_effort
from cocco.cli.options.of_methods import Of, is_plain
from cocco.cli.options.usage import Parser, UsageError
from cocco.effort.settings import Settings
from cocco.output.text.layout.tables import FORMATS
from cocco.problem.names import Count, Keep
from simulator.metrics import METRIC_NAMES

#: headings of --help-all, each over options of several functions
NETWORKS, MODEL, SEARCH, COST, ANSWER = "networks", "machine and model", "search", "cost", "answer"
GENETIC = ("auto", "ga", "paper", "random", "grid")  #: methods with a genetic algorithm in them
OF_GENETIC = (Of("--plain", False, GENETIC), Of("--setting", None, GENETIC))
NETWORK_HELP = (
    "a built-in network (see 'cocco networks'), or the path of a layer-graph/1 (.json), of the config.json of a "
    "language model, of an ONNX file (.onnx) or of what torch.export.save wrote (.pt2), or model.py:make_model, which "
    "a file of yours makes"
)
PARTITION = (
    "a partition file (.json, .yaml; docs/partitions.md), the folder of a run (of 'cocco explore -o'), 'layerwise': "
    "every layer alone, or heuristic.py:make_plan, a function in a file of yours"
)
NETWORK_OR_RUN = f"{NETWORK_HELP}; or the folder of a run, for its network, plan and hardware"


def add_network(parser: Parser, or_run: bool = False) -> None:
    """Add the one network that a command is about; or_run: whether a run may say which."""
    shown, text = ("NETWORK|DIR", NETWORK_OR_RUN) if or_run else ("NETWORK", NETWORK_HELP)
    parser.add_argument("network", metavar=shown, help=text)
    add_unsupported(parser)


def add_networks(parser: Parser) -> None:
    """Add the networks that share a memory, and their weights."""
    parser.add_argument("networks", metavar="NETWORK", nargs="+", help=NETWORK_HELP)
    parser.add_argument_group(NETWORKS).add_argument(
        "--weights", type=values.number, nargs="+", metavar="W",
        help="how much each network counts, in the order of the networks; default: 1 each",
    )  # fmt: skip
    add_unsupported(parser)


def add_unsupported(parser: Parser) -> None:
    """Add what becomes of operators of an ONNX file that are not understood."""
    group = parser.add_argument_group(NETWORKS)
    group.add_argument(
        "--unsupported", choices=("error", "passthrough"), default="error",
        help="operators of an ONNX file or a module that are not understood: an error (default), or they pass their "
        "input on",
    )  # fmt: skip
    group.add_argument(
        "--extent", type=values.extent, action="append", metavar="NAME=N", dest="extents",
        help="a symbolic extent of an ONNX file, by its name, or by input and axis (ids.1=512); may be repeated; those "
        "of batches are 1 unless given",
    )  # fmt: skip
    group.add_argument(
        "--input", type=values.argument, action="append", metavar="N,N,...[:TYPE]", dest="inputs",
        help="of model.py:make_model: the shape of an argument, in their order, such as 1,3,224,224 or 1,128:int64; "
        "without a type that of the parameters",
    )  # fmt: skip
    add_language(parser)


def add_language(parser: Parser) -> None:
    """Add the options that select the step of a language model."""
    group = parser.add_argument_group("language models (built in, or their config.json)")
    group.add_argument(
        "--phase", choices=("prefill", "decode"),
        help="prefill (default): the whole prompt; decode: the next token, after those in the cache",
    )  # fmt: skip
    group.add_argument("--length", type=values.count, metavar="N", help="new tokens; default: 512, and 1 in decode")
    group.add_argument(
        "--past",
        type=values.pasts,
        metavar="N[,N...]",
        help="tokens in the cache; default: 0, and 1024 in decode; several: sequences that are decoded together, or "
        "the chunks of a prompt (explore)",
    )
    group.add_argument(
        "--prefix", type=values.count, metavar="N",
        help="of several sequences: the first N tokens in the cache are the same, and read once for all",
    )  # fmt: skip
    group.add_argument(
        "--experts", type=values.count, metavar="N",
        help="experts of a layer that are in use, and loaded, by all tokens; default: as expected if tokens are routed "
        "uniformly",
    )  # fmt: skip
    group.add_argument("--layers", type=values.count, metavar="N", help="the first N layers alone; default: all")
    group.add_argument(
        "--masks", choices=("none", "model"),
        help="none: each token's scores are of all tokens; model: of those that it sees, by the causal mask and the "
        "windows of the model; default: model for a config.json, none for built-in names",
    )  # fmt: skip
    group.add_argument(
        "--chips", type=values.count, metavar="N",
        help="the share of one of N chips, each with so much of the heads and columns of every layer; what they add up "
        "crosses the link between them",
    )  # fmt: skip
    group.add_argument(
        "--parallel", choices=("heads", "layers"), default="heads",
        help="layers: a pipeline of --chips instead, each with layers that follow each other; explore takes all stages",
    )  # fmt: skip
    group.add_argument("--stage", type=values.count, metavar="N", help="of a pipeline the chip with this stage alone")
    group = parser.add_argument_group(NETWORKS)
    group.add_argument(
        "--attention", choices=("layers", "blocks"),
        help="attention of any network: layers (default): scores, softmax and context; blocks: one layer, which passes "
        "by keys and values in blocks with a running softmax; show says where that cannot be",
    )  # fmt: skip
    group.add_argument(
        "--bits", type=values.bits, metavar="KIND=N[,...]",
        help="bits of the integers of all networks, or fp8, bf16, fp16, fp32, such as weights=4,cache=fp8; kinds: "
        "weights, activations, cache, sums; default: as the network says, else the paper's INT8, with sums of 32 bits",
    )  # fmt: skip


def add_json(parser: Parser) -> None:
    """Add how the answer is printed, the last options of every command."""
    how = parser.add_argument_group(ANSWER).add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    how.add_argument(
        "--format", choices=FORMATS, default=FORMATS[0],
        help="table: words and tables within the columns of the terminal, or 80 (default); csv, markdown: the tables "
        "alone, as they are shown, an empty line between them",
    )  # fmt: skip


def add_output(parser: Parser, what: str, of: str = "") -> None:
    """Add the file that the answer is written to; what: it is, with its endings; of: an option whose answer it is."""
    group = parser.add_argument_group(ANSWER)
    group.add_argument("-o", "--output", metavar="FILE", help=f"write the answer{of} to this file: {what}")


def add_picture(parser: Parser, what: str) -> None:
    """Add the file of a picture."""
    parser.add_argument_group(ANSWER).add_argument("--picture", metavar="FILE", help=f"draw {what} (.png, .svg)")


def add_folder(parser: Parser, files: str) -> None:
    """Add the folder that a run is written to; files: what it gets."""
    group = parser.add_argument_group(ANSWER)
    group.add_argument("-o", "--output", metavar="DIR", help=f"write the answer to this folder: {files}")
    group.add_argument(
        "--force", action="store_true",
        help="write into the folder of -o even where it holds the run of another question, whose files are removed",
    )  # fmt: skip


def add_buffers(parser: Parser) -> None:
    """Add the buffers of given hardware."""
    group = parser.add_argument_group("hardware: two buffers, or one for both")
    group.add_argument("--global-buffer", type=values.size, metavar="SIZE", help="activations, of one core")
    group.add_argument("--weight-buffer", type=values.size, metavar="SIZE", help="weights, of one core")
    group.add_argument("--shared-buffer", type=values.size, metavar="SIZE", help="activations and weights, of one core")


def add_space(parser: Parser) -> None:
    """Add the memories to choose from."""
    group = parser.add_argument_group("space: the memories to choose from")
    kinds = group.add_mutually_exclusive_group()
    kinds.add_argument("--shared", action="store_true", help="one buffer (the default); 128KB:3072KB:64KB")
    kinds.add_argument(
        "--separate", action="store_true",
        help="a global and a weight buffer; 128KB:2048KB:64KB and 144KB:2304KB:72KB",
    )  # fmt: skip
    group.add_argument(
        "--range", type=values.capacity_range, action="append", metavar="LOW:HIGH:STEP", dest="ranges",
        help="candidates other than the paper's, which go on where the answer lies at an end, as these do not; with "
        "--separate give it twice, first for the global buffer",
    )  # fmt: skip


def add_count(parser: Parser) -> None:
    """Add whose buffers count where the memory is chosen."""
    parser.add_argument_group(COST).add_argument(
        "--count", choices=get_args(Count), default="one",
        help="whose buffers are the capacity in the cost and in limits: those of one core, as in the paper (the "
        "default), or of all cores",
    )  # fmt: skip


def add_machine(parser: Parser, cores_axis: bool = False) -> None:
    """Add cores, batch and the rules of the model; cores_axis: whether several numbers of cores may be given."""
    from simulator.accelerator import PLANS
    from simulator.chip.logic import PRESETS
    from simulator.connected import CONNECTED

    group = parser.add_argument_group(MODEL)
    group.add_argument(
        "--hardware", metavar="FILE|DIR", dest="hardware_file",
        help="a .yaml or .json file of buffers, machine and technology (see 'cocco show --hardware'), or the folder of "
        "a run, for what that recommends; options take precedence over it",
    )  # fmt: skip
    group.add_argument(
        "--logic", choices=PRESETS,
        help="area, leakage and idle energy of cores, MACs and DRAM interfaces by this preset (docs/chips.md); else as "
        "--hardware says, or nothing",
    )  # fmt: skip
    group.add_argument(
        "--link", type=values.rate, metavar="RATE",
        help="of the link of a chip to others, in each direction, such as 100GB/s (10^9 bytes); default 64GB/s, or as "
        "--hardware says; with --chips",
    )  # fmt: skip
    unset = argparse.SUPPRESS  # cocco.cli.options.hardware.settle puts in what the file says, or the default
    whole: dict[str, Any] = {"type": values.count, "default": unset, "metavar": "N"}
    if cores_axis:
        group.add_argument(
            "--cores", type=values.counts, default=unset, metavar="N [N ...]",
            help="cores that a network runs on; default 1; several: a search for each, one table and one picture",
        )  # fmt: skip
    else:
        group.add_argument("--cores", **whole, help="cores that a network runs on; default 1")
    group.add_argument("--batch", **whole, help="samples computed together; default 1")
    group.add_argument(
        "--max-regions", type=values.count_or_none, default=unset, metavar="N|none",
        help="tensors that a subgraph of several layers may hold; default 64, as in the paper",
    )  # fmt: skip
    group.add_argument(
        "--groups-apart", action="store_true", default=unset,
        help="subgraphs may run one group of channels (one head of attention) after the other; one core; default, but "
        "not with --plans paper",
    )  # fmt: skip
    group.add_argument(
        "--plans", choices=PLANS, default=unset,
        help="which kinds of plans may be used. all (default); paper: those of the paper, subgraphs that are held and "
        "single layers, with nothing kept on chip between subgraphs",
    )  # fmt: skip
    group.add_argument(
        "--connected", choices=CONNECTED, default=unset,
        help="what connects the layers of a subgraph. all: an edge, a common input, a concatenation; paper: an edge "
        "between its own layers; default all",
    )  # fmt: skip
    group.add_argument(
        "--tile-rule", choices=("exact", "paper"), default=unset,
        help="exact: sizes that really run; paper: the paper's, which lose data where branches meet; default exact",
    )  # fmt: skip


def add_mapper(parser: Parser) -> None:
    """Add how layers run on the PE array."""
    parser.add_argument_group(MODEL).add_argument(
        "--mapper", choices=("enumerate", "tiled", "cosa"), default=argparse.SUPPRESS,
        help="how layers run on the PE array. enumerate: the closed form of whole layers (default); tiled: of each "
        "update, with its reads; cosa: CoSA's program for each update (extra 'solvers'). A search with tiled or cosa "
        "takes the reference engine",
    )  # fmt: skip


class Methods(tuple[str, ...]):
    """Methods by name, and those of others: an entry point "cocco.methods", or search.py:make_plans."""

    def __contains__(self, word: object) -> bool:
        from cocco.exploration.question.others import is_method  # here: it needs more than options do

        return super().__contains__(word) or is_method(str(word))


def add_search(
    parser: Parser, metric: str, methods: tuple[str, ...], more: str, metrics: tuple[str, ...] = METRIC_NAMES
) -> None:
    """Add what a search for a partition takes."""
    group = add_samples(parser)
    group.add_argument(
        "--method", choices=Methods(methods), default="auto",
        help="the algorithm. auto: exact where it finishes soon, else ga (default); ga: our genetic algorithm; paper: "
        "the paper's, Sec. 4.4, with --plans paper; exact: exact search; " + more + "; or yours (docs/adding.md)",
    )  # fmt: skip
    group.add_argument(
        "--metric", choices=metrics, default=metric,
        help="what to minimize: off-chip bytes, pJ or cycles: "
        + ("latency, as executed, or " if "latency" in metrics else "")
        + f"latency-sum, the paper's sum over subgraphs; default {metric}",
    )  # fmt: skip
    group.add_argument(
        "--slack", type=values.share, default=0.0, metavar="SHARE",
        help="the least energy among plans within this of the best, as 0.5%% or 0.005; default 0: among equally good "
        "ones",
    )  # fmt: skip
    group.add_argument(
        "--plain", action="store_true",
        help="the paper's genetic algorithm in place of ours, and --plans paper: with auto and ga it is --method paper",
    )  # fmt: skip
    group.add_argument(
        "--setting", type=values.setting, action="append", metavar="NAME=VALUE",
        help="a hyper-parameter of the genetic algorithm, such as population=500 or crossover=0.6: a field of "
        "cocco.Settings (docs/search-and-proof.md); may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--prove", action="store_true",
        help="where the optimum is not proved, find a better lower bound with solvers, which takes minutes "
        "(extra 'solvers')",
    )  # fmt: skip


def add_keep(parser: Parser, has_plain: bool = True) -> None:
    """Add whether tensors may stay on chip; has_plain: whether the command has --plain."""
    default = f"default; with --plans paper{', --method paper or --plain' if has_plain else ''}: none"
    parser.add_argument_group(SEARCH).add_argument(
        "--keep", choices=("auto", "none"),
        help=f"auto ({default}): tensors may stay on chip between subgraphs, with a proof that no "
        "plan costs less, where that finishes; none: nothing stays",
    )  # fmt: skip


def keep_of(options: Namespace) -> Keep:
    """Return whether tensors may stay on chip; unless stated, as in the paper if its plans or search are requested."""
    keep: Keep | None = options.keep
    if keep == "auto" and options.plans == "paper":
        raise UsageError("--keep auto not allowed with --plans paper: in the paper nothing stays on chip")
    if keep is not None:
        return keep
    return "none" if options.plans == "paper" or is_plain(options) else "auto"


def method_of(options: Namespace) -> str:
    """Return the algorithm: the paper's in place of ours, without a proof, if that is requested."""
    found: str = options.method
    return "paper" if options.plain and found in ("auto", "ga") else found


def settings_of(options: Namespace) -> Settings:
    """Return the hyper-parameters: the paper's or ours, but for those that are stated."""
    return replace(Settings.of("paper" if is_plain(options) else "ga"), **dict(options.setting or ()))


def add_samples(parser: Parser) -> Any:
    """Add samples, seed, engine and threads; return the group."""
    group = parser.add_argument_group(SEARCH)
    add_search_effort(group)
    group.add_argument(
        "--samples", type=values.count, metavar="N",
        help="genomes to price; default: those of the effort, 50000; exact, greedy and dp have none",
    )  # fmt: skip
    add_seed(group)
    add_engine(group)
    group.add_argument("--threads", type=values.count, default=1, metavar="N", help="of the fast engine; default 1")
    group.add_argument(
        "--workers", type=values.count, default=1, metavar="N",
        help="processes that work for one search (of several numbers of --cores: each for one of them), with the same "
        "answer; default 1",
    )  # fmt: skip
    group.add_argument(
        "--dask", type=values.address, metavar="tcp://HOST:PORT",
        help="a dask scheduler whose workers do so instead (extra 'dask')",
    )  # fmt: skip
    group.add_argument(
        "--progress", action="store_true",
        help="say on standard error what the search is doing, and the gap so far; a terminal always shows a bar",
    )  # fmt: skip
    return group


def add_engine(parser: Any) -> None:
    """Add which twin of the engine searches."""
    parser.add_argument(
        "--engine", choices=("fast", "reference"),
        help="fast: compiled (default where it is built); reference: in Python; both give the same answer, to the byte",
    )  # fmt: skip


def add_seed(parser: Any) -> None:
    """Add the seed."""
    parser.add_argument(
        "--seed",
        type=values.seed,
        default=0,
        metavar="S",
        help="of the random numbers, where a method has some; default 0",
    )


def add_addresses(parser: Parser, verified: str = "") -> None:
    """Add the question where every region lies; verified: what to say of executing there."""
    parser.add_argument_group(ANSWER).add_argument(
        "--addresses", action="store_true",
        help=f"print the start and end of every region, and whether there is room for all{verified}",
    )  # fmt: skip
