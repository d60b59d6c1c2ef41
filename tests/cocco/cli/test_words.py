"""One word, one meaning: options over all commands, earlier spellings, what --help speaks of, completion."""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

import pytest

from cocco.cli.options.values import limit, size
from docs.command_pages import parsers
from docs.option_table import old_spellings, options, tables
from tests.helpers.command_line import answer, assert_malformed, cocco

pytestmark = pytest.mark.usefixtures("undrawn")

#: what an option takes may differ in these: which algorithms there are, a file or a folder, several numbers of cores
DIFFERING = {
    "--method": {"choices", "help"},
    "--output": {"metavar", "help"},
    "--cores": {"type", "metavar", "help"},
    "--hardware": {"nargs", "help"},  # show prints it
    "--from": {"nargs", "metavar", "help", "required"},  # sram reads a table
    "--keep": {"help"},
    "--exchange": {"help"},
    "--addresses": {"help"},
    "--metric": {"choices", "default", "help"},
    "--picture": {"help"},
    "--work": {"type", "default", "help"},
    "--effort": {"help"},  # what it scales
    "--verify": {"nargs", "choices", "metavar", "help"},  # evaluate executes the plan, export runs its program
    "--prove": {"help"},  # searches prove a bound by solvers, evaluate the plan by a search of its own
}
PACKED = "id,lower,upper,size\na,0,3,4\nb,2,5,4\n"


@pytest.mark.parametrize("name", [name for name, where in options().items() if len(where) > 1])
def test_an_option_of_several_commands_takes_the_same_in_each(name: str):
    told = ("type", "nargs", "metavar", "choices", "default", "required", "help")
    said = [{key: repr(getattr(action, key)) for key in told} for action in options()[name].values()]
    assert {key for key in told if len({each[key] for each in said}) > 1} <= DIFFERING.get(name, set())


@pytest.mark.parametrize("name", parsers()[1])
def test_help_speaks_of_options_that_the_command_has(name: str):
    """But in the command lines of others that it quotes."""
    parser = parsers()[1][name]
    texts = [parser.description, parser.epilog, *(action.help for action in parser._actions)]
    words = re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.sub(r"'cocco [^']*'", "", " ".join(filter(None, texts))))
    assert set(words) <= set(parser._option_string_actions)


def test_the_table_has_every_option_of_every_command():
    shared, alone, old = re.split("\n\n(?=Options of one|Earlier)", tables())
    heads = [cell.strip() for cell in shared.splitlines()[2].split("|")[2:-1]]
    for name, where in options().items():
        (row,) = (line for part in (shared, alone) for line in part.splitlines() if re.search(f"`{name}`", line))
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        marked = {head for head, cell in zip(heads, cells[1:]) if cell == "x"} if len(where) > 1 else {cells[0]}
        assert marked == set(where), name
    assert all(f"| {command} | `{was}` | {now} |" in old for command, was, now in old_spellings())


@pytest.mark.parametrize(
    ("command", "was", "now"),
    [
        (("allocate", "{}/a.csv", "--capacity", "10"), ("--minimize",), ("--least",)),
        (("schedule", "vgg16", "--scratchpad", "peak", "--method", "gap"), ("--limit", "9"), ("--work", "9")),
        (("map", "vgg16", "--method", "random"), ("--samples", "2"), ("--tries", "2")),
        (("map", "{}/l.csv", "--method", "cosa"), ("--limit", "9"), ("--work", "9")),
        (
            ("evaluate", "vgg16", "layerwise", "--shared-buffer", "1MB", "--addresses"),
            ("-o", "{}/r.csv"),
            ("--regions", "{}/r.csv"),
        ),
    ],
)
def test_an_earlier_spelling_works_and_says_how_it_is_spelled_now(
    command: tuple[str, ...], was: tuple[str, ...], now: tuple[str, ...], tmp_path: Path
):
    (tmp_path / "a.csv").write_text(PACKED)
    (tmp_path / "l.csv").write_text("R,S,P,Q,C,K,N,stride_w,stride_h\n1,1,7,7,8,8,1,1,1\n")
    lines = [[word.format(tmp_path) for word in (*command, *words, "--json")] for words in (was, now)]
    before, after = (cocco(*line) for line in lines)
    assert answer(before) == answer(after)
    told = [line for line in before.stderr.splitlines() if "deprecated" in line]
    assert len(told) == 1 and was[0] in told[0] and now[0] in told[0]
    assert "deprecated" not in after.stderr


def test_a_malformed_line_with_an_earlier_spelling_is_one_line(tmp_path: Path):
    (tmp_path / "a.csv").write_text(PACKED)
    words = ("allocate", tmp_path / "a.csv", "--minimize", "--capacity", "1", "--nodes", "0")
    assert_malformed(cocco(*words), ["--nodes", "'0'"])
    assert "deprecated" not in cocco("networks").stderr  # nor does the next line of the process say it


def test_pareto_and_map_choose_their_algorithm_themselves():
    words = ("pareto", "vgg16", "--samples", 20, "--keep", "none", "--json")
    assert answer(cocco(*words, "--method", "auto")) == answer(cocco(*words, "--method", "nsga2"))
    assert answer(cocco("map", "vgg16", "--json")) == answer(cocco("map", "vgg16", "--method", "closed", "--json"))


def test_schedule_answers_for_the_step_that_is_asked_for():
    words = ("schedule", "gpt2", "--layers", 1, "--scratchpad", "peak", "--method", "greedy", "--json")
    whole, step = (answer(cocco(*words, *more)) for more in ((), ("--phase", "decode")))
    assert "decode" in step["network"] and "decode" not in whole["network"]
    assert step["scratchpad_bytes"] < whole["scratchpad_bytes"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("latency=4,600,000", 4.6e6),
        ("latency=4.6 million cycles", 4.6e6),
        ("energy=4.5 mJ", 4.5e9),
        ("bandwidth=8 bytes per cycle", 8.0),
        ("capacity=1,344.0 KB", 1344 * 1024),
        ("ema=134.38 MB", 140907642),  # 134.38 * 2^20 = 140907642.88
    ],
)
def test_what_is_printed_can_be_typed(text: str, expected: float):
    assert limit(text)[1] == expected


@pytest.mark.parametrize(
    "text", ["latency=4,6", "energy=1,0000", "energy=mJ", "energy=-1", "ema=1,5MB", "capacity=0.3B"]
)
def test_what_may_mean_two_things_is_refused(text: str):
    with pytest.raises(argparse.ArgumentTypeError):
        limit(text)


def test_sizes_are_read_as_they_are_printed():
    assert (size("1,344.0 KB"), size("65536 bytes"), size("2,682,368")) == (1344 * 1024, 65536, 2682368)


COMPLETE = """source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
function=$(complete -p cocco | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
"$function" cocco "${COMP_WORDS[$COMP_CWORD]}" "${COMP_WORDS[$COMP_CWORD-1]}"; echo "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("exp", {"explore"}),
        ("explore resn", {"resnet50", "resnet152"}),
        ("explore vgg16 --meth", {"--method"}),
        ("allocate --method sea", {"search"}),
        ("evaluate vgg16 pla", {"plan.json"}),
        ("evaluate vgg16 --hardware pl", {"plan.json"}),
    ],
)
def test_bash_completes(line: str, words: set[str], tmp_path: Path):
    pytest.importorskip("shtab")
    script = tmp_path / "script"
    script.write_text(cocco("--completion", "bash").stdout)
    (tmp_path / "plan.json").write_text("{}")
    command = ["bash", "-c", COMPLETE, "bash", str(script), "cocco", *line.split(" ")]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert words <= set(found.stdout.split()), found.stderr


def test_there_is_a_script_for_zsh():
    pytest.importorskip("shtab")
    script = cocco("--completion", "zsh").stdout
    assert "cocco" in script and "explore" in script and "--alpha" in script


def test_completion_names_its_extra_where_it_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "shtab", None)
    assert_malformed(cocco("--completion", "bash"), ["shtab", "cocco[completion]"])
    assert_malformed(cocco("--completion", "fish"), ["--completion", "'fish'", "bash"])
