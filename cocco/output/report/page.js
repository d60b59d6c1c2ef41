"use strict";
(() => {
  const data = JSON.parse(document.getElementById("points").textContent);
  const svg = document.getElementById("front"), ring = document.getElementById("ring");
  const tip = document.getElementById("tip"), chart = svg.parentElement;
  const NEAR = 24;  // pixels of the drawing
  const size = bytes => bytes % 1024 ? bytes.toLocaleString("en") + " bytes" : (bytes / 1024).toLocaleString("en") + " KB";
  const walk = [...document.querySelectorAll(".best")].map(dot => {
    const x = Number(dot.getAttribute("cx")), y = Number(dot.getAttribute("cy"));
    return data.x.findLastIndex((each, i) => each === x && data.y[i] === y);
  });
  let at = -1;

  function text(i) {
    const lines = [];
    for (const {before, after, kind, values} of data.columns) {
      const value = values[i];
      if (value === null) continue;
      const digits = kind === "rounded" ? {maximumSignificantDigits: 6} : {};
      lines.push(before + (kind === "size" ? size(value) : value.toLocaleString("en", digits)) + after);
    }
    lines.push(data.titles[i]);
    return lines.join("\n");
  }

  function show(i) {
    ring.setAttribute("cx", data.x[i]);
    ring.setAttribute("cy", data.y[i]);
    ring.style.visibility = "visible";
    tip.textContent = text(i);
    tip.hidden = false;
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const left = Math.min(data.x[i] * scale + 14, chart.clientWidth - tip.offsetWidth);
    tip.style.left = left + "px";
    tip.style.top = data.y[i] * scale + 14 + "px";
  }

  function hide() {
    tip.hidden = true;
    ring.style.visibility = "hidden";
  }

  svg.addEventListener("mousemove", event => {
    const mouse = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = -1, least = NEAR * NEAR;
    for (let i = 0; i < data.x.length; i++) {
      const distance = (data.x[i] - mouse.x) ** 2 + (data.y[i] - mouse.y) ** 2;
      if (distance <= least) [best, least] = [i, distance];  // of equally near ones the last: the front, then the star
    }
    if (best < 0) hide(); else show(best);
  });
  svg.addEventListener("mouseleave", hide);
  chart.addEventListener("keydown", event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    at = Math.max(0, Math.min(walk.length - 1, at + step));
    show(walk[at]);
  });

  for (const table of document.querySelectorAll("table")) {
    const heads = [...table.querySelectorAll("th")];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
      heads.forEach(each => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const value = row => Number(row.cells[column].dataset.v);
      const rows = [...table.tBodies[0].rows].sort((a, b) => sign * (value(a) - value(b)));
      table.tBodies[0].append(...rows);
    }));
  }
})();
