#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# schemas.sh: makes schema.json from the types of @grafana/schema, in the folder where its packages are.
set -euo pipefail
types=./node_modules/@grafana/schema/dist/types/raw

one() { # NAME MODULE TYPE [PARTIAL]: the JSON Schema of a type; the defaults fill what is left out
	local of=${4:+Partial<T>}
	printf "import type { %s as T } from '%s';\nexport type Root = %s;\n" "$3" "$types/$2" "${of:-T}" >"type-$1.ts"
	npx ts-json-schema-generator --path "type-$1.ts" --type Root --no-type-check -o "schema-$1.json" >/dev/null
}

one dashboard dashboard/x/types.gen Dashboard
for panel in timeseries stat bargauge; do
	one "$panel" "composable/$panel/panelcfg/x/types.gen" Options partial
done
one custom composable/timeseries/panelcfg/x/types.gen FieldConfig partial
node combine.mjs dashboard timeseries stat bargauge custom
