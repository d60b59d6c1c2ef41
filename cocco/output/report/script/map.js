// A map of two buffers: a field for each pair of sizes, by how much it costs above the cheapest at the worth of a byte.
const CLASSES = [["within1", 0.01], ["within3", 0.03], ["within10", 0.1]];

// The least distance of neighbouring sizes: how large a field is.
function stepOf(sizes) {
  const sorted = [...new Set(sizes)].sort((a, b) => a - b), gaps = sorted.slice(1).map((each, i) => each - sorted[i]);
  return gaps.length ? Math.min(...gaps) : Math.max(1, sorted[0] / 8);
}

// What is proved of a field that no plan puts within 10 %.
const distant = (kind, i) => kind(i, 0.03) === "open" ? "open" : kind(i, 0.1) === "open" ? "more" : "beyond";

// kind(i, share): whether point i costs at most so much more: "within", "outside" or "open".
function sizesMap(holder, chart, kind, found) {
  const grid = chart.grid, K = 2 ** -10;
  const steps = [stepOf(grid.across), stepOf(grid.up)];
  const wide = Math.max(280, holder.clientWidth);
  const {svg, width, height} = picture(holder, Math.round(Math.min(460, Math.max(260, wide * 0.5))),
    `what each ${grid.titles[0]} with each ${grid.titles[1]} costs above the cheapest`);
  const box = {left: 58, right: width - 12, top: 26, bottom: height - 38};
  const near = grid.across.map((_, i) => i).filter(i => i === chart.star || i === found.pick || kind(i, 0.1) === "within" || kind(i, 0.03) === "open");
  const seen = near.length > 1 ? near : [...grid.across.keys()];  // fields that are far above the cheapest only make the others small
  const ends = (sizes, step) => {
    const shown = seen.map(i => sizes[i]);
    return [(Math.min(...shown) - step / 2) * K, (Math.max(...shown) + step / 2) * K];
  };
  const x = scaled(...ends(grid.across, steps[0]), box.left, box.right), y = scaled(...ends(grid.up, steps[1]), box.bottom, box.top);
  axisUp(svg, y, box, `${grid.titles[1]} of one core (KB)`);
  const inside = (scale, value) => scale.low <= value && value <= scale.high;
  const places = grid.across.map((each, i) => inside(x, each * K) && inside(y, grid.up[i] * K) ? [x(each * K), y(grid.up[i] * K)] : null);
  const [w, h] = [x(steps[0] * K) - x(0), y(0) - y(steps[1] * K)];
  const left = places.filter(each => each === null).length;
  axisAcross(svg, x, box, `${grid.titles[0]} of one core (KB)` + (left ? `; ${left} pairs further off` : ""));
  places.forEach((place, i) => {
    if (place === null) return;
    const [px, py] = place;
    const name = (CLASSES.find(([, share]) => kind(i, share) === "within") || [distant(kind, i)])[0];
    const plan = chart.plan[i] === null ? "" : " planned";
    put(svg, "rect", {class: `${name} field${plan}`, x: px - w / 2, y: py - h / 2, width: w, height: h, "data-point": i});
  });
  if (chart.star !== null) put(svg, "polygon", {class: "star", points: star(...places[chart.star], 9)});
  if (found.pick !== chart.star) put(svg, "circle", {class: "pick", cx: places[found.pick][0], cy: places[found.pick][1], r: 8});
  const ring = put(svg, "circle", {class: "ring", r: 11, visibility: "hidden"});
  frame(svg, box);
  return {svg, places, ring};
}
