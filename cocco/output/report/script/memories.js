// Which memory: every size by its price and its bound, the line of equal cost, and what another alpha would choose.
const NEAR = 26;  // pixels
const PROVED = 1e-9;  // relative, as in chart.py

function memories(chart, choose, follow) {
  const section = document.getElementById("memories"), holder = section.querySelector(".chart");
  const tip = document.getElementById("tip"), input = document.getElementById("alpha"), said = document.getElementById("said");
  if (!chart.slider) chart.grid = null;  // without alpha there is no cost
  const panels = [...chart.up, ...(chart.grid ? [0] : [])].map(() => html(holder, "div", {class: "panel"}));
  const count = chart.x.length, first = chart.y[0];
  const proved = i => chart.least !== null && chart.least[i] !== null && first[i] !== null && chart.least[i] >= first[i] * (1 - PROVED);
  const line = first.map((value, i) => value !== null && first.every((each, j) => each === null || chart.x[j] > chart.x[i] || each > value || j === i || (each === value && i < j)));
  let alpha = chart.slider ? chart.slider.alpha : null, pointed = -1, drawn = [], off = new Set();

  // What alpha chooses: the cheapest price, and how far below it a size without a proof may be.
  function best() {
    if (alpha === null) return null;
    let pick = -1, least = Infinity, low = Infinity;
    for (let i = 0; i < count; i++) {
      if (first[i] !== null && chart.x[i] + alpha * first[i] < least) [pick, least] = [i, chart.x[i] + alpha * first[i]];
      const bound = chart.least === null ? null : chart.least[i];
      if (bound !== null) low = Math.min(low, chart.x[i] + alpha * bound);
    }
    const asked = alpha === chart.slider.alpha;
    if (asked && chart.star !== null) [pick, least] = [chart.star, chart.x[chart.star] + alpha * first[chart.star]];
    return {pick, cost: least, low: chart.least === null || !(low < Infinity) ? null : low, asked};
  }

  function kindOf(i, most) {
    if (first[i] !== null && chart.x[i] + alpha * first[i] <= most * (1 + PROVED)) return "within";
    const bound = chart.least === null ? null : chart.least[i];
    return bound !== null && chart.x[i] + alpha * bound > most ? "outside" : "open";
  }

  function bounds(k) {
    const known = chart.y[k].filter((each, i) => each !== null && (!chart.grid || line[i] || i === chart.star));  // of many pairs a poor sample is all
    const smallest = chart.x[first.findIndex(each => each !== null)];
    const x = chart.x.filter((each, i) => !chart.grid || first[i] !== null || each < smallest);  // where the line is flat, pairs are many
    let low = Math.min(...known), high = Math.max(...known);
    if (k === 0 && chart.least !== null && chart.whole) low = Math.min(low, ...chart.least.filter(each => each !== null));
    for (const limit of chart.limits) {
      if (limit.axis === k) [low, high] = [Math.min(low, limit.value), Math.max(high, limit.value)];
      if (limit.axis === -1) x.push(limit.value);
    }
    if (k === 0 && chart.least !== null && chart.whole) high = Math.max(high, ...chart.least.filter(each => each !== null));
    if (k === 0 && chart.overlay) for (const each of chart.overlay.y) if (each !== null) [low, high] = [Math.min(low, each), Math.max(high, each)];
    if (chart.overlay) x.push(...chart.overlay.x);
    if (chart.floors.length) low = Math.min(low, ...chart.floors[k].filter(each => each[0] <= Math.max(...x)).map(each => each[1]));
    const wide = (from, to) => [from, to].map((each, i) => each + (i ? 1 : -1) * (0.05 * (to - from) || 0.05 * Math.abs(to) || 1));
    const [least, most] = [Math.min(...x), Math.max(...x)];
    return [chart.log ? [least / 1.1, most * 1.1] : wide(least, most), wide(low, high)];
  }

  function draw() {
    drawn = chart.up.map((up, k) => panel(up, k));
    if (chart.grid) {
      const found = best();
      drawn.push(sizesMap(panels[chart.up.length], chart, (i, share) => kindOf(i, found.cost * (1 + share)), found));
    }
    if (pointed >= 0) ring();
    keys();
    say();
  }

  function panel(up, k) {
    const title = `${up.title} (${up.unit})`;
    const wide = Math.max(280, panels[k].clientWidth);
    const {svg, width, height} = picture(panels[k], Math.round(Math.min(460, Math.max(240, wide * 0.5))), `${up.title} against ${chart.across.title}`);
    const box = {left: 58, right: width - 12, top: 26, bottom: height - 38};
    const [xs, ys] = bounds(k), X = chart.across.scale, Y = up.scale;
    const x = (chart.log ? logScaled : scaled)(xs[0] * X, xs[1] * X, box.left, box.right), y = scaled(ys[0] * Y, ys[1] * Y, box.bottom, box.top);
    const at = (i, value) => [x(chart.x[i] * X), y(value * Y)];
    const clipped = () => put(svg, "svg", {
      x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top,
      viewBox: `${box.left} ${box.top} ${box.right - box.left} ${box.bottom - box.top}`});
    const found = best(), under = clipped();
    if (found && chart.banded) bands(under, x, box, found.cost);
    if (chart.limits.length) kept(under, k, x, y, box, X, Y);
    axisUp(svg, y, box, title);
    axisAcross(svg, x, box, `${chart.across.title} (${chart.across.unit})`);
    const inside = clipped();  // over the lines of the axes
    if (k === 0 && chart.whole) unknown(inside, x, y, box, X, Y);
    const cloud = chart.cloud;
    if (cloud.x) {
      const dots = cloud.x.map((each, i) => `M${x(each * X).toFixed(1)},${y(cloud.y[k][i] * Y).toFixed(1)}h0`).join("");
      put(inside, "path", {class: "cloud", d: dots});
    }
    if (chart.floors.length) steps(inside, x, y, box, chart.floors[k], X, Y);
    if (chart.slope && k === 0 && chart.star !== null) {
      const pixels = [...Array(101).keys()].map(i => box.left + (box.right - box.left) * i / 100);
      const cost = pixels.map(px => [px, y((first[chart.star] - chart.slope * (x.back(px) / X - chart.x[chart.star])) * Y)]);
      put(inside, "path", {class: "equal", fill: "none", d: "M" + cost.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join("L")});
    }
    if (chart.stairs) stairs(inside, x, y, box, chart.x, chart.y[k], X, Y, "front");
    if (chart.overlay && k === 0) overlay(inside, x, y, box, X, Y);
    for (const limit of chart.limits) {
      const across = limit.axis === -1;
      if (!across && limit.axis !== k) continue;
      const place = across ? x(limit.value * X) : y(limit.value * Y);
      put(svg, "line", across ? {class: "limit", x1: place, x2: place, y1: box.top, y2: box.bottom}
        : {class: "limit", x1: box.left, x2: box.right, y1: place, y2: place});
      put(svg, "text", across ? {class: "limit-text", x: place - 4, y: box.top + 12, "text-anchor": "end"}
        : {class: "limit-text", x: box.right - 4, y: place - 4, "text-anchor": "end"}, limit.text);
    }
    if (found && k === 0) equal(inside, x, y, box, found, X, Y);
    for (let i = 0; i < count; i++) {
      const value = chart.y[k][i];
      if (off.has(i)) continue;
      if (chart.grid && value === null) continue;  // hundreds of pairs; the map has them
      if (k === 0 && chart.least !== null && chart.least[i] !== null && !proved(i) && (!chart.grid || line[i])) {
        const [px, py] = at(i, chart.least[i]);
        put(inside, "path", {class: "bound", d: `M${px - 3},${py}h6` + (value === null ? "" : `M${px},${py}V${at(i, value)[1]}`)});
      }
      if (value === null) continue;
      const [px, py] = at(i, value), kind = chart.kinds.length ? ` kind${chart.kinds[i] % 6}` : "", plan = chart.plan[i] === null ? "" : " planned";
      put(inside, "circle", {class: (chart.least === null || (k === 0 && proved(i)) ? "proved" : "found") + kind + plan, cx: px, cy: py, r: 4, "data-point": i});
    }
    if (chart.star !== null) put(svg, "polygon", {class: "star", points: star(...at(chart.star, chart.y[k][chart.star]), 9)});
    if (found && found.pick !== chart.star) put(svg, "circle", {class: "pick", cx: at(found.pick, chart.y[k][found.pick])[0], cy: at(found.pick, chart.y[k][found.pick])[1], r: 8});
    const ring = put(svg, "circle", {class: "ring", r: 11, visibility: "hidden"});
    frame(svg, box);
    const places = chart.x.map((_, i) => {
      const value = chart.y[k][i] !== null ? chart.y[k][i] : k === 0 && chart.least !== null && !chart.grid ? chart.least[i] : null;
      const place = value === null || off.has(i) ? null : at(i, value);
      return place === null || (chart.grid && place[1] < box.top) ? null : place;
    });
    return {svg, places, ring};
  }

  function bands(svg, x, box, cost) {
    const X = chart.across.scale, half = i => (chart.x[i] + chart.x[i + 1]) / 2;
    for (let i = 0; i < count; i++) {
      const name = ["within1", "within3"].find((_, m) => kindOf(i, cost * (1 + chart.margins[m])) === "within")
        || (chart.least !== null && kindOf(i, cost * (1 + chart.margins[1])) === "open" ? "open" : null);
      if (!name) continue;
      const left = x((i ? half(i - 1) : chart.x[0]) * X), right = x((i + 1 < count ? half(i) : chart.x[i]) * X);
      put(svg, "rect", {class: name, x: left, width: Math.max(1, right - left + 0.3), y: box.top, height: box.bottom - box.top});
    }
  }

  // Where the limits of this drawing are kept, and the sizes at which nothing keeps them.
  function kept(svg, k, x, y, box, X, Y) {
    const most = axis => Math.min(...chart.limits.filter(each => each.axis === axis).map(each => each.value));
    const from = chart.ruled_out === null ? box.left : Math.min(box.right, Math.max(box.left, x(chart.ruled_out * X)));
    const to = most(-1) < Infinity ? x(most(-1) * X) : box.right, top = most(k) < Infinity ? y(most(k) * Y) : box.top;
    if (to > from) put(svg, "rect", {class: "feasible", x: from, width: to - from, y: top, height: box.bottom - top});
    if (from > box.left) put(svg, "rect", {class: "ruled", x: box.left, width: from - box.left, y: box.top, height: box.bottom - box.top});
  }

  // Above the lower stairs, which are proved, and below the upper ones, which are plans, nobody knows.
  function unknown(svg, x, y, box, X, Y) {
    let low = Infinity, up = Infinity, top = `M${x(chart.x[0] * X)},${box.top}`, under = [];
    for (let i = 0; i < count; i++) {
      const px = x(chart.x[i] * X), next = i + 1 < count ? x(chart.x[i + 1] * X) : box.right;
      if (chart.least[i] !== null) low = Math.min(low, chart.least[i]);
      if (first[i] !== null) up = Math.min(up, first[i]);
      const from = up < Infinity ? y(up * Y) : box.top, to = low < Infinity ? y(low * Y) : box.bottom;
      top += `L${px},${from}H${next}`;
      under.unshift(`L${next},${to}H${px}`);
    }
    if (chart.x.some((_, i) => !proved(i))) put(svg, "path", {class: "unknown", d: top + under.join("") + "Z"});
  }

  function steps(svg, x, y, box, points, X, Y) {
    const path = points.map(([across, up], i) => (i ? `H${x(across * X)}V${y(up * Y)}` : `M${x(across * X)},${y(up * Y)}`)).join("");
    if (path) put(svg, "path", {class: "front", d: path + `H${box.right}`});
  }

  function stairs(svg, x, y, box, across, up, X, Y, name) {
    let least = Infinity, path = "";
    across.forEach((each, i) => {
      if (up[i] === null || up[i] >= least) return;
      path += path ? `H${x(each * X)}V${y(up[i] * Y)}` : `M${x(each * X)},${box.top}V${y(up[i] * Y)}`;
      least = up[i];
    });
    if (path) put(svg, "path", {class: name, d: path + `H${box.right}`});
  }

  // The sizes of another run: squares, a dashed line, and a star that is not filled.
  function overlay(svg, x, y, box, X, Y) {
    const other = chart.overlay;
    stairs(svg, x, y, box, other.x, other.y, X, Y, "front other");
    other.x.forEach((each, i) => {
      if (other.y[i] === null) return;
      const [px, py] = [x(each * X), y(other.y[i] * Y)], dot = put(svg, "rect", {class: "other-dot", x: px - 3.5, y: py - 3.5, width: 7, height: 7});
      put(dot, "title", {}, `${other.title}: ${kilobytes(each)}, ${shown(other.y[i] * Y)} ${chart.up[0].unit}`);
      if (other.plan[i] !== null) dot.addEventListener("click", event => { event.stopPropagation(); choose(other.plan[i]); });
      if (i === other.star) put(svg, "polygon", {class: "other-star", points: star(px, py, 10)});
    });
  }

  function equal(svg, x, y, box, found, X, Y) {
    const i = found.pick, value = at => first[i] + (chart.x[i] - at) / alpha;
    put(svg, "line", {class: "equal", x1: box.left, x2: box.right, y1: y(value(x.back(box.left) / X) * Y), y2: y(value(x.back(box.right) / X) * Y)});
  }

  function keys() {
    const known = first.some(each => each !== null), has = name => holder.querySelector("." + name) !== null;
    const list = [
      ["star", (chart.title ? chart.title + ": " : "") + "the recommendation", "star"],
      ["proved", chart.least === null ? (chart.limits.length ? "a plan" : "a plan of the front") : "a plan, proved the least at its size", "dot"],
      ["found", chart.least === null ? "a plan that was found" : "the best plan found at its size, not proved", "dot"],
      ["cloud-key", "a sample", "dot"], ["bound", "no plan at this size takes less, proved", "line"],
      ["front", "the least that is known in at most so much memory", "line"], ["unknown", "not known", "box"],
      ["equal", "costs as much as the cheapest", "line"], ["pick", "the cheapest at this worth", "dot"],
      ["within1", "at most 1 % more", "box"], ["within3", "at most 3 % more", "box"], ["open", "open: not known whether at most 3 % more", "box"],
      ["within10", "at most 10 % more", "box"], ["more", "more than 3 % more, proved", "box"], ["beyond", "more than 10 % more, proved", "box"],
      ["limit", "a limit", "line"], ["feasible", "within the limits", "box"], ["ruled", "nothing keeps the limits at this size, proved", "box"],
    ];
    if (chart.overlay) list.push(["other-dot", `${chart.overlay.title}: a plan`, "box"], ["other-star", `${chart.overlay.title}: its recommendation`, "star"]);
    const named = list.map(([name, words, kind]) => [name, chart.words[name] ?? words, kind]);
    chart.kind_names.forEach((words, i) => named.push([`proved kind${i % 6}`, words, "dot", `kind${i % 6}`]));
    legend(section.querySelector(".legend"), named.filter(([name, , , kind]) => known && has(kind ?? name.replace("-key", ""))));
  }

  // What the sizes that are not drawn cost at least: more than at the alpha of the run, in parts of which they cost less.
  function rest() {
    return chart.others === null ? Infinity : chart.others * Math.min(1, alpha / chart.slider.alpha);
  }

  function say() {
    const found = best();
    if (!found || found.pick < 0) return;
    const i = found.pick, unit = chart.up[0], others = [];
    for (let j = 0; j < count; j++) if (j !== i && chart.banded && kindOf(j, found.cost * 1.01) === "within") others.push(j);
    const worth = `alpha ${shown(alpha, 3)}: a byte counts as much as ${shown(1 / alpha, 3)} ${chart.slider.text}`;
    let sure = chart.least === null ? "of these points" : "not proved";
    if (found.asked && chart.sure) sure = "proved, no other size costs less";
    else if (found.low !== null) {
      const gap = 1 - found.low / found.cost;
      sure = gap <= PROVED ? "proved, no other size costs less" : `not proved, another plan may cost up to ${shown(100 * gap, 3)} % less`;
      if (rest() < found.cost * (1 - PROVED)) {
        sure = `the cheapest ${gap <= PROVED ? "" : "known "}of the sizes that are drawn; others may cost less, 'cocco explore --alpha ${shown(alpha, 3)}' says`;
      }
    }
    const near = chart.banded ? (others.length ? `; at most 1 % more: ${spans(others.concat(i))}` : "; no other size known within 1 %") : "";
    const plan = chart.plan[i] === null && chart.plan.some(each => each !== null) ? " Its plan is not on this page: the one below is that of another size." : "";
    said.textContent = `${worth}. Build ${chart.names[i]}: ${unit.title} ${shown(first[i] * unit.scale)} ${unit.unit} (${sure})${near}.${plan}`;
    input.setAttribute("aria-valuetext", said.textContent);
  }

  // Neighbouring sizes as from .. to.
  function spans(list) {
    const sorted = list.sort((a, b) => a - b), parts = [];
    for (let i = 0; i < sorted.length; i++) {
      const start = sorted[i];
      while (sorted[i + 1] === sorted[i] + 1) i++;
      parts.push(start === sorted[i] ? chart.names[start] : `${chart.names[start]} to ${chart.names[sorted[i]]}`);
    }
    return parts.join(", ");
  }

  function ring() {
    drawn.forEach(({ring, places}) => {
      if (!places[pointed]) return ring.setAttribute("visibility", "hidden");
      ring.setAttribute("cx", places[pointed][0]);
      ring.setAttribute("cy", places[pointed][1]);
      ring.setAttribute("visibility", "visible");
    });
  }

  function point(i, k = 0) {
    pointed = i;
    if (i < 0 || !drawn[k].places[i]) {
      tip.hidden = true;
      drawn.forEach(each => each.ring.setAttribute("visibility", "hidden"));
      return;
    }
    ring();
    const lines = [...chart.lines[i]];
    if (chart.plan[i] !== null) lines.push("click: its plan");
    tip.textContent = lines.join("\n");
    tip.hidden = false;
    const area = section.getBoundingClientRect(), mine = drawn[k].svg.getBoundingClientRect(), [px, py] = drawn[k].places[i];
    tip.style.left = Math.max(0, Math.min(mine.left - area.left + px + 14, area.width - tip.offsetWidth)) + "px";
    tip.style.top = mine.top - area.top + py + 16 + "px";
  }

  function nearest(event, k) {
    const area = drawn[k].svg.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
    let at = -1, least = NEAR * NEAR;
    drawn[k].places.forEach((place, i) => {
      if (!place) return;
      const distance = (place[0] - x) ** 2 + (place[1] - y) ** 2;
      if (distance <= least) [at, least] = [i, distance];
    });
    return at;
  }

  // The plans of what the slider chooses, of both runs.
  function followed() {
    const other = chart.overlay, costs = other ? other.x.map((each, i) => other.y[i] === null ? Infinity : each + alpha * other.y[i]) : [];
    const picked = [chart.plan[best().pick], other?.plan[alpha === chart.slider.alpha ? other.star : costs.indexOf(Math.min(...costs))]];
    for (const plan of picked) if (plan !== null && plan !== undefined) follow(plan);
  }

  const open = i => { if (i >= 0 && chart.plan[i] !== null) choose(chart.plan[i]); };
  panels.forEach((element, k) => {
    element.addEventListener("mousemove", event => point(nearest(event, k), k));
    element.addEventListener("mouseleave", () => point(-1));
    element.addEventListener("click", event => open(nearest(event, k)));
  });
  holder.addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (event.key === "Enter") open(pointed);
    if (event.key === "Escape") point(-1);
    if (!step) return;
    event.preventDefault();
    let to = pointed < 0 ? (step > 0 ? -1 : count) : pointed;
    const passed = i => first[i] === null || (chart.grid && !line[i] && chart.plan[i] === null);
    do to += step; while (to >= 0 && to < count && passed(to));
    if (to >= 0 && to < count) point(to);
  });
  holder.addEventListener("blur", () => point(-1));
  if (chart.slider) {
    document.getElementById("slider").hidden = false;
    const move = () => {
      alpha = chart.slider.alpha * (Number(input.value) === 0 ? 1 : 10 ** Number(input.value));
      draw();
      followed();
    };
    document.getElementById("reset").textContent = chart.slider.reset;
    input.addEventListener("input", move);
    document.getElementById("reset").addEventListener("click", () => { input.value = 0; move(); });
  }
  onWidth(holder, draw);
  draw();
  if (alpha !== null) followed();
  return left => {  // draws without these points
    off = left;
    point(-1);
    draw();
  };
}
