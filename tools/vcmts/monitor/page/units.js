// SPDX-License-Identifier: BSD-3-Clause
// Numbers with the units of Grafana's dashboards.

// By Grafana's name: steps of [smallest value, its name], in descending order.
const si = (name, ...prefixes) => prefixes.map(([prefix, value]) => [value, `${prefix}${name}`]);
const LARGE = [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1]];
const UNITS = {
  bps: si("bit/s", ...LARGE),
  pps: si("pps", ...LARGE),
  ops: si("/s", ...LARGE),
  "si:/s": si("/s", ...LARGE),
  decbytes: si("B", ...LARGE),
  hertz: si("Hz", ...LARGE),
  watt: si("W", ...LARGE),
  joule: si("J", ["k", 1e3], ["", 1], ["m", 1e-3], ["µ", 1e-6]),
  s: si("s", ["", 1], ["m", 1e-3], ["µ", 1e-6], ["n", 1e-9]),
  percentunit: [[0.01, "%"]],
  short: si("", ...LARGE),
  locale: [[1, ""]],
};

/** The step for values up to `largest`: [factor, name]. */
export function scale(unit, largest) {
  const steps = UNITS[unit] ?? [[1, unit]];
  if (!largest) return steps.find(([value]) => value === 1) ?? steps[0];
  return steps.find(([value]) => largest >= value) ?? steps[steps.length - 1];
}

/** A number with three significant digits, without unit. */
export function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.01 ? 2 : 4);
}

/** A duration of a minute or more. */
function clock(seconds) {
  const [days, hours] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24];
  const minutes = Math.floor(seconds / 60) % 60;
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return `${minutes} min ${Math.floor(seconds % 60)} s`;
}

/** A value with its unit, such as "1.20 Gbit/s". */
export function format(unit, value) {
  if (value === null || Number.isNaN(value)) return "-";
  if (unit === "s" && value >= 60) return Number.isFinite(value) ? clock(value) : "∞";
  const [factor, name] = scale(unit, Math.abs(value));
  const counted = unit === "locale" || (unit === "short" && Math.abs(value) < 1e6);
  const whole = counted && Number.isInteger(value);
  return whole ? `${value.toLocaleString("en")}` : `${digits(value / factor)} ${name}`.trim();
}
