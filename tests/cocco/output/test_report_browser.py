"""The page in headless Chromium: hovering, walking, sorting; it loads nothing and raises nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cocco
import workloads
from cocco.cli import main
from cocco.output import report
from cocco.output.folders import run as folders
from tests.helpers.hostile_network import NAME, hostile_network

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium, of the extra 'test'")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not CHROMIUM or not DRIVER, reason="needs chromium and chromedriver")

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--window-size=1100,1400", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in (*QUIET, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The page of a run for googlenet, open; with the run it is about."""
    folder = tmp_path_factory.mktemp("run")
    assert main(["explore", "googlenet", "--samples", "2000", "--keep", "none", "-o", str(folder)]) == 0
    browser.get(report.write(folder).as_uri())
    return browser, json.loads((folder / "result.json").read_text())["result"]


def find(browser: Any, selector: str) -> list[Any]:
    return browser.find_elements("css selector", selector)


def hover(browser: Any, element: Any) -> str:
    """Move the mouse there and return what the page shows."""
    webdriver.ActionChains(browser).scroll_to_element(element).move_to_element(element).perform()
    tip = browser.find_element("id", "tip")
    return str(tip.text) if tip.is_displayed() else ""


def test_hovering_shows_capacity_energy_and_partition(page: Any):
    browser, result = page
    text = hover(browser, browser.find_element("class name", "star"))
    assert text.splitlines() == [
        f"shared buffer {result['shared_buffer_bytes'] // 1024:,} KB",
        f"energy {result['totals']['energy_pj'] * 1e-9:.6g} mJ",
        f"partition of {len(result['subgraphs'])} subgraphs",
        f"cost {round(result['cost']):,}",
        "recommended",
    ]
    texts = [hover(browser, dot) for dot in find(browser, ".best")[:3]]
    assert all("shared buffer" in text and " mJ" in text and "partition of" in text for text in texts)
    assert len(set(texts)) == 3
    assert browser.find_element("id", "ring").value_of_css_property("visibility") == "visible"


def test_leaving_the_drawing_hides_what_was_shown(page: Any):
    browser, _ = page
    assert hover(browser, browser.find_element("class name", "star"))
    assert hover(browser, browser.find_element("css selector", "h1")) == ""


def test_arrow_keys_walk_along_the_front(page: Any):
    browser, _ = page
    chart = browser.find_element("class name", "chart")
    sizes = []
    for _ in range(3):
        chart.send_keys("\ue014")  # the right arrow
        sizes.append(int(browser.find_element("id", "tip").text.split()[2].replace(",", "")))
    assert sizes == sorted(set(sizes))
    chart.send_keys("\ue012")  # the left arrow
    assert int(browser.find_element("id", "tip").text.split()[2].replace(",", "")) == sizes[1]


def test_columns_sort_by_their_numbers(page: Any):
    browser, result = page
    energies = sorted((subgraph["energy_pj"] for subgraph in result["subgraphs"]), reverse=True)
    head = find(browser, "th")[6]
    assert head.text == "energy (mJ)"
    for expected in (energies, energies[::-1]):
        head.find_element("css selector", "button").click()
        cells = find(browser, "table:not(.sizes) tbody td:nth-child(7)")
        assert [float(cell.get_attribute("data-v")) for cell in cells] == expected
    assert head.get_attribute("aria-sort") == "ascending"


def test_page_is_complete_and_loads_nothing(page: Any):
    browser, result = page
    assert len(find(browser, "table:not(.sizes) tbody tr")) == len(result["subgraphs"])
    for figure in find(browser, "figure.occupancy svg, figure.energy svg, #front"):
        assert figure.size["width"] > 300 and figure.size["height"] > 200
    find(browser, "section > details > summary")[-1].click()
    assert find(browser, "figure.network svg")[0].size["height"] > 300
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.get_log("browser") == []


def test_hostile_names_run_no_script(browser: Any, tmp_path: Path):
    network = workloads.load(str(hostile_network(tmp_path)))
    result = cocco.explore(network, space=cocco.SharedBuffer(), alpha=0.002, samples=200, method="ga", keep="none")
    about = {
        "command": "cocco explore <b>", "settings": {}, "seed": 0, "versions": {}, "engine": result.engine,
        "result": result.to_json() | {"verified": None},
    }  # fmt: skip
    folders.save(tmp_path, result, about)
    browser.get(report.write(tmp_path).as_uri())
    assert browser.title == f"Cocco: {NAME}"
    assert NAME in browser.find_element("css selector", "h1").text
    assert find(browser, "img, b") == []
    assert hover(browser, browser.find_element("class name", "star"))
    assert browser.get_log("browser") == []


def test_front_is_walked_and_sorted_like_a_run(browser: Any, tmp_path: Path):
    """The page of cocco pareto: arrow keys go along the front, a click sorts its table."""
    assert main(["pareto", "googlenet", "--samples", "1000", "--keep", "none", "-o", str(tmp_path)]) == 0
    browser.get(report.write(tmp_path).as_uri())
    chart = browser.find_element("class name", "chart")
    for number in (1, 2):
        chart.send_keys("\ue014")  # the right arrow
        lines = browser.find_element("id", "tip").text.splitlines()
        assert lines[-1] == f"point {number} of the front" and lines[0].startswith("shared buffer ")
    head = find(browser, "th")[-1]
    head.find_element("css selector", "button").click()
    shown = [float(cell.get_attribute("data-v")) for cell in find(browser, "tbody td:last-child")]
    assert shown == sorted(shown, reverse=True) and len(shown) > 3
    assert browser.get_log("browser") == []
