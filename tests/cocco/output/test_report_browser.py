"""The page in headless Chromium: the slider, plans by a click, linked views, dark and narrow; it loads nothing."""

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
from cocco.output.folders.written import run as folders
from tests.helpers.hostile_network import NAME, hostile_network
from tests.helpers.pages import change, data_of

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium, of the extra 'test'")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(not CHROMIUM or not DRIVER, reason="needs chromium and chromedriver"),
    pytest.mark.usefixtures("undrawn"),
]

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--window-size=1100,1400", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip
LEFT, RIGHT, ENTER, ESCAPE = "\ue012", "\ue014", "\ue007", "\ue00c"


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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run for vgg16 whose sizes are solved, and its page."""
    path = tmp_path_factory.mktemp("run")
    assert main(["explore", "vgg16", "--shared", "--range", "512KB:1536KB:128KB", "-o", str(path)]) == 0
    report.write(path)
    return path


@pytest.fixture
def page(browser: Any, folder: Path) -> Any:
    """The page, freshly opened."""
    browser.get((folder / "report.html").as_uri())
    return browser


def find(browser: Any, selector: str) -> list[Any]:
    return browser.find_elements("css selector", selector)


def hover(browser: Any, element: Any) -> str:
    """Move the mouse there and return what the page shows."""
    webdriver.ActionChains(browser).scroll_to_element(element).move_to_element(element).perform()
    tip = browser.find_element("id", "tip")
    return str(tip.text) if tip.is_displayed() else ""


def slide(browser: Any, power: float) -> str:
    """Move the slider to 10 ** power times the alpha of the run and return what the page says then."""
    browser.execute_script(
        "const s = document.getElementById('alpha'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", power
    )
    return str(browser.find_element("id", "said").text)


def test_hovering_shows_size_energy_and_proof(page: Any, folder: Path):
    result = json.loads((folder / "result.json").read_text())["result"]
    size = f"shared buffer {result['shared_buffer_bytes'] // 1024} KB"
    lines = hover(page, find(page, ".star")[0]).splitlines()
    assert lines[0] == size and lines[1].startswith("energy ") and lines[2:] == [
        "proved: no plan takes less", "recommended", "click: its plan",
    ]  # fmt: skip
    assert hover(page, find(page, "h1")[0]) == ""


@pytest.mark.parametrize("power", [-2, -0.5, 0.7, 2])
def test_the_slider_moves_the_recommendation(page: Any, folder: Path, power: float):
    """To the size with the least bytes + alpha x energy of those priced, worked out here from the run's own ranges."""
    result = json.loads((folder / "result.json").read_text())["result"]
    alpha = result["alpha"] * 10**power
    sizes = [each for each in result["ranges"]["sizes"] if each["value"] is not None]
    best = min(sizes, key=lambda each: each["shared_buffer_bytes"] + alpha * each["value"])
    said = slide(page, power)
    assert f"Build {best['shared_buffer_bytes'] // 1024} KB: energy" in said
    assert ("proved" in said) and len(find(page, ".chart line.equal")) == 1
    moved = best["shared_buffer_bytes"] != result["shared_buffer_bytes"]
    assert len(find(page, ".chart circle.pick")) == int(moved)
    page.find_element("id", "reset").click()
    said = page.find_element("id", "said").text
    assert f"Build {result['shared_buffer_bytes'] // 1024} KB: energy" in said and "(proved, no other" in said


@pytest.mark.parametrize("power", [-2, 0.7, 2, 0])
def test_the_slider_moves_the_plan(page: Any, folder: Path, power: float):
    """What is shown below is the plan of what the slider chooses, or the page says that it has none."""
    said = slide(page, power)
    size = said.split("Build ")[1].split(":")[0]
    shown = page.find_element("class name", "plan-title").text
    assert (shown == size) == ("is not on this page" not in said)
    (choice,) = [each for each in find(page, ".choice") if each.is_displayed()]
    titles = [each["title"] for each in data_of(folder)["choices"]]
    assert titles[int(choice.get_attribute("data-choice"))] == shown
    assert power or shown == titles[0]


def test_limits_show_every_sampled_size_and_where_they_are_kept(browser: Any, tmp_path: Path):
    """The region is that of the limit and right of the sizes at which nothing keeps it, proved."""
    asked = ("--minimize", "capacity", "--limit", "ema=142MB", "--range", "256KB:1536KB:256KB", "--samples", "500")
    assert main(["explore", "vgg16", *asked, "-o", str(tmp_path)]) == 0
    browser.get(report.write(tmp_path).as_uri())
    chart, result = data_of(tmp_path)["chart"], json.loads((tmp_path / "result.json").read_text())["result"]
    assert len(chart["x"]) > 3 and chart["x"][chart["star"]] == result["shared_buffer_bytes"]
    assert chart["x"] == [row["capacity_bytes"] for row in result["floors"]]
    assert chart["least"] == [row["ema_bytes"] for row in result["floors"]]
    known = [value is not None for value in chart["y"][0]]
    assert len(find(browser, ".chart :is(circle.found, circle.proved)")) == sum(known)
    assert all(least <= value * (1 + 1e-9) for least, value in zip(chart["least"], chart["y"][0]) if value is not None)
    assert chart["ruled_out"] == result["lower_bound"] == result["shared_buffer_bytes"] > min(chart["x"])
    kept, ruled = find(browser, ".chart rect.feasible"), find(browser, ".chart rect.ruled")
    assert len(kept) == len(ruled) == 1
    edge = float(ruled[0].get_attribute("x")) + float(ruled[0].get_attribute("width"))
    assert float(kept[0].get_attribute("x")) == pytest.approx(edge)
    star = find(browser, ".star")[0].rect
    assert star["x"] + star["width"] / 2 == pytest.approx(kept[0].rect["x"], abs=1.5)
    assert kept[0].rect["y"] <= star["y"] + star["height"] / 2 <= kept[0].rect["y"] + kept[0].rect["height"]
    assert "capacity" not in browser.find_element("id", "recommendation").text
    assert browser.get_log("browser") == []


def test_two_runs_have_a_list_of_plans_each(browser: Any, folder: Path, tmp_path: Path):
    """A plan picked from the second list is shown in place of the second alone; the slider chooses from both."""
    assert main(["explore", "vgg16", "--shared", "--range", "512KB:1MB:256KB", "-o", str(tmp_path / "other")]) == 0
    browser.get(report.write_pair(folder, tmp_path / "other").as_uri())
    titles = lambda: [each.text for each in find(browser, ".plan-title")]  # noqa: E731
    first, second = titles()
    lists = find(browser, ".plans select")
    options = [each.text for each in lists[1].find_elements("css selector", "option")]
    other = next(each for each in options if each != second)
    lists[1].send_keys(other)
    assert titles() == [first, other] and len([each for each in find(browser, ".choice") if each.is_displayed()]) == 2
    slide(browser, -2)
    assert titles() == ["512 KB", "512 KB"]
    assert browser.get_log("browser") == []


def test_a_page_of_long_names_is_no_wider_than_a_telephone(browser: Any, tmp_path: Path):
    """Names without a place to break, in the title, the tables and the drawings."""
    path = hostile_network(tmp_path)
    content = json.loads(path.read_text()) | {"name": "n" * 120}
    for node in content["nodes"]:
        node["name"], node["inputs"] = node["name"] + "l" * 100, [each + "l" * 100 for each in node["inputs"]]
    path.write_text(json.dumps(content))
    asked = ("--range", "1KB:8KB:1KB", "-o", str(tmp_path / "run"))
    assert main(["explore", str(path), *asked]) == 0
    assert main(["report", str(tmp_path / "run")]) == 0
    size = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    try:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get((tmp_path / "run" / "report.html").as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_two_buffers_have_a_map_of_their_sizes(browser: Any, tmp_path: Path):
    """A field for each pair, rose within 3 %; pointing says both sizes, a click opens the plan."""
    ranges = ("--range", "256KB:1024KB:256KB", "--range", "144KB:576KB:144KB")
    assert main(["explore", "vgg16", "--separate", *ranges, "-o", str(tmp_path)]) == 0
    report.write(tmp_path)
    data = data_of(tmp_path)
    chart = data["chart"]
    cost = [x + 0.002 * y if y is not None else None for x, y in zip(chart["x"], chart["y"][0])]
    browser.get((tmp_path / "report.html").as_uri())
    fields = {int(each.get_attribute("data-point")): each for each in find(browser, "rect.field")}
    assert 4 < len(fields) <= len(cost)
    assert all(i in fields for i, each in enumerate(cost) if each is not None and each <= 1.1 * cost[chart["star"]])
    kinds = {i: each.get_attribute("class").split()[0] for i, each in fields.items()}
    least = cost[chart["star"]]
    for i, kind in kinds.items():
        if cost[i] is not None:
            assert (kind == "within1") == (cost[i] <= 1.01 * least) and (kind in ("within1", "within3")) == (
                cost[i] <= 1.03 * least
            )
    other = next(i for i, plan in enumerate(chart["plan"]) if plan not in (None, 0) and i in fields)
    tip = hover(browser, fields[other])
    buffers = [f"{each[other] // 1024} KB" for each in (chart["grid"]["across"], chart["grid"]["up"])]
    assert f"global buffer {buffers[0]}\nweight buffer {buffers[1]}" in tip
    webdriver.ActionChains(browser).move_to_element(fields[other]).click().perform()
    assert browser.find_element("class name", "plan-title").text == data["choices"][chart["plan"][other]]["title"]
    for power in (-0.7, 0.3, 2, -2):
        assert "proved, no other size costs less" in slide(browser, power), power  # the whole line is solved
    moved = {int(each.get_attribute("data-point")): each for each in find(browser, "rect.field")}
    assert kinds != {i: each.get_attribute("class").split()[0] for i, each in moved.items()}
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


def test_no_word_about_sizes_that_are_not_drawn_goes_beyond_what_is_proved(
    browser: Any, folder: Path, tmp_path: Path
):  # fmt: skip
    """They cost 3 % more at the alpha that was asked: at 1.01 times that they are ruled out, at 50 times not."""

    def with_others(content: dict[str, Any]) -> None:
        content["result"]["ranges"]["margins"][-1]["outside"] += 5

    shutil.copytree(folder, tmp_path / "run")
    change(tmp_path / "run", with_others)
    report.write(tmp_path / "run")
    chart = data_of(tmp_path / "run")["chart"]
    cost = chart["x"][chart["star"]] + chart["slider"]["alpha"] * chart["y"][0][chart["star"]]
    assert chart["others"] == pytest.approx(1.03 * cost, rel=1e-6)
    browser.get((tmp_path / "run" / "report.html").as_uri())
    assert "proved, no other size" in browser.find_element("id", "said").text
    assert "others may cost less" not in slide(browser, 0.004)
    for power in (-1.5, 1.7):
        said = slide(browser, power)
        assert "of the sizes that are drawn; others may cost less" in said and "% less" not in said


def test_a_click_on_a_size_opens_its_plan_and_so_does_enter(page: Any, folder: Path):
    data = data_of(folder)
    other = next(i for i, plan in enumerate(data["chart"]["plan"]) if plan not in (None, 0))
    title = data["choices"][data["chart"]["plan"][other]]["title"]
    dot = find(page, f"circle[data-point='{other}']")[0]
    webdriver.ActionChains(page).scroll_to_element(dot).move_to_element(dot).click().perform()
    assert page.find_element("class name", "plan-title").text == title
    (shown,) = [each for each in find(page, ".choice") if each.is_displayed()]
    steps = len(data["choices"][data["chart"]["plan"][other]]["plans"][0]["time"])
    assert len(shown.find_elements("css selector", "table.subgraphs tbody tr")) == steps
    assert shown.find_elements("css selector", ".steps svg") and shown.find_elements("css selector", ".network svg")
    chart = find(page, ".chart")[0]
    sizes = []
    for _ in range(3):
        chart.send_keys(RIGHT)
        sizes.append(page.find_element("id", "tip").text.splitlines()[0])
    assert len(set(sizes)) == 3
    star = data["chart"]["star"]
    walk = [i for i, price in enumerate(data["chart"]["y"][0]) if price is not None]
    for _ in range(abs(walk.index(star) - 2)):
        chart.send_keys(RIGHT if walk.index(star) > 2 else LEFT)
    chart.send_keys(ENTER)
    assert page.find_element("class name", "plan-title").text == data["choices"][0]["title"]


def test_a_subgraph_is_shown_in_all_views_at_once(page: Any, folder: Path):
    """By a row of the table, by a key in the bars, by a layer of the network; a click holds it, Escape lets go."""
    (plan,) = data_of(folder)["choices"][0]["plans"]
    section = find(page, "section.plan")[0]
    rows = section.find_elements("css selector", "table.subgraphs tbody tr")

    def seen() -> tuple[list[int], set[int], bool]:
        on = [i for i, row in enumerate(rows) if row.get_attribute("class") == "on"]
        boxes = {int(each.get_attribute("data-step")) for each in section.find_elements("css selector", "g.layer.on")}
        marks = section.find_elements("css selector", ".strip .mark")
        return on, boxes, all(each.get_attribute("visibility") == "visible" for each in marks)

    webdriver.ActionChains(page).scroll_to_element(rows[2]).move_to_element(rows[2]).perform()
    assert seen() == ([2], {2}, True)
    detail = section.find_element("class name", "detail").text
    assert detail.startswith("subgraph 2") and "needs at least" in detail and "across DRAM" in detail
    bars = section.find_element("class name", "steps")
    bars.send_keys(RIGHT)
    assert seen() == ([3], {3}, True)
    box = section.find_elements("css selector", f"g.layer[data-step='{len(rows) - 1}']")[0]
    webdriver.ActionChains(page).scroll_to_element(box).move_to_element(box).click().perform()
    assert seen() == ([len(rows) - 1], {len(rows) - 1}, True)
    hover(page, find(page, "h1")[0])
    assert seen()[0] == [len(rows) - 1]
    bars.send_keys(ESCAPE)
    assert seen() == ([], set(), False)
    assert len(section.find_elements("css selector", "g.layer")) == len(plan["owner"])


def test_columns_sort_by_their_numbers(page: Any, folder: Path):
    result = json.loads((folder / "result.json").read_text())["result"]
    energies = sorted((subgraph["energy_pj"] for subgraph in result["subgraphs"]), reverse=True)
    table = find(page, "table.subgraphs")[0]
    head = next(each for each in table.find_elements("css selector", "th") if each.text == "energy (mJ)")
    place = table.find_elements("css selector", "th").index(head) + 1
    for expected in (energies, energies[::-1]):
        head.find_element("css selector", "button").click()
        cells = table.find_elements("css selector", f"tbody td:nth-child({place})")
        assert [float(cell.get_attribute("data-v")) for cell in cells] == expected
    assert head.get_attribute("aria-sort") == "ascending"


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1000, "light"), (2000, "dark")])
def test_it_is_as_wide_as_the_window_dark_and_light(page: Any, width: int, scheme: str):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    try:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        page.refresh()
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
        drawn = find(page, ".chart svg:not(svg svg), .steps .strip > svg")
        assert len(drawn) > 4 and all(0.7 * min(width, 1400) < each.size["width"] <= width for each in drawn)
        lightness = "const c = getComputedStyle(document.querySelector(arguments[0]))[arguments[1]];"
        lightness += "return c.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)"
        paper = page.execute_script(lightness, "body", "backgroundColor")
        ink = page.execute_script(lightness, ".chart text", "fill")
        assert (paper < 200 and ink > 500) if scheme == "dark" else (paper > 700 and ink < 300)
        assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
        assert page.get_log("browser") == []
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


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
    browser.find_element("class name", "steps").send_keys(RIGHT)
    assert "subgraph 0" in browser.find_element("class name", "detail").text
    assert find(browser, "img, b") == []
    assert hover(browser, browser.find_element("class name", "star"))
    assert browser.get_log("browser") == []


def test_front_is_walked_and_sorted_like_a_run(browser: Any, tmp_path: Path):
    """The page of cocco pareto: arrow keys go along the front, Enter opens its plan, a click sorts its table."""
    assert main(["pareto", "vgg16", "--samples", "1000", "--keep", "none", "-o", str(tmp_path)]) == 0
    browser.get(report.write(tmp_path).as_uri())
    chart = browser.find_element("class name", "chart")
    pick = browser.find_element("id", "said").text.split("Build ")[1].split(":")[0]
    assert pick == browser.find_element("class name", "plan-title").text  # and nobody asked for this alpha
    assert browser.find_element("id", "reset").text == "Where it began"
    for number in (1, 2):
        chart.send_keys(RIGHT)
        lines = browser.find_element("id", "tip").text.splitlines()
        assert lines[-2] == f"point {number} of the front" and lines[0].startswith("shared buffer ")
    chart.send_keys(ENTER)
    assert lines[0] == "shared buffer " + browser.find_element("class name", "plan-title").text
    assert "of these points" in slide(browser, 1.5)
    table = browser.find_element("css selector", "table.points")
    table.find_elements("css selector", "th button")[-1].click()
    cells = table.find_elements("css selector", "tbody td:last-child")
    shown = [float(cell.get_attribute("data-v")) for cell in cells]
    assert shown == sorted(shown, reverse=True) and len(shown) > 3
    assert browser.get_log("browser") == []


def test_print_has_the_colours_of_light_screens(page: Any):
    """Whatever the screen has."""
    colours = (
        "const c = getComputedStyle(document.documentElement); return arguments[0].map(n => c.getPropertyValue(n))"
    )
    names = ["--within1", "--within3", "--open", "--weights", "--main", "--side", "--kept", "--dram", "--compute"]
    names += ["--crossbar", "--leakage", "--pick", "--paper", "--feasible", "--global"]
    try:
        found = []
        for media, scheme in (("print", "dark"), ("print", "light"), ("screen", "light")):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
            found.append(page.execute_script(colours, names))
        assert found[0] == found[1] == found[2] and all(found[0])
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_machines_are_chosen_by_axis_named_and_sorted(browser: Any, tmp_path: Path):
    """Lists over the table leave out rows and dots; a dot says its machine; nothing is wider than a telephone."""
    asked = ("--axis", "pe=4x4,8x8", "--axis", "dram=lpddr5,hbm2e", "--range", "256KB:1MB:256KB", "--keep", "none")
    assert main(["explore", "vgg16", *asked, "--logic", "nvdla", "--exchange", "0.5mJ/mm2", "-o", str(tmp_path)]) == 0
    report.write(tmp_path)
    browser.get((tmp_path / "report.html").as_uri())
    rows = lambda: [each for each in find(browser, "table.machines tbody tr") if each.is_displayed()]  # noqa: E731
    pick = lambda value: find(browser, "#choices select")[0].send_keys(value)  # noqa: E731
    first = ".panel:first-child circle[data-point]"
    assert len(rows()) == len(find(browser, first)) == 4
    assert hover(browser, find(browser, ".star")[0]).splitlines()[-2:] == ["best", "click: its plan"]
    pick("8x8")
    assert len(rows()) == len(find(browser, first)) == 2
    assert all(each.text.startswith("8x8 ") for each in rows())
    pick("any")
    head = find(browser, "table.machines th button")[3]
    head.click()
    sizes = [float(each.find_elements("css selector", "td")[3].text) for each in rows()]
    assert head.text == "chip (mm2)" and sizes == sorted(sizes, reverse=True)
    size = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    try:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.refresh()
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert [each for each in browser.get_log("browser") if each["level"] == "SEVERE"] == []
