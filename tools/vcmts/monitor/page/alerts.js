// SPDX-License-Identifier: BSD-3-Clause
// Lists the alerts: each active one with what to do, then those that are not active.

import { active, element, navigate, repeat, rules, settings } from "./common.js";

const ORDER = ["firing", "pending", "inactive"];
const PENDING = "pending: the condition holds, but not for long enough";

/** Text in which `code` is marked, and a label that only an active alert has is shown by name. */
function marked(text) {
  return text.split(/(`[^`]+`|\{\{[^}]*\}\})/).map(part => {
    if (part.startsWith("`")) return element("code", {}, part.slice(1, -1));
    const label = /^\{\{ *\$labels\.(\w+)/.exec(part);
    return label ? element("var", {}, label[1].replaceAll("_", " ")) : part;
  });
}

function since(time) {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000));
  return seconds < 120 ? `for ${seconds} s` : `for ${Math.floor(seconds / 60)} min`;
}

/** An alert with all objects that it reports. */
function card([name, alerts]) {
  const [first] = alerts, state = first.state === "pending" ? PENDING : "firing";
  const action = alerts.length === 1 ? first.annotations.action : first.template.action;
  return element("article", { class: `alert ${first.state} ${first.severity}` },
    element("h3", {}, `${name}: ${first.severity}, ${state}`),
    element("ul", {}, ...alerts.map(alert => element("li", {},
      element("b", {}, ...marked(alert.annotations.summary)), ` (${since(alert.activeAt)}). `,
      ...marked(alert.annotations.description)))),
    element("p", {}, ...marked(`What to do: ${action}`)));
}

/** The names of rules without active alerts, each once, with what they would tell. */
function inactive(groups) {
  const names = new Map();
  for (const rule of groups.flatMap(group => group.rules)) {
    const known = names.get(rule.name) ?? { severity: rule.labels.severity, texts: new Set(),
      active: false };
    known.texts.add(rule.annotations.summary);
    known.active ||= rule.alerts.length > 0;
    names.set(rule.name, known);
  }
  return [...names].filter(([, one]) => !one.active).map(([name, one]) =>
    element("tr", {}, element("th", { scope: "row" }, element("code", {}, name)),
      element("td", {}, one.severity),
      element("td", {}, ...[...one.texts].flatMap(text =>
        [element("div", {}, ...marked(text))]))));
}

/** The active alerts by name, the most urgent first. */
function byName(groups) {
  const urgency = one => [ORDER.indexOf(one.state), one.severity === "critical" ? 0 : 1, one.name,
    one.annotations.summary];
  const sorted = active(groups).sort((one, other) =>
    JSON.stringify(urgency(one)) < JSON.stringify(urgency(other)) ? -1 : 1);
  const names = new Map();
  for (const one of sorted) names.set(one.name, [...names.get(one.name) ?? [], one]);
  return [...names];
}

const { boards, interval } = await settings();
repeat(interval, async () => {
  const groups = await rules();
  navigate(boards, "alerts", groups);
  const found = byName(groups), rest = inactive(groups);
  document.getElementById("alerts").replaceChildren(
    element("h2", {}, found.length ? `Active: ${found.length}` : "No alert is active"),
    ...found.map(card),
    element("h2", {}, `Not active: ${rest.length}`),
    element("table", {}, element("thead", {}, element("tr", {}, ...["alert", "severity",
      "would tell"].map(text => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...rest)));
});
