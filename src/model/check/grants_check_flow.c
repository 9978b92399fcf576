/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks upstream service flows: the keys that each scheduling service needs, and rates that fit
 * together (MULPI 3.1, 7.2.3, annex C.2.2). */
#include "model/check/grants_check.h"

#include <stdio.h>

#include "wire/segment.h"

#define TEXT_SIZE 128

/* Scheduling services as bits, 1 << enum upstream_scheduling. */
#define OF(service) (1u << SCHEDULING_##service)
#define UNSOLICITED (OF(UNSOLICITED_GRANT) | OF(UNSOLICITED_GRANT_ACTIVITY))
#define POLLING (OF(NON_REAL_TIME_POLLING) | OF(REAL_TIME_POLLING))

/* The services `needed` require the key; for services outside of `known` it has no meaning. The
 * sets differ for keys with a default. */
static void check_service(const struct check_context *p, enum upstream_scheduling scheduling) {
	static const char unsolicited[] =
		"scheduling: unsolicited-grant or unsolicited-grant-activity";
	static const struct {
		const char *key;
		unsigned needed, known;
		const char *with;
	} keys[] = {
		{"nominal_polling_interval", POLLING | OF(UNSOLICITED_GRANT_ACTIVITY),
		 POLLING | OF(UNSOLICITED_GRANT_ACTIVITY),
		 "scheduling: non-real-time-polling, real-time-polling or "
		 "unsolicited-grant-activity"},
		{"nominal_grant_interval", UNSOLICITED | OF(PROACTIVE_GRANT),
		 UNSOLICITED | OF(PROACTIVE_GRANT),
		 "scheduling: unsolicited-grant, unsolicited-grant-activity or proactive-grant"},
		{"unsolicited_grant_size", UNSOLICITED, UNSOLICITED, unsolicited},
		{"grants_per_interval", 0, UNSOLICITED, unsolicited},
		{"active_timeout", 0, OF(UNSOLICITED_GRANT_ACTIVITY),
		 "scheduling: unsolicited-grant-activity"},
		{"guaranteed_grant_rate", OF(PROACTIVE_GRANT), OF(PROACTIVE_GRANT),
		 "scheduling: proactive-grant"},
	};
	unsigned own = 1u << scheduling;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct node *node = node_present(p->map, keys[i].key);

		if (node == NULL && (keys[i].needed & own) != 0)
			check_require(p, keys[i].key, "a value, for this scheduling");
		else if (node != NULL && (keys[i].known & own) == 0 &&
			 node_is_valid(p->map, keys[i].key))
			check_refuse_without(p, keys[i].key, keys[i].with);
	}
}

static void check_rates(const struct check_context *p, const struct flow_grants *g) {
	static const char sustained[] = "max_sustained_rate";

	if (!node_is_valid(p->map, sustained))
		return;
	if (g->sustained_rate == 0) {
		if (g->traffic_burst != 0)
			check_refuse_without(p, "max_traffic_burst", sustained);
		if (g->peak_rate != 0)
			check_refuse_without(p, "peak_rate", sustained);
		return;
	}
	if (g->peak_rate != 0 && g->peak_rate < g->sustained_rate)
		check_refuse(p, "peak_rate", "at least max_sustained_rate");
	if (g->reserved_rate > g->sustained_rate)
		check_refuse(p, "min_reserved_rate", "at most max_sustained_rate");
}

/* An unsolicited grant with its segment header must not exceed the limit of other grants. */
static void check_grant_size(const struct check_context *p,
			     const struct upstream_service_flow *flow) {
	const struct flow_grants *g = &flow->grants;
	uint32_t header = flow->segment_header ? SEGMENT_HEADER_SIZE : 0, max = GRANTS_BURST;
	const char *of = "a grant";
	char allowed[TEXT_SIZE];

	if (!node_is_valid(p->map, "unsolicited_grant_size") ||
	    !node_is_valid(p->map, "max_concatenated_burst") ||
	    !node_is_valid(p->map, "segment_header"))
		return;
	if (g->concatenated_burst != 0 && g->concatenated_burst < max) {
		max = g->concatenated_burst;
		of = "max_concatenated_burst";
	}
	if (g->grant_size <= max - header)
		return;
	snprintf(allowed, sizeof(allowed), "at most %u, as %s has%s", max - header, of,
		 header > 0 ? " beside a segment header" : "");
	check_refuse(p, "unsolicited_grant_size", allowed);
}

/* The scheduler repeats these checks (check_times in src/scheduler/maps/settings.c). */
static void check_times(const struct check_context *p, const struct upstream_service_flow *flow) {
	const struct flow_grants *g = &flow->grants;

	if (g->scheduling == SCHEDULING_UNSOLICITED_GRANT ||
	    g->scheduling == SCHEDULING_UNSOLICITED_GRANT_ACTIVITY)
		check_grant_size(p, flow);
	if (g->scheduling != SCHEDULING_PROACTIVE_GRANT)
		return;
	if (g->guaranteed_rate == 0 && node_field(p->map, "guaranteed_grant_rate") != NULL)
		check_refuse(p, "guaranteed_grant_rate", "a rate, for this scheduling");
	if (g->grant_interval > GRANTS_PROACTIVE_MAX)
		check_refuse(p, "nominal_grant_interval",
			     "at most 100 ms with scheduling: proactive-grant");
}

void grants_check_flow(struct check *check, const struct node *map,
		       const struct upstream_service_flow *flow, const struct path *up) {
	const struct check_context at = {check, map, up}, *p = &at;
	const struct flow_grants *g = &flow->grants;

	check_rates(p, g);
	if (node_is_valid(map, "request_multiplier") &&
	    (g->request_multiplier & (g->request_multiplier - 1)) != 0)
		check_refuse(p, "request_multiplier", "1, 2, 4, 8 or 16");
	if (!node_is_valid(map, "scheduling"))
		return;
	check_service(p, (enum upstream_scheduling)g->scheduling);
	check_times(p, flow);
}
