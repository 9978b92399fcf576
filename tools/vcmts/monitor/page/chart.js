// SPDX-License-Identifier: BSD-3-Clause
// Draws one graph over time as SVG, with its legend.

import { element, shape } from "./common.js";
import { digits, format, scale } from "./units.js";

const HEIGHT = 190, LEFT = 46, RIGHT = 10, TOP = 20, BOTTOM = 20;
const TICKS = 5; // of the vertical axis, without 0
const COLORS = 8; // --color-0 to --color-7 of page.css
const TIME_STEPS = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800];

/** A step of 1, 2 or 5 times a power of ten, for at most TICKS ticks up to `largest`. */
function niceStep(largest) {
  const least = largest / TICKS;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find(one => one * power >= least * 0.999);
}

/** Lower and upper edges of each series. Stacked ones begin where the previous series ends. */
function edges(series, times, stacked) {
  let below = times.map(() => 0);
  return series.map(one => {
    const lower = below;
    const upper = one.values.map((value, at) =>
      stacked ? lower[at] + (Number.isFinite(value) ? value : 0) : value);
    if (stacked) below = upper;
    return { lower, upper };
  });
}

/** The path of a line. It has gaps where values are missing. */
function line(times, values, x, y) {
  let text = "", pen = "M";
  times.forEach((time, at) => {
    const value = values[at];
    if (!Number.isFinite(value)) { pen = "M"; return; }
    text += `${pen}${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
    const alone = pen === "M" && !Number.isFinite(values[at + 1]);
    if (alone) text += "h.1"; // a dot, by round line caps
    pen = "L";
  });
  return text;
}

/** The path of the area between two lines without gaps. */
function area(times, lower, upper, x, y) {
  const point = (at, values) => `${x(times[at]).toFixed(1)} ${y(values[at]).toFixed(1)}`;
  const order = times.map((_, at) => at);
  return `M${order.map(at => point(at, upper)).join("L")}` +
    `L${order.reverse().map(at => point(at, lower)).join("L")}Z`;
}

function axes(svg, width, times, largest, unit, x, y) {
  const [factor, name] = scale(unit, largest);
  const step = niceStep(largest / factor);
  for (let tick = 0; tick <= largest / factor * 1.0001; tick += step) {
    const at = y(tick * factor);
    svg.append(shape("line", { x1: LEFT, x2: width - RIGHT, y1: at, y2: at, class: "grid" }));
    const text = step < 1 ? tick.toFixed(Math.ceil(-Math.log10(step) - 1e-9)) : digits(tick)
      .replace(/\.0+$/, "");
    svg.append(shape("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, text));
  }
  svg.append(shape("text", { x: 0, y: 11, class: "unit" }, name));
  const [first, last] = [times[0], times[times.length - 1]];
  const span = TIME_STEPS.find(one => (last - first) / one <= width / 90) ?? 21600;
  const zone = new Date(last * 1000).getTimezoneOffset() * 60;
  for (let time = Math.ceil((first - zone) / span) * span + zone; time <= last; time += span) {
    const words = new Date(time * 1000).toTimeString().slice(0, span < 60 ? 8 : 5);
    const at = Math.min(Math.max(x(time), LEFT), width - RIGHT - (span < 60 ? 24 : 15));
    svg.append(shape("text", { x: at, y: HEIGHT - 4, "text-anchor": "middle" }, words));
  }
}

/** The list of series with their values at index `at`; the last ones if it is null. */
function fillLegend(legend, graph, at) {
  legend.replaceChildren(...graph.series.map((one, number) => {
    const known = one.values.filter(value => value !== null);
    const value = at === null ? known[known.length - 1] : one.values[at];
    return element("li", { style: `--own: var(--color-${number % COLORS})` },
      element("span", { class: "name" }, one.name), " ",
      element("b", {}, format(graph.unit, value ?? null)));
  }));
}

/** Shows the time under the pointer and the values at that time. */
function followPointer(svg, legend, graph, x, width) {
  const cursor = shape("line", { y1: TOP, y2: HEIGHT - BOTTOM, class: "cursor", hidden: "" });
  const words = shape("text", { y: 11, x: width - RIGHT, "text-anchor": "end" });
  svg.append(cursor, words);
  svg.addEventListener("pointermove", event => {
    const place = event.clientX - svg.getBoundingClientRect().left;
    const at = graph.times.reduce((best, time, one) =>
      Math.abs(x(time) - place) < Math.abs(x(graph.times[best]) - place) ? one : best, 0);
    cursor.removeAttribute("hidden");
    cursor.setAttribute("x1", x(graph.times[at]));
    cursor.setAttribute("x2", x(graph.times[at]));
    words.textContent = new Date(graph.times[at] * 1000).toTimeString().slice(0, 8);
    fillLegend(legend, graph, at);
  });
  svg.addEventListener("pointerleave", () => {
    cursor.setAttribute("hidden", "");
    words.textContent = "";
    fillLegend(legend, graph, null);
  });
}

/** Draws a graph: its title, unit, times, stacked, and series with name and values by time. */
export function chart(graph, width) {
  const svg = shape("svg", { width, height: HEIGHT, role: "img", "aria-label": graph.title });
  const shapes = edges(graph.series, graph.times, graph.stacked);
  const highest = Math.max(0, ...shapes.flatMap(one => one.upper.filter(Number.isFinite)));
  const largest = highest * 1.05 || scale(graph.unit, 0)[0];
  const [first, last] = [graph.times[0], graph.times[graph.times.length - 1]];
  const x = time => LEFT + (time - first) / (last - first) * (width - LEFT - RIGHT);
  const y = value => HEIGHT - BOTTOM - value / largest * (HEIGHT - TOP - BOTTOM);
  axes(svg, width, graph.times, largest, graph.unit, x, y);
  shapes.forEach(({ lower, upper }, number) => {
    const color = `var(--color-${number % COLORS})`;
    if (graph.stacked) {
      svg.append(shape("path", { d: area(graph.times, lower, upper, x, y), fill: color,
        class: "area" }));
    }
    const known = upper.map((value, at) => graph.series[number].values[at] === null ? null : value);
    svg.append(shape("path", { d: line(graph.times, known, x, y), stroke: color, class: "line" }));
  });
  const legend = element("ul", { class: "legend" });
  fillLegend(legend, graph, null);
  followPointer(svg, legend, graph, x, width);
  return [svg, legend];
}

/** A small graph without axes. */
export function sparkline(values, width) {
  const known = values.filter(Number.isFinite);
  const largest = Math.max(...known) || 1;
  const svg = shape("svg", { width, height: 34, class: "spark", "aria-hidden": "true" });
  const x = at => at / Math.max(values.length - 1, 1) * width;
  const y = value => 32 - value / largest * 30;
  svg.append(shape("path", { d: line(values.map((_, at) => at), values, x, y), class: "line" }));
  return svg;
}
