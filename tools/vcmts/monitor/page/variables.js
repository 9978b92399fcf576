// SPDX-License-Identifier: BSD-3-Clause
// The variables of Grafana's dashboards: what they offer, and their values in queries.

import { request } from "./common.js";

const REGEX = /[.*+?^${}()|[\]\\]/g;
const quote = text => text.replace(REGEX, "\\$&").replace(/\\/g, "\\\\");

/** A series as Grafana writes it for the variable's regular expression. */
function written({ metric, value }) {
  const labels = Object.entries(metric).sort().map(([name, text]) => `${name}="${text}"`);
  return `{${labels.join(",")}} ${value[1]} ${value[0]}`;
}

/** What a variable offers, as [text, value], sorted with numbers by their value. */
async function offered(variable) {
  const labels = /^label_values\((.+), *(\w+)\)$/.exec(variable.query);
  let found;
  if (labels) {
    const values = await request(`label/${labels[2]}/values`, { "match[]": labels[1] });
    found = values.map(value => [value, value]);
  } else {
    const query = /^query_result\((.*)\)$/.exec(variable.query)[1];
    const pattern = new RegExp(variable.regex.slice(1, -1));
    found = (await request("query", { query })).result.map(written).map(text => pattern.exec(text))
      .filter(match => match).map(match => [match.groups.text, match.groups.value]);
  }
  return found.sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }));
}

/** The variables of a dashboard with what they offer and what is chosen by the page's address.
 * Without a choice: all that one offers, or the first if a dashboard shows one at a time. */
export async function variables(board, address) {
  const queried = board.templating.list.filter(one => one.type === "query");
  return Promise.all(queried.map(async variable => {
    const choices = await offered(variable);
    const asked = new Set(address.getAll(variable.name));
    const chosen = choices.filter(([text]) => asked.has(text));
    const rest = variable.includeAll ? choices : choices.slice(0, 1);
    return { ...variable, choices, chosen: chosen.length ? chosen : rest };
  }));
}

/** A text of the dashboard with the values of variables. `own`: the value of the variable for
 * which the part is repeated, as {name, text, value}. `window`: of rates, in seconds. */
export function replaced(text, known, own, window) {
  let made = text.replaceAll("$__rate_interval", `${window}s`);
  for (const { name, chosen } of known) {
    const values = own?.name === name ? [[own.text, own.value]] : chosen;
    const joined = values.map(([, value]) => quote(value)).join("|");
    made = made.replaceAll(`\${${name}:raw}`, values[0]?.[1] ?? "")
      .replaceAll(`\${${name}}`, joined).replaceAll(`$${name}`, joined);
  }
  return made;
}

/** A title, in which a variable is shown as its text. */
export function titled(text, own) {
  return own ? text.replaceAll(`$${own.name}`, own.text) : text;
}
