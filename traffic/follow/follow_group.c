/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares changes of one service group for its traffic, and offers them. */
#include "follow/follow_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "directions/uplink_parts.h"
#include "follow/follow_keys.h"
#include "follow/follow_streams.h"
#include "platform/secret/secret_memory.h"

/* Exceeds the time for which the traffic keeps the previous generation. */
#define NUMBER_REUSE_MS (FOLLOW_KEEP_MS + 1000)
#define CAPACITY_TIMES 4 /* released numbers rest while new streams use others */
#define CAPACITY_MORE 256

uint32_t follow_capacity_downstream(const struct service_group *sg) {
	return CAPACITY_TIMES * group_capacity(sg).flows + CAPACITY_MORE;
}

uint32_t follow_capacity_upstream(const struct service_group *sg) {
	return CAPACITY_TIMES * group_capacity(sg).streams + CAPACITY_MORE;
}

static int group_report(const struct service_group *sg, const char *why) {
	fprintf(stderr, "traffic: service group %u is not followed: %s\n", sg->id, why);
	return -1;
}

static int group_refuse(const struct service_group *sg) {
	return group_report(sg, "no memory left");
}

int follow_group_create(struct follow_group *g, const struct service_group *sg, struct traffic *t,
			uint64_t tsc_hz) {
	const struct group_capacity capacity = group_capacity(sg);
	uint64_t rest = tsc_hz / 1000 * NUMBER_REUSE_MS;
	char why[LIVE_LINE];

	*g = (struct follow_group){.traffic = t};
	if (live_group_create(&g->live, sg, &capacity, why) != 0)
		return group_report(sg, why);
	g->changed = calloc(capacity.modems + 1, sizeof(*g->changed));
	g->overtaken = calloc(capacity.modems + 1, sizeof(*g->overtaken));
	g->rekeyed = calloc(capacity.modems + 1, sizeof(*g->rekeyed));
	g->keys = calloc(capacity.modems + 1, sizeof(*g->keys));
	if (g->changed == NULL || g->overtaken == NULL || g->rekeyed == NULL || g->keys == NULL)
		return group_refuse(sg);
	if (t->downlink != NULL &&
	    !follow_streams_create(&g->downstream, t->downlink->generator->targets.stream_count,
				   capacity.modems, rest))
		return group_refuse(sg);
	if (t->uplink != NULL &&
	    !follow_streams_create(&g->upstream, uplink_stream_count(t->uplink), capacity.modems,
				   rest))
		return group_refuse(sg);
	if (t->downlink != NULL && !follow_streams_downstream(&g->downstream, &g->live.sg, 0, NULL))
		return group_refuse(sg);
	if (t->uplink != NULL && !follow_streams_upstream(&g->upstream, &g->live.sg, NULL, 0, NULL))
		return group_refuse(sg);
	follow_streams_keep(&g->downstream, 0);
	follow_streams_keep(&g->upstream, 0);
	follow_keys_keep(g);
	return 0;
}

void follow_group_free(struct follow_group *g) {
	if (g->traffic != NULL)
		traffic_follow_end(g->traffic);
	while (g->offered != NULL) {
		struct traffic_change *c = g->offered;

		g->offered = c->next;
		traffic_change_free(c);
	}
	follow_streams_free(&g->downstream);
	follow_streams_free(&g->upstream);
	live_group_free(&g->live);
	free(g->changed);
	free(g->overtaken);
	free(g->rekeyed);
	secret_free(g->keys);
	*g = (struct follow_group){0};
}

void follow_group_sample(struct follow_group *g) {
	if (g->traffic->downlink != NULL)
		follow_streams_sample(&g->downstream, &g->traffic->downlink->account.proof);
	if (g->traffic->uplink != NULL)
		follow_streams_sample(&g->upstream, &g->traffic->uplink_receiver.proof);
}

void follow_group_sample_valid(struct follow_group *g) {
	follow_streams_sample_valid(&g->downstream);
	follow_streams_sample_valid(&g->upstream);
}

static bool downstream_prepare(struct follow_group *g, struct downlink_change *c, uint64_t now) {
	const struct service_group *sg = &g->live.sg;
	struct downlink *d = g->traffic->downlink;
	struct follow_numbering numbering;
	struct targets_follow follow = {
		.capacity = g->downstream.numbers.capacity,
		.before = &d->generator->targets,
		.changed = g->changed,
	};

	if (!follow_streams_downstream(&g->downstream, sg, now, &numbering))
		return false;
	c->fresh = numbering.fresh;
	c->fresh_count = numbering.fresh_count;
	follow.streams = numbering.streams;
	if (generator_prepare(d->generator, sg, &follow, &c->targets) != 0 ||
	    !rewrites_add_between(&c->targets.rewrites, g->downstream.between,
				  g->downstream.between_count) ||
	    modems_create(&c->modems, sg, &c->targets.targets, &d->keys) != 0)
		return false;
	c->channels = calloc(sg->channel_count + 1, sizeof(*c->channels));
	if (c->channels == NULL)
		return false;
	memcpy(c->channels, sg->channels, sg->channel_count * sizeof(*c->channels));
	c->channel_count = (uint32_t)sg->channel_count;
	c->tables = true;
	return follow_streams_changed(&g->downstream, g->changed, &c->changed, &c->changed_count) &&
	       follow_streams_mark(&g->downstream, g->overtaken, &c->marks, &c->mark_count);
}

/* Marks the streams of modems whose upstream packets under way may be lost. */
static bool upstream_mark(const struct follow_group *g, struct uplink_change *c) {
	uint32_t modems = g->live.capacity.modems;
	bool *overtaken = calloc(modems + 1, sizeof(*overtaken));
	bool good = overtaken != NULL;

	/* The server drops upstream packets under way that use a key which it has removed. */
	for (uint32_t m = 0; good && m < modems; m++)
		overtaken[m] = g->overtaken[m] || g->rekeyed[m];
	good = good && follow_streams_mark(&g->upstream, overtaken, &c->marks, &c->mark_count);
	free(overtaken);
	return good;
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
		c->tables = true;
		good = uplink_change_plan(c, u, sg, &follow) &&
		       rewrites_add_between(&c->rewrites, g->upstream.between,
					    g->upstream.between_count) &&
		       upstream_mark(g, c);
	}
	free(silent);
	return good;
}

/* Prepares new tables, including keys, because modems or objects that they use differ. */
static bool tables_prepare(struct follow_group *g, struct traffic_change *c, uint64_t now) {
	if (g->traffic->downlink != NULL && !downstream_prepare(g, &c->downstream, now))
		return false;
	return g->traffic->uplink == NULL || upstream_prepare(g, &c->upstream, now);
}

static bool keys_prepare(struct follow_group *g, struct traffic_change *c) {
	bool *removed = calloc(g->live.capacity.modems + 1, sizeof(*removed));
	bool good = removed != NULL && follow_keys_prepare(g, c, removed);

	if (good && g->traffic->uplink != NULL)
		good = follow_streams_mark(&g->upstream, removed, &c->upstream.marks,
					   &c->upstream.mark_count);
	free(removed);
	return good;
}

static void tables_offered(struct follow_group *g, uint64_t now) {
	uint32_t modems = g->live.capacity.modems;

	follow_streams_keep(&g->downstream, now);
	follow_streams_keep(&g->upstream, now);
	follow_keys_keep(g);
	memset(g->changed, 0, modems * sizeof(*g->changed));
	memset(g->overtaken, 0, modems * sizeof(*g->overtaken));
	memset(g->rekeyed, 0, modems * sizeof(*g->rekeyed));
	g->tables = g->rekeys = g->must_apply = false;
}

/* Prepares changes of keys alone before tables, as the proof accepts more losses after new tables. The tables
 * contain the keys of modems that also differ otherwise. */
static bool offer_prepare(struct follow_group *g, struct traffic_change *c, uint64_t now) {
	if (g->rekeys) {
		g->rekeys = false;
		if (follow_keys_alone(g)) {
			g->rekeys = !keys_prepare(g, c);
			if (!g->rekeys)
				follow_keys_keep_alone(g);
			return !g->rekeys;
		}
	}
	if (!tables_prepare(g, c, now))
		return false;
	tables_offered(g, now);
	return true;
}

bool follow_group_offer(struct follow_group *g, uint64_t now) {
	struct traffic_change *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return false;
	if (!offer_prepare(g, c, now)) {
		traffic_change_free(c);
		return false;
	}
	c->next = g->offered;
	g->offered = c;
	traffic_offer(g->traffic, c);
	return true;
}

bool follow_group_settle(struct follow_group *g) {
	struct traffic_change **at = &g->offered;

	while (*at != NULL) {
		struct traffic_change *c = *at;

		if (!traffic_change_done(g->traffic, c)) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		traffic_change_free(c);
	}
	return traffic_applied(g->traffic);
}

bool follow_group_unresolved(const struct follow_group *g) {
	return traffic_unresolved(g->traffic);
}

void follow_group_confirm(struct follow_group *g, uint64_t since) {
	struct downlink *d = g->traffic->downlink;

	if (d != NULL)
		__atomic_store_n(&d->follow->known, since, __ATOMIC_RELAXED);
	__atomic_store_n(&g->traffic->uplink_follow.known, since, __ATOMIC_RELAXED);
}
