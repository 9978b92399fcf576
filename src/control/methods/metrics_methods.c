/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/metrics_methods.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/units.h"
#include "telemetry/metrics/samples.h"

#define NAMES_MAX 64 /* name prefixes per request */
#define PART_MAX 500 /* samples per part, about 1 ms; other clients are served between parts */

/* One entry per key, laid out as a table. */
/* clang-format off */
static const struct key name_item = {
	.kind = KIND_NAME, .size = sizeof(char *), .example = "vcmts_worker_",
	HELP("prefix of names of metrics"),
};

const struct key metrics_get_params[] = {
	{.name = "names", LIST_OF(struct metrics_get_params, names, name_count, &name_item),
	 .min = 1, .max = NAMES_MAX,
	 HELP("prefixes of the metrics' names (default: all)")},
	{.name = "group", INTEGER(1, SUBJECT_MAX_GROUP), AT(struct metrics_get_params, group.id),
	 .flag = offsetof(struct metrics_get_params, group.given), .example = "1",
	 HELP("service group (default: all, and metrics without a group)")},
	{.name = "modem", .kind = KIND_MAC, AT(struct metrics_get_params, modem),
	 .flag = offsetof(struct metrics_get_params, has_modem), .example = "02:01:00:00:00:01",
	 HELP("MAC address: includes the metrics of this modem and its service flows")},
	{.name = "modems", BOOL, AT(struct metrics_get_params, modems), .fallback = "false",
	 HELP("include the metrics of each modem")},
	{.name = "flows", BOOL, AT(struct metrics_get_params, flows), .fallback = "false",
	 HELP("include the metrics of each downstream service flow")},
	{.name = "first", INTEGER(0, INT64_MAX), AT(struct metrics_get_params, first),
	 .fallback = "0",
	 HELP("position of the first sample: 0, or `next` of the previous response to the same "
	      "other parameters")},
	{.name = "count", INTEGER(1, METRICS_SAMPLES_MAX), AT(struct metrics_get_params, count),
	 .fallback = METRICS_SAMPLES_DEFAULT, HELP("maximum number of samples")},
	{0},
};

static const struct key label_item = {
	.kind = KIND_TEXT, .example = "1", HELP("value of the label"),
};
static const struct key sample_keys[] = {
	{.name = "name", .required = true, .kind = KIND_TEXT,
	 .example = "vcmts_downstream_received_packets_total",
	 HELP("name of the metric; of a histogram with the suffix _bucket, _sum or _count")},
	{.name = "labels", .required = true, .kind = KIND_MAP, .item = &label_item,
	 HELP("labels of the metric by name; a _bucket also has le, its upper bound in seconds")},
	{.name = "value", .required = true, .kind = KIND_REAL, .example = "0",
	 HELP("value in the unit of the metric")},
	{0},
};
static const struct key sample_item = {
	.kind = KIND_MAP, .keys = sample_keys, HELP("a sample"),
};

const struct key metrics_get_result[] = {
	{.name = "uptime", .required = true, .kind = KIND_REAL, .example = "12.5",
	 HELP("seconds since the start; 0 in a replay")},
	{.name = "samples", .required = true, .kind = KIND_LIST, .max = METRICS_SAMPLES_MAX,
	 .item = &sample_item, HELP("samples, grouped by metric")},
	{.name = "next", INTEGER(0, INT64_MAX), .example = "4294967296",
	 HELP("value for `first` of the next request; absent at the end")},
	{0},
};
/* clang-format on */

static bool group_is_wanted(const struct metrics_get_params *p, const struct served_group *g) {
	return !p->group.given || g->sg->id == p->group.id;
}

static bool modem_is_somewhere(struct rpc_call *call, const struct metrics_get_params *p) {
	const struct served_group *g;
	char text[UNITS_TEXT_SIZE];
	unsigned slot = 0;

	while ((g = subject_next_group(call, &slot)) != NULL) {
		if (group_is_wanted(p, g) && modem_by_mac(g->sg, p->modem) != NULL)
			return true;
	}
	units_format_mac(p->modem, text);
	if (p->group.given)
		rpc_refuse(call, RPC_REFUSED, "no modem %s in service group %u", text, p->group.id);
	else
		rpc_refuse(call, RPC_REFUSED, "no modem %s in any service group", text);
	return false;
}

/* Returns false after a refusal. */
static bool subjects_exist(struct rpc_call *call, const struct metrics_get_params *p) {
	if (p->group.given && subject_group(call, &p->group) == NULL)
		return false;
	return !p->has_modem || modem_is_somewhere(call, p);
}

/* Samples are written in parts while other clients are served, so their values are of different
 * times. */
struct metrics_reading {
	uint64_t cursor;
	size_t count;
};

static bool reading_begin(struct rpc_call *call) {
	const struct metrics_get_params *p = call->params;
	const struct methods *m = call->service;
	struct metrics_reading *r = arena_alloc(call->arena, 1, sizeof(*r));
	char head[64];

	if (r == NULL)
		return false;
	call->state = r;
	r->cursor = p->first;
	snprintf(head, sizeof(head), "{\"uptime\":%.6f,\"samples\":[", metrics_uptime(m->metrics));
	answer_text_put(&call->text, head);
	return true;
}

/* Writes at most `limit` samples. Returns false without memory. */
static bool part_write(struct rpc_call *call, const struct metrics_selection *selection,
		       size_t limit) {
	const struct methods *m = call->service;
	struct metrics_reading *r = call->state;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool good;

	if (out == NULL)
		return false;
	good = metrics_samples(m->metrics, selection, out, limit, &r->cursor, &r->count);
	good &= ferror(out) == 0;
	good &= fclose(out) == 0;
	good = good && answer_text_write(text, size, &call->text) == 0;
	free(text);
	return good;
}

static void reading_done(struct rpc_call *call) {
	const struct metrics_reading *r = call->state;
	char next[64] = "";

	if (r->cursor != METRICS_SAMPLES_END)
		snprintf(next, sizeof(next), ",\"next\":%" PRIu64, r->cursor);
	answer_text_put(&call->text, "]");
	answer_text_put(&call->text, next);
	answer_text_put(&call->text, "}");
}

json_t *metrics_get(struct rpc_call *call) {
	const struct metrics_get_params *p = call->params;
	const struct metrics_selection selection = {
		.names = (const char *const *)p->names,
		.name_count = (unsigned)p->name_count,
		.group = p->group.given ? p->group.id : 0,
		.modem = p->has_modem ? p->modem : NULL,
		.modems = p->modems,
		.flows = p->flows || p->has_modem,
	};
	struct metrics_reading *r = call->state;

	if (r == NULL && !subjects_exist(call, p))
		return NULL;
	if (r == NULL && !reading_begin(call))
		return rpc_refuse(call, RPC_INTERNAL, "no memory left");
	r = call->state;
	if (!part_write(call, &selection, RTE_MIN(p->count - r->count, PART_MAX)))
		return rpc_refuse(call, RPC_INTERNAL, "no memory left");
	if (r->cursor != METRICS_SAMPLES_END && r->count < p->count)
		return rpc_more(call);
	reading_done(call);
	return NULL;
}
