/* SPDX-License-Identifier: BSD-3-Clause */
#include "methods/config_methods.h"

#include "methods/methods.h"
#include "model/key_rows.h"

/* One row a key, to be read as a table. */
/* clang-format off */
const struct key config_reload_result[] = {
	{.name = "done", .required = true, .kind = KIND_TEXT,
	 .example = "sg.yaml: read again: 6 channels changed",
	 HELP("what has changed, as vcmtsd prints it")},
	{0},
};
/* clang-format on */

json_t *config_reload(struct rpc_call *call) {
	const struct methods *m = call->service;

	if (!reload_run(m->reload))
		return rpc_refuse(call, RPC_REFUSED, "%s", m->reload->line);
	return json_pack("{s:o}", "done", rpc_text(m->reload->line));
}
