// SPDX-License-Identifier: BSD-3-Clause
// combine.mjs PART...: combines schema-PART.json of all parts into schema.json, without descriptions and defaults.
import fs from "fs";

const version = JSON.parse(fs.readFileSync("package.json")).dependencies["@grafana/schema"];
const whole = {
  $schema: "http://json-schema.org/draft-07/schema#",
  $comment: `Made by devtools/grafana/schema/build of @grafana/schema ${version}, Apache-2.0`,
  definitions: {},
};

function renamed(node, part) {
  if (Array.isArray(node)) return node.map((one) => renamed(one, part));
  if (node === null || typeof node !== "object") return node;
  const kept = Object.entries(node).filter(
    ([key, value]) => !["description", "$schema", "default"].includes(key) || typeof value === "object",
  );
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      key === "$ref" ? value.replace("#/definitions/", `#/definitions/${part}.`) : renamed(value, part),
    ]),
  );
}

for (const part of process.argv.slice(2)) {
  const made = JSON.parse(fs.readFileSync(`schema-${part}.json`));
  for (const [name, body] of Object.entries(made.definitions))
    whole.definitions[`${part}.${name}`] = renamed(body, part);
}
fs.writeFileSync("schema.json", JSON.stringify(whole, null, 1) + "\n");
