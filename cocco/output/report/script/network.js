// The network with its subgraphs: levels from top to bottom, folded into as many columns as the width has room for.
const NAMED = 110, LETTER = 6.3, ROW = 26, GUTTER = 0.8, LONGEST = 26;

function networkPicture(holder, plan, network, pick) {
  const drawn = network.drawn, count = network.layers.length;
  const short = name => name.length <= LONGEST ? name : name.slice(0, LONGEST - 7) + ".." + name.slice(-5);
  const owner = node => node < count ? node : drawn.owner[node - count];
  const depth = Math.max(...drawn.level) + 1, sizes = Array(plan.time.length).fill(0);
  plan.owner.forEach(step => sizes[step]++);
  let boxes = [];

  // Of a lane the strongest way of those that leave it: inside a subgraph, kept on chip, through DRAM.
  function ways() {
    const index = new Map(network.layers.map((name, v) => [name, v]));
    const kept = plan.keep.map(([tensor, from, until]) => [index.get(tensor), from, until]);
    const read = (u, v) => plan.owner[u] === plan.owner[v] ? "inside"
      : kept.some(([tensor, from, until]) => tensor === u && from < plan.owner[v] && plan.owner[v] <= until) ? "stays" : "through";
    const rank = {through: 0, stays: 1, inside: 2}, lane = new Map();
    const way = (start, end) => end < count ? read(owner(start), end) : lane.get(end) || "through";
    for (const [start, end] of [...drawn.lines].reverse()) {
      if (start >= count && rank[way(start, end)] > rank[lane.get(start) || "through"]) lane.set(start, way(start, end));
    }
    return drawn.lines.map(([start, end]) => way(start, end));
  }

  function fold(cell, width) {
    const shape = rows => {
      const starts = [], lows = [];
      let start = 0;
      for (let column = 0; column * rows < depth; column++) {
        const inside = drawn.x.filter((_, node) => Math.floor(drawn.level[node] / rows) === column);
        starts.push(start);
        lows.push(inside.reduce((a, b) => Math.min(a, b), Infinity));
        start += inside.reduce((a, b) => Math.max(a, b), -Infinity) - lows.at(-1) + 1 + GUTTER;
      }
      return {rows, starts, lows, width: (start - GUTTER) * cell};
    };
    let best = shape(depth);
    for (let columns = 2; columns <= 24 && columns <= depth; columns++) {
      const next = shape(Math.ceil(depth / columns));
      if (best.rows * ROW < 700) break;
      if (next.width <= width - 8) best = next;
    }
    return best;
  }

  function draw() {
    const named = count <= NAMED, letters = Math.max(...network.layers.map(name => short(name).length));
    const cell = named ? 30 + LETTER * letters : 30, room = Math.max(280, holder.clientWidth), page = fold(cell, room);
    holder.replaceChildren();
    const scroll = html(holder, "div", {class: "wide"}), width = page.width + 8, height = (page.rows + 1) * ROW;
    const svg = put(scroll, "svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `${network.name}: ${count} layers in ${plan.time.length} subgraphs`});
    const at = node => {
      const column = Math.floor(drawn.level[node] / page.rows);
      return [4 + (page.starts[column] + drawn.x[node] - page.lows[column] + 0.5) * cell, (drawn.level[node] % page.rows + 0.9) * ROW];
    };
    const paths = {through: "", stays: "", inside: ""};
    ways().forEach((way, i) => {
      const [start, end] = drawn.lines[i], [a, b] = [at(start), at(end)].map(each => each.map(one => one.toFixed(1)));
      const column = Math.floor(drawn.level[end] / page.rows);
      if (Math.floor(drawn.level[start] / page.rows) === column) paths[way] += `M${a}L${b}`;
      else {
        const gutter = (4 + (page.starts[column] - GUTTER / 2) * cell).toFixed(1), low = ((page.rows + 0.55) * ROW).toFixed(1);
        paths[way] += `M${a}V${low}H${gutter}V${0.25 * ROW}H${b[0]}V${b[1]}`;
      }
    });
    for (const way in paths) if (paths[way]) put(svg, "path", {class: "line-" + way, d: paths[way]});
    boxes = network.layers.map((name, v) => {
      const [x, y] = at(v), step = plan.owner[v], alone = sizes[step] === 1 ? " alone" : step % 2 ? " odd" : "";
      const group = put(svg, "g", {class: "layer" + alone, "data-step": step});
      put(group, "rect", {x: x - 0.46 * cell, y: y - 0.32 * ROW, width: 0.92 * cell, height: 0.64 * ROW, rx: 2});
      put(group, "text", {x, y: y + 4, "text-anchor": "middle"}, named ? `${step}  ${short(name)}` : step);
      put(group, "title", {}, `${name}, subgraph ${step}`);
      return group;
    });
    const step = event => {
      const group = event.target.closest("g.layer");
      return group ? Number(group.dataset.step) : -1;
    };
    svg.addEventListener("mousemove", event => pick(step(event), false));
    svg.addEventListener("click", event => pick(step(event), true));
    legend(html(holder, "div", {class: "legend"}), [
      ["line-inside", "stays on chip inside a subgraph", "line"], ...(paths.stays ? [["line-stays", "kept on chip for a later subgraph", "line"]] : []),
      ["line-through", "goes through DRAM", "line"], ["layer-key alone", "a layer that runs alone", "box"],
      ["layer-key", "layers of a subgraph, with its number", "box"]]);
  }

  function mark(step) {
    holder.querySelectorAll("g.on").forEach(each => each.classList.remove("on"));
    if (step >= 0) boxes.forEach((each, v) => plan.owner[v] === step && each.classList.add("on"));
  }

  // Scrolls the picture, not the page, to a subgraph that is out of sight.
  function reveal(step) {
    const scroll = holder.querySelector(".wide"), box = boxes[plan.owner.indexOf(step)];
    if (!box) return;
    const mine = box.getBoundingClientRect(), area = scroll.getBoundingClientRect();
    if (mine.top < area.top || mine.bottom > area.bottom) scroll.scrollTop += mine.top - area.top - area.height / 2;
    if (mine.left < area.left || mine.right > area.right) scroll.scrollLeft += mine.left - area.left - area.width / 2;
  }

  draw();
  return {draw, mark, reveal};
}
