/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the modems that a change concerns, and what differs in them. */
#include <stdio.h>
#include <stdlib.h>

#include "follow/follow_group.h"
#include "follow/follow_keys.h"
#include "follow/follow_streams.h"
#include "model/live/object_copy.h"
#include "platform/secret/secret_memory.h"

static bool flows_use(const struct modem *m, uint32_t bonding_group) {
	for (size_t f = 0; f < m->service_flow_count; f++) {
		if (m->service_flows[f].bonding_group == bonding_group)
			return true;
	}
	return false;
}

static bool flows_use_channel(const struct service_group *sg, const struct modem *m,
			      uint32_t channel) {
	for (size_t f = 0; f < m->service_flow_count; f++) {
		const struct bonding_group *b =
			&sg->bonding_groups[m->service_flows[f].bonding_group];

		for (size_t c = 0; c < b->channel_count; c++) {
			if (b->channels[c] == channel)
				return true;
		}
	}
	return false;
}

static bool uses_filter_group(const struct modem *m, uint32_t group) {
	for (size_t f = 0; f < m->filter_group_count; f++) {
		if (m->filter_groups[f] == group)
			return true;
	}
	return false;
}

/* Whether a changed object affects the modem's packets. Any upstream channel may carry them. */
static bool concerns(const struct service_group *sg, uint32_t modem, const struct live_change *c) {
	const struct modem *m = &sg->modems[modem];

	switch (c->object) {
	case LIVE_BONDING_GROUP: return flows_use(m, c->slot);
	case LIVE_CHANNEL: return flows_use_channel(sg, m, c->slot);
	case LIVE_FILTER_GROUP: return uses_filter_group(m, c->slot);
	case LIVE_UPSTREAM_CHANNEL: return m->upstream_flow_count > 0;
	default: return false;
	}
}

enum difference {
	DIFFERENT, /* packets under way may be lost */
	DIFFERENT_HEADERS, /* in priority or rewrites; packets keep their path */
	DIFFERENT_KEYS, /* in keys at most */
};

/* Copies the fields of DIFFERENT_HEADERS. Both modems must have the same numbers of flows. */
static void headers_copy(const struct modem *from, struct modem *to) {
	for (size_t f = 0; f < to->service_flow_count; f++) {
		to->service_flows[f].priority = from->service_flows[f].priority;
		to->service_flows[f].overwrites_tos = from->service_flows[f].overwrites_tos;
		to->service_flows[f].tos = from->service_flows[f].tos;
	}
	for (size_t f = 0; f < to->upstream_flow_count; f++) {
		to->upstream_flows[f].overwrites_tos = from->upstream_flows[f].overwrites_tos;
		to->upstream_flows[f].tos = from->upstream_flows[f].tos;
	}
}

/* Compares a modem with `copy`, its next state. Overwrites the compared fields of `copy`. */
static enum difference copy_difference(const struct modem *before, struct modem *copy) {
	if (copy->security.said != before->security.said ||
	    copy->security.cipher != before->security.cipher)
		return DIFFERENT;
	copy->security = before->security;
	if (object_same(LIVE_MODEM, before, copy))
		return DIFFERENT_KEYS;
	if (copy->service_flow_count != before->service_flow_count ||
	    copy->upstream_flow_count != before->upstream_flow_count)
		return DIFFERENT;
	headers_copy(before, copy);
	return object_same(LIVE_MODEM, before, copy) ? DIFFERENT_HEADERS : DIFFERENT;
}

static enum difference modem_difference(const struct modem *before, const struct modem *next) {
	struct modem *copy;
	enum difference found;

	if (next == NULL || !modem_exists(before))
		return DIFFERENT;
	copy = object_copy(LIVE_MODEM, next, NULL);
	if (copy == NULL)
		return DIFFERENT;
	found = copy_difference(before, copy);
	secret_free(copy);
	return found;
}

/* Records the change of a modem; must be called before it is applied to `g->live`. */
static void modem_note(struct follow_group *g, const struct live_change *c) {
	const struct modem *before = &g->live.sg.modems[c->slot];
	enum difference d = modem_difference(before, c->modem);

	follow_streams_between_downstream(&g->downstream, before, c->modem);
	follow_streams_between_upstream(&g->upstream, before, c->modem);
	g->must_apply = g->must_apply || (d == DIFFERENT && modem_exists(before));
	/* If no key remains, frames of all old keys are under way; new tables keep these. */
	bool tables =
		d != DIFFERENT_KEYS || !follow_keys_roll(&before->security, &c->modem->security);

	g->rekeyed[c->slot] = g->rekeyed[c->slot] || d == DIFFERENT_KEYS;
	g->changed[c->slot] = g->changed[c->slot] || tables;
	g->overtaken[c->slot] = g->overtaken[c->slot] || d == DIFFERENT;
	g->tables = g->tables || tables;
	g->rekeys = g->rekeys || d == DIFFERENT_KEYS;
}

/* Records the modems that other objects affect. Called before and after these are applied. */
static void others_note(struct follow_group *g, const struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];

		if (c->object == LIVE_MODEM)
			continue;
		g->tables = true;
		for (uint32_t m = 0; m < g->live.capacity.modems; m++) {
			if (!concerns(&g->live.sg, m, c))
				continue;
			g->changed[m] = g->overtaken[m] = true;
		}
	}
}

void follow_group_changes(struct follow_group *g, struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++) {
		if (changes->list[i].object == LIVE_MODEM)
			modem_note(g, &changes->list[i]);
	}
	others_note(g, changes);
	live_changes_apply(&g->live, changes);
	others_note(g, changes);
	live_changes_free(changes);
}

bool follow_group_differs(struct follow_group *g, const struct service_group *next) {
	/* Compares only what a change can set: the server may have other devices. */
	struct service_group become = g->live.sg;
	struct live_changes changes;
	char why[LIVE_LINE];

	become.modem_count = 0;
	if (next != NULL) {
		become.rate_limit = next->rate_limit;
		become.cpe_timeout_ns = next->cpe_timeout_ns;
		become.channels = next->channels;
		become.channel_count = next->channel_count;
		become.upstream_channels = next->upstream_channels;
		become.upstream_channel_count = next->upstream_channel_count;
		become.bonding_groups = next->bonding_groups;
		become.bonding_group_count = next->bonding_group_count;
		become.filter_groups = next->filter_groups;
		become.filter_group_count = next->filter_group_count;
		become.modems = next->modems;
		become.modem_count = next->modem_count;
	} else {
		become.channel_count = become.upstream_channel_count = 0;
		become.bonding_group_count = become.filter_group_count = 0;
	}
	if (!live_difference(&g->live, &become, &changes, why)) {
		fprintf(stderr, "traffic: service group %u cannot be followed: %s\n", become.id,
			why);
		return false;
	}
	follow_group_changes(g, &changes);
	return true;
}
