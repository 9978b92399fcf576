/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports scheduling gaps of the polling thread, and time spans in which lost or reordered packets were under way. */
#include "summary/summary_gaps.h"

#include "directions/downlink.h"
#include "directions/traffic.h"
#include "directions/traffic_parts.h"
#include "proof/proof.h"

/* TSC spans in which the system did not run the thread; `shorter` counts gaps that longer ones
 * kept out of the full list (pipeline/gaps.h). */
static json_t *gaps_json(const struct gaps *g) {
	json_t *list = json_array();

	for (uint32_t i = 0; i < g->count; i++)
		json_array_append_new(list, json_pack("[I, I]", (json_int_t)g->list[i].from,
						      (json_int_t)g->list[i].to));
	return json_pack("{s:I, s:o}", "shorter", (json_int_t)g->shorter, "list", list);
}

/* Appends the spans in which lost or reordered packets were under way (proof/suspects.h). */
static void suspects_put(json_t *list, const struct suspects *s) {
	for (uint32_t i = 0; s->count > 0 && i < SUSPECTS_MAX; i++) {
		const struct suspect *one = &s->table[i];

		if (one->to != 0)
			json_array_append_new(list,
					      json_pack("[I, I, I, I]", (json_int_t)one->from,
							(json_int_t)one->to, (json_int_t)one->lost,
							(json_int_t)one->reordered));
	}
}

/* NULL if the group has no traffic in this direction. */
static const struct suspects *suspects_of(const struct traffic *t, bool upstream) {
	if (upstream)
		return t->uplink != NULL ? &t->uplink_receiver.proof.suspects : NULL;
	return t->downlink != NULL ? &t->downlink->account.proof.suspects : NULL;
}

static json_t *suspects_json(const struct groups *g, bool upstream) {
	json_t *list = json_array();
	uint64_t lost = 0, reordered = 0;

	for (unsigned i = 0; i < g->count; i++) {
		const struct suspects *s = suspects_of(g->all[i], upstream);

		if (s == NULL)
			continue;
		suspects_put(list, s);
		lost += s->lost_more;
		reordered += s->reordered_more;
	}
	return json_pack("{s:I, s:I, s:o}", "lost_more", (json_int_t)lost, "reordered_more",
			 (json_int_t)reordered, "list", list);
}

void summary_gaps(json_t *root, const struct groups *g) {
	json_t *down = json_object_get(root, "downstream"), *up = json_object_get(root, "upstream");

	if (g->count == 0)
		return;
	/* All groups run on one thread, so the first group's gaps are those of the thread. */
	json_object_set_new(root, "gaps", gaps_json(&g->all[0]->gaps));
	if (down != NULL)
		json_object_set_new(down, "suspects", suspects_json(g, false));
	if (up != NULL)
		json_object_set_new(up, "suspects", suspects_json(g, true));
}
