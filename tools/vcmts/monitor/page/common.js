// SPDX-License-Identifier: BSD-3-Clause
// What both pages use: elements, requests to Prometheus, navigation, repeated drawing.

const SVG = "http://www.w3.org/2000/svg";

/** A new HTML element with text or elements inside. */
export function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

/** A new SVG element. */
export function shape(name, attributes = {}, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

/** The data of a response of Prometheus' API. Throws its error. */
export async function request(path, parameters = {}) {
  const response = await fetch(`/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const answer = await response.json();
  if (answer.status !== "success") throw new Error(answer.error);
  return answer.data;
}

/** Settings that `vcmts monitor` wrote: seconds between scrapes, and the boards. */
export async function settings() {
  return (await fetch("settings.json")).json();
}

/** The alerts that are pending or firing. Each is listed once, although several rules may report
 * the same. */
export function active(groups) {
  const found = groups.flatMap(group => group.rules).flatMap(rule => rule.alerts.map(alert => ({
    ...alert, name: rule.name, severity: rule.labels.severity, template: rule.annotations,
  })));
  const keyed = found.map(one =>
    [`${one.name} ${one.labels.instance} ${one.annotations.summary}`, one]);
  return [...new Map(keyed).values()];
}

/** The rules with alerts, by group. */
export async function rules() {
  return (await request("rules", { type: "alert" })).groups;
}

/** Shows the links to all pages. `current`: the name of a board, or "alerts". */
export function navigate(boards, current, groups) {
  const firing = active(groups).filter(alert => alert.state === "firing").length;
  const links = boards.map(board => [board.name, `./?board=${board.name}`, board.title]);
  links.push(["alerts", "alerts.html", firing ? `alerts (${firing} firing)` : "alerts"]);
  document.getElementById("pages").replaceChildren(...links.map(([name, address, title]) => {
    const link = element("a", { href: address }, title);
    if (name === current) link.setAttribute("aria-current", "page");
    if (name === "alerts" && firing) link.className = "firing";
    return link;
  }));
}

/** Calls `draw` now and every `seconds`, while the page is visible. Shows why it failed. */
export async function repeat(seconds, draw) {
  const fault = document.getElementById("fault");
  try {
    if (!document.hidden) await draw();
    fault.hidden = true;
  } catch (error) {
    fault.textContent = error instanceof TypeError
      ? "Prometheus does not answer: vcmts monitor has ended, or its machine cannot be reached."
      : `Prometheus refused a request: ${error.message}`;
    fault.hidden = false;
  }
  setTimeout(repeat, seconds * 1000, seconds, draw);
}
