/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow/follow_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "follow/follow_streams.h"
#include "uplink_parts.h"

#define FOLLOW_REST_MS (FOLLOW_KEEP_MS + 1000)
#define ROOM_TIMES 4 /* numbers rest while others begin */
#define ROOM_MORE 256

uint32_t follow_room_downstream(const struct service_group *sg) {
	return ROOM_TIMES * group_room(sg).flows + ROOM_MORE;
}

uint32_t follow_room_upstream(const struct service_group *sg) {
	return ROOM_TIMES * group_room(sg).streams + ROOM_MORE;
}

static int group_refuse(const struct service_group *sg) {
	fprintf(stderr, "traffic: no memory to follow service group %u\n", sg->id);
	return -1;
}

int follow_group_create(struct follow_group *g, const struct service_group *sg, struct traffic *t,
			uint64_t tsc_hz) {
	const struct group_room room = group_room(sg);
	uint64_t rest = tsc_hz / 1000 * FOLLOW_REST_MS;

	*g = (struct follow_group){.traffic = t};
	if (live_group_create(&g->live, sg, &room) != 0)
		return -1;
	g->changed = calloc(room.modems + 1, sizeof(*g->changed));
	if (g->changed == NULL)
		return group_refuse(sg);
	if (t->downlink != NULL &&
	    !follow_streams_create(&g->downstream, t->downlink->generator->targets.stream_count,
				   room.modems, rest))
		return group_refuse(sg);
	if (t->uplink != NULL &&
	    !follow_streams_create(&g->upstream, uplink_stream_count(t->uplink), room.modems, rest))
		return group_refuse(sg);
	if (t->downlink != NULL && !follow_streams_downstream(&g->downstream, &g->live.sg, 0, NULL))
		return group_refuse(sg);
	if (t->uplink != NULL && !follow_streams_upstream(&g->upstream, &g->live.sg, NULL, 0, NULL))
		return group_refuse(sg);
	follow_streams_keep(&g->downstream, 0);
	follow_streams_keep(&g->upstream, 0);
	return 0;
}

void follow_group_free(struct follow_group *g) {
	if (g->traffic != NULL)
		traffic_follow_end(g->traffic);
	while (g->given != NULL) {
		struct traffic_change *c = g->given;

		g->given = c->next;
		traffic_change_free(c);
	}
	follow_streams_free(&g->downstream);
	follow_streams_free(&g->upstream);
	live_group_free(&g->live);
	free(g->changed);
	*g = (struct follow_group){0};
}

void follow_group_look(struct follow_group *g) {
	const struct downlink *d = g->traffic->downlink;
	const struct uplink *u = g->traffic->uplink;

	if (g->dirty)
		return; /* the change that is known was made behind the looks that there are */
	if (d != NULL) {
		struct follow_look *look = follow_streams_look(&g->downstream);

		for (uint32_t s = 0; s < g->downstream.numbers.room; s++) {
			look->missing[s] = __atomic_load_n(&d->account.proof.streams[s].missing,
							   __ATOMIC_RELAXED);
			look->made[s] = __atomic_load_n(&d->generator->sent[s], __ATOMIC_RELAXED);
		}
	}
	if (u != NULL) {
		struct follow_look *look = follow_streams_look(&g->upstream);
		const struct proof *p = &g->traffic->uplink_receiver.proof;

		for (uint32_t s = 0; s < g->upstream.numbers.room; s++) {
			look->missing[s] =
				__atomic_load_n(&p->streams[s].missing, __ATOMIC_RELAXED);
			look->made[s] =
				__atomic_load_n(&u->flows.streams[s].ended, __ATOMIC_RELAXED);
		}
	}
}

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

/* Whether what changes decides about the modem's packets. Upstream channels may carry any modem. */
static bool concerns(const struct service_group *sg, uint32_t modem, const struct live_change *c) {
	const struct modem *m = &sg->modems[modem];

	switch (c->object) {
	case LIVE_MODEM: return c->slot == modem;
	case LIVE_BONDING_GROUP: return flows_use(m, c->slot);
	case LIVE_CHANNEL: return flows_use_channel(sg, m, c->slot);
	case LIVE_FILTER_GROUP: return uses_filter_group(m, c->slot);
	case LIVE_UPSTREAM_CHANNEL: return m->upstream_flow_count > 0;
	default: return false;
	}
}

static void changed_note(struct follow_group *g, const struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];

		if (c->object == LIVE_MODEM) {
			g->changed[c->slot] = true;
			continue;
		}
		for (uint32_t m = 0; m < g->live.room.modems; m++)
			g->changed[m] = g->changed[m] || concerns(&g->live.sg, m, c);
	}
}

bool follow_group_differs(struct follow_group *g, const struct service_group *next) {
	/* What no change can touch is as it was when the traffic was made: devices may be others there. */
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
	changed_note(g, &changes);
	live_changes_take(&g->live, &changes);
	changed_note(g, &changes);
	g->dirty = g->dirty || changes.count > 0;
	live_changes_free(&changes);
	return true;
}

static bool downstream_prepare(struct follow_group *g, struct downlink_change *c, uint64_t now) {
	const struct service_group *sg = &g->live.sg;
	struct downlink *d = g->traffic->downlink;
	struct follow_numbering numbering;
	struct targets_follow follow = {
		.room = g->downstream.numbers.room,
		.before = &d->generator->targets,
		.changed = g->changed,
	};

	if (!follow_streams_downstream(&g->downstream, sg, now, &numbering))
		return false;
	c->fresh = numbering.fresh;
	c->fresh_count = numbering.fresh_count;
	follow.streams = numbering.streams;
	if (generator_prepare(d->generator, sg, &follow, &c->targets) != 0 ||
	    modems_create(&c->modems, sg, &c->targets.targets, &d->keys) != 0)
		return false;
	c->channels = calloc(sg->channel_count + 1, sizeof(*c->channels));
	if (c->channels == NULL)
		return false;
	memcpy(c->channels, sg->channels, sg->channel_count * sizeof(*c->channels));
	c->channel_count = (uint32_t)sg->channel_count;
	return follow_streams_changed(&g->downstream, g->changed, &c->changed, &c->changed_count) &&
	       follow_streams_mark(&g->downstream, g->changed, &c->marks, &c->mark_count);
}

static bool upstream_prepare(struct follow_group *g, struct uplink_change *c, uint64_t now) {
	const struct service_group *sg = &g->live.sg;
	struct uplink *u = g->traffic->uplink;
	bool *silent = calloc(sg->modem_count + 1, sizeof(*silent));
	struct follow_numbering numbering;
	struct uplink_plan_follow follow = {.silent = silent};
	bool good;

	good = silent != NULL && uplink_change_sources(c, u, sg, silent) &&
	       follow_streams_upstream(&g->upstream, sg, silent, now, &numbering);
	if (good) {
		c->fresh = numbering.fresh;
		c->fresh_count = numbering.fresh_count;
		follow.streams = numbering.streams;
		good = uplink_change_plan(c, u, sg, &follow) &&
		       follow_streams_mark(&g->upstream, g->changed, &c->marks, &c->mark_count);
	}
	free(silent);
	return good;
}

bool follow_group_offer(struct follow_group *g, uint64_t now) {
	struct traffic_change *c = calloc(1, sizeof(*c));
	bool good = c != NULL;

	if (!good)
		return false;
	if (g->traffic->downlink != NULL)
		good = downstream_prepare(g, &c->downstream, now);
	if (good && g->traffic->uplink != NULL)
		good = upstream_prepare(g, &c->upstream, now);
	if (!good) {
		traffic_change_free(c);
		return false;
	}
	follow_streams_keep(&g->downstream, now);
	follow_streams_keep(&g->upstream, now);
	memset(g->changed, 0, g->live.room.modems * sizeof(*g->changed));
	g->dirty = false;
	c->next = g->given;
	g->given = c;
	traffic_offer(g->traffic, c);
	return true;
}

bool follow_group_settle(struct follow_group *g) {
	struct traffic_change **at = &g->given;

	while (*at != NULL) {
		struct traffic_change *c = *at;

		if (!traffic_change_done(g->traffic, c)) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		traffic_change_free(c);
	}
	return traffic_took(g->traffic);
}

void follow_group_known(struct follow_group *g, uint64_t since) {
	struct downlink *d = g->traffic->downlink;

	if (d != NULL)
		__atomic_store_n(&d->follow->known, since, __ATOMIC_RELAXED);
}
