/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/worker_methods.h"

#include <rte_cycles.h>

/* One entry per key, laid out as a table. */
/* clang-format off */
const struct key worker_list_params[] = {
	{.name = "anew", BOOL, AT(struct worker_list_params, restart), .fallback = "false",
	 HELP("reset `longest_since_ns` after this response")},
	{0},
};

static const struct key worker_keys[] = {
	COUNTED_KEY("number", "number of the worker, from 0"),
	{.name = "name", .required = true, .kind = KIND_TEXT, .example = "worker 0",
	 HELP("description of the worker's pipelines")},
	COUNTED_KEY("rounds", "rounds of the polling loop"),
	COUNTED_KEY("busy_rounds", "rounds with packets"),
	COUNTED_KEY("busy_cycles", "TSC cycles of rounds with packets"),
	COUNTED_KEY("idle_cycles", "TSC cycles of rounds without packets"),
	{.name = "idle", .required = true, ENUM(idle_kinds), .example = "poll",
	 HELP("how the worker waits while idle")},
	COUNTED_KEY("paused_cycles", "TSC cycles of pauses"),
	COUNTED_KEY("pauses", "number of pauses"),
	COUNTED_KEY("descheduled", "number of rounds longer than 1 ms"),
	COUNTED_KEY("longest_ns", "longest round above 1 ms since the start; 0: none"),
	COUNTED_KEY("longest_since_ns", "longest round above 1 ms since the last request with `anew`; 0: none"),
	{0},
};
static const struct key worker_item = {
	.kind = KIND_MAP, .keys = worker_keys, HELP("a polling thread"),
};
const struct key worker_list_result[] = {
	{.name = "workers", .required = true, .kind = KIND_LIST, .max = PLATFORM_MAX_WORKERS,
	 .item = &worker_item, HELP("workers by number")},
	{0},
};
/* clang-format on */

static json_int_t cycles_ns(uint64_t cycles) {
	return (json_int_t)((double)cycles * 1e9 / (double)rte_get_tsc_hz());
}

static json_t *listed_worker(struct worker *w, unsigned number, bool restart) {
	uint64_t longest_since = __atomic_load_n(&w->longest_since, __ATOMIC_RELAXED);

	if (restart)
		longest_since = worker_longest_read(w);
	return json_pack("{s:i, s:s, s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:I}", "number",
			 (int)number, "name", w->name, "rounds", (json_int_t)w->rounds,
			 "busy_rounds", (json_int_t)w->busy_rounds, "busy_cycles",
			 (json_int_t)w->busy_cycles, "idle_cycles", (json_int_t)w->idle_cycles,
			 "idle", idle_kind_name(w->idle.config.kind), "paused_cycles",
			 (json_int_t)w->idle.ticks, "pauses", (json_int_t)w->idle.pauses,
			 "descheduled", (json_int_t)w->descheduled, "longest_ns",
			 cycles_ns(w->longest), "longest_since_ns", cycles_ns(longest_since));
}

json_t *worker_list(struct rpc_call *call) {
	const struct worker_list_params *p = call->params;
	struct server *s = subject_server(call);
	json_t *list = json_array();

	for (unsigned w = 0; w < s->worker_count; w++)
		json_array_append_new(list, listed_worker(&s->workers[w], w, p->restart));
	return json_pack("{s:o}", "workers", list);
}
