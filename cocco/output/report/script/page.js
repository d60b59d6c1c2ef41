// The page: its drawings, which plan is shown, and which subgraph is picked in all views of a plan.
const data = JSON.parse(document.getElementById("data").textContent);
const opened = new Set();

// The views of one plan: hovering shows a subgraph in all of them, a click holds it until the next click or Escape.
function views(section, plan, network) {
  const bars = section.querySelector(".steps"), detail = section.querySelector(".detail");
  const rows = [...section.querySelectorAll("table.subgraphs tbody tr")];
  const byStep = new Map(rows.map(row => [Number(row.dataset.row), row]));
  let held = -1, at = -1, all = [];

  function show(step) {
    if (step === at) return;
    if (at >= 0) byStep.get(at).classList.remove("on");
    at = step;
    all.forEach(view => view.mark(step));
    detail.replaceChildren();
    if (step < 0) return;
    byStep.get(step).classList.add("on");
    const list = html(detail, "dl");
    for (const [name, text] of told(plan, network, step)) {
      html(list, "dt", {}, name);
      html(list, "dd", {}, text);
    }
  }

  function pick(step, hold) {
    if (hold) held = step === held ? -1 : step;
    if (hold && held >= 0) all.forEach(view => view.reveal?.(held));
    show(hold || step >= 0 ? (held >= 0 && !hold ? held : step) : held);
    section.classList.toggle("held", held >= 0);
  }

  all.push(steps(bars, plan, pick));
  const place = section.querySelector(".network");
  if (place && network.drawn) all.push(networkPicture(place, plan, network, pick));
  section.addEventListener("mouseleave", () => show(held));
  bars.addEventListener("mouseleave", () => show(held));
  rows.forEach(row => {
    row.addEventListener("mouseenter", () => pick(Number(row.dataset.row), false));
    row.addEventListener("click", () => pick(Number(row.dataset.row), true));
  });
  section.addEventListener("keydown", event => {
    if (event.key === "Escape") { held = -1; show(-1); section.classList.remove("held"); }
  });
  bars.addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    held = Math.max(0, Math.min(plan.time.length - 1, (at < 0 ? (step > 0 ? -1 : plan.time.length) : at) + step));
    show(held);
    all.forEach(view => view.reveal?.(held));
  });
  onWidth(section, () => {
    all.forEach(view => view.draw());
    all.forEach(view => view.mark(at));
  });
}

// Shows one plan of a run; of two runs each has a list.
function choose(at) {
  const group = document.getElementById(`choice-${at}`).parentNode;
  group.querySelectorAll(".choice").forEach(each => { each.hidden = Number(each.dataset.choice) !== at; });
  group.querySelector("select").value = at;
  group.querySelector(".plan-title").textContent = data.choices[at].title;
  open(at);
  return group;
}

// Draws the plans of a choice when they are first seen.
function open(at) {
  if (opened.has(at)) return;
  opened.add(at);
  document.querySelectorAll(`#choice-${at} section.plan`).forEach((section, place) => {
    const plan = data.choices[at].plans[place];
    views(section, plan, data.networks[plan.network]);
  });
}

function sortable(table) {
  const heads = [...table.querySelectorAll("th")];
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const sign = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const value = row => Number(row.cells[column].dataset.v);
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => sign * (value(a) - value(b))));
  }));
}

// Lists of values over a table of machines: rows and dots of other machines are hidden.
function choices(lists, table) {
  const heads = [...table.querySelectorAll("th")].map(head => head.textContent);
  const choose = () => {
    const hidden = new Set();
    for (const row of table.tBodies[0].rows) {
      row.hidden = lists.some(list => list.value && row.cells[heads.indexOf(list.dataset.head)].textContent !== list.value);
      if (row.hidden) hidden.add(Number(row.dataset.row));
    }
    if (without) without(hidden);
  };
  lists.forEach(list => list.addEventListener("change", choose));
}

document.querySelectorAll("table").forEach(sortable);
document.querySelectorAll(".plans select").forEach(select => {
  choose(Number(select.value));
  select.addEventListener("change", () => choose(Number(select.value)));
});
const without = data.chart && memories(data.chart, at => choose(at).scrollIntoView({block: "start"}), choose);
const lists = [...document.querySelectorAll("#choices select")];
if (lists.length) choices(lists, document.querySelector("table.machines"));
