// SPDX-License-Identifier: BSD-3-Clause
// Draws a dashboard of deploy/grafana, whose panels are graphs over time, latest values and bars.

import { chart, sparkline } from "./chart.js";
import { element, navigate, repeat, request, rules, settings } from "./common.js";
import { format } from "./units.js";
import { replaced, titled, variables } from "./variables.js";

const RANGES = [[300, "5 min"], [900, "15 min"], [3600, "1 h"], [10800, "3 h"], [86400, "24 h"]];
const POINTS = 240; // of a graph, at most
const SCRAPES = 4; // in the window of a rate
const SHORTEST = 60; // seconds of a graph

const address = new URLSearchParams(location.search);
const seconds = Number(address.get("range")) || RANGES[0][0];
const { boards, interval, started } = await settings();
const current = boards.find(board => board.name === address.get("board")) ?? boards[0];
const visible = new Set();
const watcher = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) { visible.add(target); target.draw(); } else visible.delete(target);
  }
}, { rootMargin: "200px" });

/** The name of a series, from the legend's template. */
function nameOf(metric, legend, title) {
  return legend.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => metric[label] ?? "") || title;
}

/** The series of a query at `times`; null where one has no value. */
async function series(target, query, title, times) {
  const { result } = await request("query_range", {
    query, start: times[0], end: times[times.length - 1], step: times[1] - times[0],
  });
  return result.map(({ metric, values }) => {
    const known = new Map(values.map(([time, value]) => [time, Number(value)]));
    const name = nameOf(metric, target.legendFormat, title);
    return { name, values: times.map(time => known.get(time) ?? null) };
  });
}

/** The times of the graphs, which begin with the data if those are younger than the range. Their
 * step follows the span: with the step of the whole range, young data would be behind the end. */
function timeline() {
  const now = Date.now() / 1000;
  const span = Math.min(seconds, Math.max(now - started, SHORTEST));
  const step = Math.max(interval, Math.ceil(span / POINTS));
  const end = Math.floor(now / step) * step, count = Math.max(1, Math.floor(span / step));
  return Array.from({ length: count + 1 }, (_, at) => end - (count - at) * step);
}

/** The window of a rate in seconds, so that no scrape between two times of the graphs is left out. */
function rateWindow(times) {
  return Math.max(SCRAPES * interval, times[1] - times[0] + interval);
}

function latestValue(one) {
  return one.values.filter(value => value !== null && !Number.isNaN(value)).pop() ?? null;
}

/** The color of a value, by the panel's thresholds. */
function colorOf(panel, value) {
  const steps = panel.fieldConfig.defaults.thresholds?.steps ?? [];
  const passed = steps.filter(one => one.value === null || value >= one.value);
  return `var(--${passed[passed.length - 1]?.color ?? "green"})`;
}

function stat(panel, found, width) {
  const [one] = found, value = one ? latestValue(one) : null;
  const text = panel.options.textMode === "name" && one ? one.name : format(unitOf(panel), value);
  const number = element("p", { class: "value" }, text);
  if (value !== null) number.style.color = colorOf(panel, value);
  return one && panel.options.graphMode !== "none"
    ? [number, sparkline(one.values, width)] : [number];
}

function bars(panel, found) {
  const unit = unitOf(panel);
  const values = found.map(one => [one.name, latestValue(one)]).filter(([, value]) => value !== null);
  const most = panel.fieldConfig.defaults.max ?? Math.max(...values.map(([, value]) => value), 0);
  return [element("ul", { class: "bars" }, ...values.map(([name, value]) => {
    const share = most ? Math.min(value / most, 1) * 100 : 0;
    const bar = element("span", { class: "bar" }, element("i", { style:
      `width: ${share}%; background: ${colorOf(panel, value)}` }));
    return element("li", {}, element("span", { class: "name" }, name), bar,
      element("b", {}, format(unit, value)));
  }))];
}

const unitOf = panel => panel.fieldConfig.defaults.unit ?? "short";

function drawn(panel, found, times, width) {
  if (panel.type === "stat") return stat(panel, found, width);
  const some = found.filter(one => latestValue(one) !== null);
  if (!some.length) return [element("p", { class: "none" }, "no data")];
  if (panel.type === "bargauge") return bars(panel, some);
  const stacked = panel.fieldConfig.defaults.custom?.stacking?.mode === "normal";
  return chart({ title: panel.title, unit: unitOf(panel), times, stacked, series: some }, width);
}

/** The address of Prometheus' own page with the queries of a panel. */
function queriesAddress(queries) {
  const words = new URLSearchParams();
  queries.forEach((query, number) => {
    words.set(`g${number}.expr`, query);
    words.set(`g${number}.tab`, "0");
    words.set(`g${number}.range_input`, `${seconds}s`);
  });
  return `/graph?${words}`;
}

function makePanel(panel, known, own) {
  const queries = times =>
    panel.targets.map(one => replaced(one.expr, known, own, rateWindow(times)));
  const content = element("div", { class: "content" });
  const about = panel.description ?? "";
  const made = element("article", { class: panel.type, ...panel.type === "stat" && { title: about },
    style: `--width: ${panel.gridPos.w}` },
  element("h3", {}, panel.title, " ", element("a", { href: queriesAddress(queries(timeline())),
    title: "the queries of this panel, in Prometheus" }, "queries")),
  element("p", { class: "about" }, about), content);
  made.draw = async () => {
    if (content.matches(":hover")) return; // values are being read there
    const times = timeline();
    const asked = queries(times);
    const found = await Promise.all(panel.targets.map((target, number) =>
      series(target, asked[number], panel.title, times)));
    content.replaceChildren(...drawn(panel, found.flat(), times, content.clientWidth));
  };
  watcher.observe(made);
  return made;
}

/** The dashboard's rows with their panels; a repeated one once for each chosen value. */
function sections(board, known) {
  const rows = [];
  for (const panel of board.panels) {
    if (panel.type === "row") rows.push({ row: panel, panels: [] });
    else rows[rows.length - 1].panels.push(panel);
  }
  const repeated = known.find(one => rows.some(({ row }) => row.repeat === one.name));
  const owners = repeated ? repeated.chosen.map(([text, value]) =>
    ({ name: repeated.name, text, value })) : [undefined];
  return owners.flatMap(own => rows.map(({ row, panels }) =>
    element("details", { open: "" }, element("summary", {}, titled(row.title, own)),
      element("div", { class: "panels" }, ...panels.map(one => makePanel(one, known, own))))));
}

function select(name, label, choices, multiple) {
  const made = element("select", { name, ...multiple && { multiple: "", size: Math.min(4,
    Math.max(1, choices.length)) } }, ...choices.map(([value, text, chosen]) =>
    element("option", { value, ...chosen && { selected: "" } }, text)));
  return element("label", {}, label, made);
}

/** Shows what can be chosen. A choice opens the page with another address. */
function offer(known) {
  const form = document.getElementById("choices");
  const lists = known.filter(one => one.choices.length > 1).map(one => {
    const chosen = new Set(one.chosen.map(([text]) => text));
    return select(one.name, one.label, one.choices.map(([text]) =>
      [text, text, chosen.has(text)]), true);
  });
  const ranges = RANGES.map(([value, text]) => [value, text, value === seconds]);
  form.replaceChildren(element("input", { type: "hidden", name: "board", value: current.name }),
    ...lists, select("range", "last", ranges, false));
  form.onchange = () => form.submit();
}

document.title = `OpenVCMTS: ${current.title}`;
let shown; // what the variables offer on the page, as a text
repeat(interval, async () => {
  const groups = await rules();
  navigate(boards, current.name, groups);
  const board = await (await fetch(`${current.name}.json`)).json();
  const known = await variables(board, address);
  const offered = JSON.stringify(known.map(one => one.choices));
  if (offered === shown) {
    await Promise.all([...visible].map(panel => panel.draw()));
    return;
  }
  shown = offered;
  offer(known);
  visible.clear();
  document.getElementById("board").replaceChildren(...sections(board, known));
});
