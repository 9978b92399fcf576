/* SPDX-License-Identifier: BSD-3-Clause */
#include "methods/metrics_methods.h"

#include "metrics/samples.h"

#define NAMES_MAX 64
#define SAMPLES_MAX 400000 /* of one answer */

/* One row a key, to be read as a table. */
/* clang-format off */
static const struct key name_item = {
	.kind = KIND_NAME, .size = sizeof(char *), .example = "vcmts_worker",
	HELP("how names of metrics begin"),
};

const struct key metrics_get_params[] = {
	{.name = "names", LIST_OF(struct metrics_get_params, names, name_count, &name_item),
	 .min = 1, .max = NAMES_MAX,
	 HELP("only metrics whose names begin so; where it is left out, all")},
	{.name = "group", INTEGER(1, SUBJECT_MAX_GROUP), AT(struct metrics_get_params, group.id),
	 .flag = offsetof(struct metrics_get_params, group.given), .example = "1",
	 HELP("only what is of this service group; where it is left out, all of them and the server")},
	{.name = "modem", .kind = KIND_MAC, AT(struct metrics_get_params, modem),
	 .flag = offsetof(struct metrics_get_params, has_modem), .example = "02:00:00:00:00:01",
	 HELP("also what is of this modem and its service flows")},
	{.name = "modems", BOOL, AT(struct metrics_get_params, modems), .fallback = "false",
	 HELP("also what is of each modem of the service group, which then is to be named")},
	{0},
};

static const struct key label_item = {
	.kind = KIND_TEXT, .example = "1", HELP("value of the label"),
};
static const struct key sample_keys[] = {
	{.name = "name", .required = true, .kind = KIND_TEXT,
	 .example = "vcmts_downstream_received_packets_total",
	 HELP("of the metric; of a histogram with _bucket, _sum or _count behind it")},
	{.name = "labels", .required = true, .kind = KIND_MAP, .item = &label_item,
	 HELP("by name")},
	{.name = "value", .required = true, .kind = KIND_REAL, .example = "0",
	 HELP("a whole number where it counts something other than time")},
	{0},
};
static const struct key sample_item = {
	.kind = KIND_MAP, .keys = sample_keys, HELP("a sample"),
};

const struct key metrics_get_result[] = {
	{.name = "uptime", .required = true, .kind = KIND_REAL, .example = "12.5",
	 HELP("seconds since the server was started")},
	{.name = "samples", .required = true, .kind = KIND_LIST, .max = SAMPLES_MAX,
	 .item = &sample_item, HELP("as docs/metrics.md lists them")},
	{0},
};
/* clang-format on */

/* What is asked for is there. */
static bool subjects_are_there(struct rpc_call *call, const struct metrics_get_params *p) {
	const struct served_group *g;
	unsigned place = 0;

	if (p->group.given) {
		g = subject_group(call, &p->group);
		return g != NULL && (!p->has_modem || subject_modem(call, g, p->modem) != NULL);
	}
	if (p->modems && !p->has_modem) {
		rpc_refuse(call, RPC_WRONG_PARAMS,
			   "modems: true, and no group; allowed: those of one service group");
		return false;
	}
	while (p->has_modem && (g = subject_next_group(call, &place)) != NULL) {
		if (subject_modem(call, g, p->modem) != NULL) {
			call->error = (struct rpc_error){0}; /* of the groups before it */
			return true;
		}
	}
	return !p->has_modem;
}

json_t *metrics_get(struct rpc_call *call) {
	const struct metrics_get_params *p = call->params;
	const struct methods *m = call->service;
	const struct metrics_selection selection = {
		.names = (const char *const *)p->names,
		.name_count = (unsigned)p->name_count,
		.group = p->group.given ? p->group.id : 0,
		.modem = p->has_modem ? p->modem : NULL,
		.modems = p->modems,
		.flows = p->has_modem,
	};
	const struct metrics_source own = {.server = m->server, .version = VCMTS_VERSION};
	const struct metrics_source *source = m->metrics != NULL ? m->metrics : &own;
	double uptime;
	json_t *samples;

	if (!subjects_are_there(call, p))
		return NULL;
	uptime = metrics_uptime(source);
	samples = metrics_samples(source, &selection, SAMPLES_MAX);
	if (samples == NULL)
		return rpc_refuse(call, RPC_REFUSED, "more than %d samples: names, or one group",
				  SAMPLES_MAX);
	return json_pack("{s:f, s:o}", "uptime", uptime, "samples", samples);
}
