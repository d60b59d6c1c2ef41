// The subgraphs in the order they run: what each holds, moves, takes and how long; one is picked in all of them.
const PARTS = {
  dram: "DRAM", global_buffer: "activation buffer", weight_buffer: "weight buffer", compute: "computing",
  crossbar: "crossbar", leakage: "leakage", dram_background: "DRAM background",
  logic_leakage: "logic leakage", idle: "idle MACs"};
const STRIP = 118, KEPT_ROW = 7, MOST_ROWS = 24, LEFT = 58;

// The strips of a plan: each has its unit, and its series from the bottom up.
function strips(plan) {
  const kb = values => values.map(each => each / 1024), less = plan.time.map((each, i) => each - plan.compute[i]);
  const weights = ["weights", "weights", kb(plan.weights)];
  const rest = [["kept", "kept whole for later subgraphs", kb(plan.kept)], ["main", "MAIN, windows", kb(plan.main)], ["side", "SIDE, rows kept", kb(plan.side)]];
  const needs = at => plan.needs && plan.needs.map(each => (at === null ? each[0] + each[1] : each[at]) / 1024);
  const held = plan.shared
    ? [{title: "held on chip (KB)", series: [weights, ...rest], line: plan.capacity[0] / 1024, needs: needs(null)}]
    : [{title: "activations on chip (KB)", series: rest, line: plan.capacity[0] / 1024, needs: needs(0)},
       {title: "weights on chip (KB)", series: [weights], line: plan.capacity[1] / 1024, needs: needs(1)}];
  const {energy: E, ema: M, time: T} = plan.units, as = (values, unit) => values.map(each => each / unit[1]);
  const energy = Object.entries(plan.energy).map(([name, values]) => ["e-" + name, PARTS[name] || name, as(values, E)]);
  return [...held,
    {title: `across DRAM (${M[0]})`, series: [["e-dram", "DRAM", as(plan.ema, M)]]},
    {title: `energy (${E[0]})`, series: energy},
    {title: `time (${T[0]})`, series: [["e-compute", "computing", as(plan.compute, T)], ["e-dram", "waiting for DRAM or the crossbar", as(less, T)]]},
  ];
}

function steps(holder, plan, pick) {
  const count = plan.time.length, list = strips(plan), marks = [];
  let x = null;

  function draw() {
    holder.replaceChildren();
    marks.length = 0;
    for (const strip of list) one(strip);
    if (plan.keep.length) intervals();
    const keys = new Map(list.flatMap(strip => strip.series).filter(([, , values]) => values.some(each => each > 0)).map(([name, words]) => [name, [name, words]]));
    if (list.some(strip => strip.line)) keys.set("capacity", ["capacity", "capacity", "line"]);
    if (plan.needs) keys.set("need", ["need", "needs at least, to be held", "line"]);
    const shownKeys = [...keys.values()].map(key => key[0] === "e-dram" ? ["e-dram", "DRAM: its bytes, energy, waiting for it"] : key);
    legend(html(holder, "div", {class: "legend"}), shownKeys);
  }

  function area(height, title, last) {
    const {svg, width} = picture(html(holder, "div", {class: "strip"}), height, title);
    const box = {left: LEFT, right: width - 12, top: 22, bottom: height - (last ? 36 : 18)};
    x = scaled(-0.5, count - 0.5, box.left, box.right);
    return {svg, box};
  }

  function one(strip) {
    const last = strip === list.at(-1) && !plan.keep.length, {svg, box} = area(STRIP + (last ? 18 : 0), strip.title, last);
    const total = [...Array(count).keys()].map(i => strip.series.reduce((sum, series) => sum + series[2][i], 0));
    const most = Math.max(strip.line || 0, ...total) * 1.06 || 1, y = scaled(0, most, box.bottom, box.top);
    axisUp(svg, y, box, strip.title, 3);
    axisAcross(svg, x, box, last ? "subgraph, in the order they run" : "", true);
    const base = Array(count).fill(0), wide = Math.max(0.8, (x(1) - x(0)) * (count > 150 ? 1 : 0.84));
    for (const [name, , values] of strip.series) {
      let path = "";
      for (let i = 0; i < count; i++) {
        if (!values[i]) continue;
        path += `M${(x(i) - wide / 2).toFixed(2)},${y(base[i]).toFixed(2)}V${y(base[i] + values[i]).toFixed(2)}h${wide.toFixed(2)}V${y(base[i]).toFixed(2)}Z`;
        base[i] += values[i];
      }
      if (path) put(svg, "path", {class: name, d: path});
    }
    if (strip.line) put(svg, "line", {class: "capacity", x1: box.left, x2: box.right, y1: y(strip.line), y2: y(strip.line)});
    if (strip.needs) {
      const need = strip.needs.map((each, i) => `M${(x(i) - wide / 2).toFixed(2)},${Math.max(box.top, y(each)).toFixed(2)}h${wide.toFixed(2)}`).join("");
      put(svg, "path", {class: "need", d: need});
    }
    finish(svg, box);
  }

  // A bar for each tensor that stays on chip, from the subgraph that makes or loads it to the last that reads it.
  function intervals() {
    const free = [], rows = plan.keep.map(([, from, until]) => {
      let row = free.findIndex(end => end < from);
      if (row < 0) row = free.length;
      free[row] = until;
      return row;
    });
    const drawn = Math.min(MOST_ROWS, free.length);
    const {svg, box} = area(58 + KEPT_ROW * drawn, "tensors kept on chip", true);
    put(svg, "text", {class: "title", x: 2, y: box.top - 8}, `tensors kept whole on chip, ${plan.keep.length} bars` + (drawn < free.length ? `, the first ${drawn} rows` : ""));
    axisAcross(svg, x, box, "subgraph, in the order they run", true);
    plan.keep.forEach(([tensor, from, until, bytes], i) => {
      if (rows[i] >= drawn) return;
      const bar = put(svg, "rect", {class: "kept", x: x(from - 0.4), width: x(until + 0.4) - x(from - 0.4), y: box.top + 2 + KEPT_ROW * rows[i], height: KEPT_ROW - 2});
      put(bar, "title", {}, `${tensor}, ${kilobytes(bytes)}, from subgraph ${from} until ${until}`);
    });
    finish(svg, box);
  }

  function finish(svg, box) {
    frame(svg, box);
    const mark = put(svg, "rect", {class: "mark", y: box.top, height: box.bottom - box.top, visibility: "hidden"});
    marks.push(mark);
    const at = event => {
      const i = Math.round(x.back(event.clientX - svg.getBoundingClientRect().left));
      return i >= 0 && i < count ? i : -1;
    };
    svg.addEventListener("mousemove", event => pick(at(event), false));
    svg.addEventListener("click", event => pick(at(event), true));
  }

  function mark(step) {
    for (const each of marks) {
      each.setAttribute("visibility", step < 0 ? "hidden" : "visible");
      if (step < 0) continue;
      each.setAttribute("x", x(step - 0.5));
      each.setAttribute("width", Math.max(2, x(1) - x(0)));
    }
  }

  draw();
  return {draw, mark};
}

// What a subgraph is, in words.
function told(plan, network, step) {
  const layers = network.layers.filter((_, v) => plan.owner[v] === step);
  const names = layers.length > 6 ? [...layers.slice(0, 3), `... (${layers.length} layers) ...`, ...layers.slice(-2)] : layers;
  const lines = [[`subgraph ${step}`, names.join(", ")]];
  const held = [["weights", plan.weights], ["kept", plan.kept], ["MAIN", plan.main], ["SIDE", plan.side]].filter(([, values]) => values[step]);
  lines.push(["holds", held.map(([name, values]) => `${name} ${kilobytes(values[step])}`).join(", ") || "nothing"]);
  if (plan.needs) {
    const [activations, weights, streams] = plan.needs[step];
    lines.push(["needs at least", `${kilobytes(activations + weights)} to be held` + (streams ? ", or less if it passes in pieces" : "")]);
  }
  const energy = Object.values(plan.energy).reduce((sum, values) => sum + values[step], 0);
  const said = (value, [name, size]) => `${shown(value / size)} ${name}`, units = plan.units;
  const waits = plan.time[step] > plan.compute[step] * (1 + 1e-9) ? ", it waits for transfers" : ", computing decides";
  lines.push(["takes", `${said(plan.ema[step], units.ema)} across DRAM, ${said(energy, units.energy)}, ${said(plan.time[step], units.time)}${waits}`]);
  if (plan.busy[step] !== null) lines.push(["MACs busy", `${shown(100 * plan.busy[step], 3)} % of the cycles of computing`]);
  const how = [`tile ${plan.tile[step].join(" x ")}`];
  if (plan.order[step]) how.push(`loop order ${plan.order[step]}`);
  if (plan.scheme[step]) how.push(`cores: ${plan.scheme[step]}`);
  lines.push(["runs", how.join(", ")]);
  const kept = plan.keep.filter(([, from, until]) => from <= step && step <= until).map(each => each[0]);
  if (kept.length) lines.push(["stays on chip", kept.slice(0, 6).join(", ") + (kept.length > 6 ? ` and ${kept.length - 6} more` : "")]);
  return lines;
}
