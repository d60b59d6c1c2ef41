// Drawing: elements of SVG, scales, numbers for people. The pictures take their colours from page.css.
const LETTER_WIDE = 7;  // pixels of a digit
const SPACE = "http://www.w3.org/2000/svg";

function put(parent, name, attributes = {}, text = null) {
  const element = document.createElementNS(SPACE, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

function html(parent, name, attributes = {}, text = null) {
  const element = document.createElement(name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

// From numbers to pixels; .back leads from pixels to numbers, .ticks(n) gives about n round numbers inside.
function scaled(low, high, start, end) {
  const way = value => start + (value - low) / (high - low) * (end - start);
  way.low = low;
  way.high = high;
  way.back = pixel => low + (pixel - start) / (end - start) * (high - low);
  way.ticks = count => {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map(each => each * power).find(each => each >= rough * (1 - 1e-9));
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12); i++) found.push(i * step + 0);  // + 0: no -0
    return found;
  };
  return way;
}

// The same over logarithms; ticks are 1, 2 and 5 of each power of ten where that is enough.
function logScaled(low, high, start, end) {
  const inner = scaled(Math.log(low), Math.log(high), start, end), way = value => inner(Math.log(value));
  way.back = pixel => Math.exp(inner.back(pixel));
  way.ticks = count => {
    const found = [...Array(40).keys()].map(i => [1, 2, 5][i % 3] * 10 ** (Math.floor(i / 3) - 6)).filter(each => low <= each && each <= high);
    return found.length > 2 ? found : scaled(low, high, start, end).ticks(count);
  };
  return way;
}

const shown = (value, digits = 4) =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en")
    : value.toLocaleString("en", {maximumSignificantDigits: digits});
const kilobytes = bytes => (bytes % 1024 ? shown(bytes / 1024) : bytes / 1024) + " KB";

// A picture as wide as its holder; what was in the holder goes.
function picture(holder, height, label) {
  holder.replaceChildren();
  const width = Math.max(280, holder.clientWidth);
  const svg = put(holder, "svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
  return {svg, width, height};
}

// The axis up with lines through the picture, and its title above the left end.
function axisUp(svg, scale, box, title, count = 4) {
  for (const tick of scale.ticks(count)) {
    const y = scale(tick);
    put(svg, "line", {class: "grid", x1: box.left, x2: box.right, y1: y, y2: y});
    put(svg, "text", {x: box.left - 6, y: y + 4, "text-anchor": "end"}, shown(tick, 6));
  }
  put(svg, "text", {class: "title", x: 2, y: box.top - 8}, title);
}

function axisAcross(svg, scale, box, title, whole = false) {
  const room = Math.max(2, Math.floor((box.right - box.left) / 80));
  for (const tick of scale.ticks(room)) {
    if (whole && !Number.isInteger(tick)) continue;
    put(svg, "line", {class: "grid", x1: scale(tick), x2: scale(tick), y1: box.top, y2: box.bottom});
    const words = shown(tick, 6), most = box.right + 10 - LETTER_WIDE * words.length / 2;  // inside the picture
    put(svg, "text", {x: Math.min(scale(tick), most), y: box.bottom + 15, "text-anchor": "middle"}, words);
  }
  if (title) put(svg, "text", {class: "title", x: (box.left + box.right) / 2, y: box.bottom + 31, "text-anchor": "middle"}, title);
}

const frame = (svg, box) => put(svg, "rect", {
  class: "frame", x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top});

// The keys of a legend: pairs of a class and words.
function legend(holder, keys) {
  holder.replaceChildren();
  for (const [name, words, kind] of keys) {
    const item = html(holder, "span", {class: "key"});
    const svg = put(item, "svg", {width: 22, height: 12, "aria-hidden": "true"});
    if (kind === "line") put(svg, "line", {class: name, x1: 1, x2: 21, y1: 6, y2: 6});
    else if (kind === "dot") put(svg, "circle", {class: name, cx: 11, cy: 6, r: 4});
    else if (kind === "star") put(svg, "polygon", {class: name, points: star(11, 6, 6)});
    else put(svg, "rect", {class: name, x: 2, y: 1, width: 18, height: 10});
    html(item, "span", {}, words);
  }
}

function star(x, y, size) {
  return [...Array(10).keys()].map(i => {
    const radius = i % 2 ? 0.42 * size : size, angle = Math.PI * (i / 5 - 0.5);
    return `${(x + radius * Math.cos(angle)).toFixed(1)},${(y + radius * Math.sin(angle)).toFixed(1)}`;
  }).join(" ");
}

// Calls again when the width of an element changes.
function onWidth(element, again) {
  let before = element.clientWidth;
  new ResizeObserver(() => {
    if (element.clientWidth && element.clientWidth !== before) {
      before = element.clientWidth;
      again();
    }
  }).observe(element);
}
