"""The pages of docs/ are found, have the titles of their sources, and speak of what is there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import cocco
from docs import check_titles, command_pages, draw_rooms, rooms
from simulator.accelerator import Accelerator
from simulator.technology import KiB
from tests.helpers.code_blocks import PAGES
from tests.helpers.command_line import ROOT
from workloads import Builder

DOCS = ROOT / "docs"
PUBLIC = (
    "workloads",
    "simulator",
    "simulator.timing",
    "simulator.execution",
    "simulator.allocation",
    "simulator.schedule",
    "simulator.mapping",
    "cocco",
    "cocco.search",
    "experiments.sweep",
)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def code_in(page: Path) -> list[str]:
    """What stands between backticks in the running text of a page."""
    prose = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`]+)`", prose)


def test_no_page_has_a_name_that_sphinx_takes_for_a_page_of_its_own():
    """A source search.md became search.html and was overwritten by the empty form of Sphinx's search."""
    assert [source.name for source in check_titles.sources() if source.stem in check_titles.TAKEN] == []


def test_a_lost_page_is_found_by_its_title(tmp_path: Path):
    """One page as it should be, one that Sphinx has overwritten, one that is not there."""
    docs, built = tmp_path / "docs", tmp_path / "built"
    docs.mkdir()
    built.mkdir()
    (docs / "good.md").write_text("# The `good` page\n")
    (built / "good.html").write_text(
        '<title>The good page - Cocco</title><h1>The <code>good</code> page<a class="headerlink">#</a></h1>'
    )
    (docs / "search.md").write_text("# Search and proof\n")
    (built / "search.html").write_text("<title>Search - Cocco</title><h1>Search</h1>")
    (docs / "gone.rst").write_text("Gone\n====\n")
    wrong = list(check_titles.wrong_pages(built, docs))
    assert [line.split(":")[0] for line in wrong] == ["gone.rst", "search.md"]


def test_every_page_is_in_one_of_the_three_groups():
    index = text_of(DOCS / "index.md")
    listed = [
        line for block in index.split("```{toctree}")[1:] for line in block.split("```")[0].split("\n\n")[1].split()
    ]
    pages = [page.stem for page in PAGES if page.parent == DOCS and page.stem != "index"]
    assert sorted(listed) == sorted([*pages, "api", "commands/index"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_to_one(page: Path):
    """The pages of the commands and the picture of the rooms are made when the documentation is built."""
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text_of(page))
    local = [link for link in links if "://" not in link and not link.startswith(("commands/", "generated/"))]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_a_page_names_is_there(page: Path):
    """With folders from the root of the checkout; a bare name of a module is somewhere in the house."""
    names = {path.name for path in (*rooms.modules().values(), ROOT / "setup.py")}
    names |= {path.name for folder in (*rooms.PACKAGES, "tests") for path in (ROOT / folder).rglob("*.p*")}
    code = [each for each in code_in(page) if re.fullmatch(r"[\w./-]+", each) and "<" not in each]
    paths = [
        each for each in code if re.fullmatch(r"(workloads|simulator|cocco|experiments|tests|docs|benchmarks)/.*", each)
    ]
    assert [
        each for each in paths if not (ROOT / each).exists() and not each.startswith(("docs/api", "docs/comm"))
    ] == []
    bare = [each for each in code if re.fullmatch(r"\w+\.pyx?", each)]
    assert [each for each in bare if each not in names] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_dotted_name_of_a_page_is_there(page: Path):
    """Names begin with a package, or on the page of the model with one of its modules."""
    model = [path.stem for path in (ROOT / "simulator" / "model").glob("*.py")]
    for code in code_in(page):
        name = code.split("(")[0]
        if re.fullmatch(r"(workloads|simulator|cocco|experiments|benchmarks)(\.\w+)+", name):
            assert resolved(name) is not None, code
        elif page.name == "model.md" and name.split(".")[0] in model and "." in name:
            assert resolved(f"simulator.model.{name}") is not None, code


def test_every_function_of_the_model_page_is_in_the_code():
    """Names without a package: what is called, is private, or has several words."""
    words = {word for path in rooms.modules().values() for word in re.findall(r"\w+", text_of(path))}
    names = [re.split(r"[(=]", code)[0] for code in code_in(DOCS / "model.md")]
    assert [name for name in names if re.fullmatch(r"_?[a-z]+(_[a-z]+)*", name) and name not in words] == []


def resolved(name: str) -> Any:
    """Return what a dotted name stands for: the longest module, then its attributes."""
    words = name.split(".")
    for end in range(len(words), 0, -1):
        try:
            found: Any = import_module(".".join(words[:end]))
        except ModuleNotFoundError:
            continue
        for word in words[end:]:
            fields = getattr(found, "__dataclass_fields__", {})
            found = getattr(found, word, None) or fields.get(word)
        return found
    return None


def test_the_interface_lists_every_public_name():
    """A new public name gets a line in docs/api.rst."""
    parts = re.split(r"^\.\. currentmodule:: (.+)$", text_of(DOCS / "api.rst"), flags=re.MULTILINE)[1:]
    listed = {
        module: re.findall(r"^   (\w+)$", text, flags=re.MULTILINE) for module, text in zip(parts[::2], parts[1::2])
    }
    assert {module: sorted(names) for module, names in listed.items()} == {
        module: sorted(name for name in import_module(module).__all__ if not name.startswith("_")) for module in PUBLIC
    }


def test_the_command_reference_has_every_option_of_every_command():
    pages = command_pages.pages()
    _, commands = command_pages.parsers()
    assert set(pages) == {"index", *commands}
    for name, parser in commands.items():
        assert f":doc:`{name}`" in pages["index"]
        for action in parser._actions:
            for option in action.option_strings:
                assert action.dest == "help" or re.search(rf"^\.\. option:: .*{option}\b", pages[name], re.MULTILINE)


def test_the_picture_of_the_rooms_shows_every_room_without_arrows_through_boxes():
    """An arrow points up, to what a room imports; what follows from others is left out."""
    graph = draw_rooms.chambers()
    assert {"cocco.search", "simulator.model", "workloads.network", "experiments"} <= set(graph)
    for package in rooms.PACKAGES:
        part = draw_rooms.inside(graph, package)
        places, arrows = draw_rooms.placed(part, 8), draw_rooms.drawn_arrows(part)
        assert set(places) == set(part) and len(set(places.values())) == len(places)
        assert all(places[a][0] > places[b][0] for a, b in arrows)
        assert not any(draw_rooms._hits(places[a], places[b], box) for a, b in arrows for box in places.values())


@pytest.mark.parametrize("sums", [8, 32])
def test_two_products_take_the_bytes_of_the_page_for_each_width_of_sums(sums: int):
    """The table of docs/language-models.md beside accelforge: | KB | its | ours, 32-bit sums | 8 bits | why |."""
    b = Builder("two_products")
    b.conv("second", b.conv("first", b.input("x", 512, 1, 512), 512, 1), 512, 1)
    network = b.build().retyped({"sums": sums})
    section = text_of(DOCS / "language-models.md").split("## Beside accelforge")[1]
    rows = re.findall(r"^\| ([\d.]+) KB \| [\d,]* ?\| ([\d,]+) \| ([\d,]+) \|", section, flags=re.MULTILINE)
    assert len(rows) == 6
    for kilobytes, of_32, of_8 in rows:
        ema_bytes = {32: of_32, 8: of_8}[sums]
        chip = Accelerator(shared_buffer=int(float(kilobytes) * KiB))
        found = cocco.partition(network, chip, metric="ema")
        assert (found.status, f"{found.evaluation.ema_bytes:,}") == ("optimal", ema_bytes)
