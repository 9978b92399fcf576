/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares and applies live changes of the uplink, and keeps the generations before them. */
#include "directions/uplink_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "directions/downlink_change.h"
#include "directions/uplink_parts.h"

bool uplink_follow_begin(struct uplink_follow *f, const struct uplink *u, struct uplink_receiver *r,
			 uint64_t tsc_hz) {
	*f = (struct uplink_follow){.keep = tsc_hz / 1000 * FOLLOW_KEEP_MS};
	r->unresolved = &f->unresolved;
	if (unresolved_create(&f->unresolved, uplink_stream_count(u)) &&
	    watch_create(&f->watch, uplink_stream_count(u)) == 0)
		return true;
	fprintf(stderr, "traffic: no memory to follow changes of a service group\n");
	return false;
}

void uplink_follow_end(struct uplink_follow *f, struct uplink *u, struct uplink_receiver *r) {
	r->unresolved = NULL;
	unresolved_free(&f->unresolved);
	watch_free(&f->watch);
	for (struct uplink_change *c = f->oldest; c != NULL; c = c->newer)
		__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	if (f->oldest != NULL) {
		u->frames.packets.sources.older = NULL;
		u->frames.packets.rewrites.older = NULL;
	}
	*f = (struct uplink_follow){0};
}

bool uplink_change_sources(struct uplink_change *c, const struct uplink *u,
			   const struct service_group *sg, bool *silent) {
	if (!uplink_sources_create(&c->sources, sg)) {
		fprintf(stderr, "traffic: no memory for the upstream packets\n");
		return false;
	}
	for (uint32_t m = 0; m < sg->modem_count; m++)
		silent[m] = !uplink_sources_fit(&c->sources, &u->mix, m);
	return true;
}

bool uplink_change_plan(struct uplink_change *c, struct uplink *u, const struct service_group *sg,
			const struct uplink_plan_follow *follow) {
	size_t count = sg->upstream_channel_count;

	if (uplink_plan_create(&c->plan, sg, follow, true, &u->keys) != 0 ||
	    !uplink_plan_rewrites(&c->plan, u->flows.stream_count, 0, &c->rewrites))
		return false;
	c->channels = calloc(count + 1, sizeof(*c->channels));
	if (c->channels == NULL) {
		fprintf(stderr, "traffic: no memory for the upstream channels\n");
		return false;
	}
	memcpy(c->channels, sg->upstream_channels, count * sizeof(*c->channels));
	c->channel_count = (uint32_t)count;
	c->grant_size = uplink_grant_size(sg, &u->mix, u->rate);
	c->lowest = (double)uplink_grant_lowest(sg, &u->mix, c->grant_size);
	return true;
}

static void marks_apply(struct uplink_follow *f, const struct uplink *u,
			const struct uplink_change *c, uint64_t now) {
	for (uint32_t i = 0; i < c->mark_count; i++) {
		const struct uplink_stream *s = &u->flows.streams[c->marks[i].stream];

		/* If only a key was removed, watches packets encrypted with it. */
		watch_begin(&f->watch, &c->marks[i], c->tables ? s->made : s->rekeyed,
			    now + f->keep);
	}
}

static void stream_begins(struct uplink_follow *f, const struct uplink *u, struct proof *p,
			  uint32_t stream) {
	watch_end(&f->watch, p, stream);
	proof_end_stream(p, stream, u->flows.streams[stream].ended);
}

static void tables_apply(struct uplink_follow *f, struct uplink *u, struct uplink_receiver *r,
			 struct uplink_change *c) {
	for (uint32_t i = 0; i < c->fresh_count; i++)
		stream_begins(f, u, &r->proof, c->fresh[i]);
	uplink_flows_apply(&u->flows, &c->plan, c->fresh, c->fresh_count);
	uplink_packets_apply(&u->frames.packets, &c->sources);
	rewrites_apply(&u->frames.packets.rewrites, &c->rewrites, u->frames.packets.magic);
	uplink_rphy_set_channels(&u->rphy, c->channels, c->channel_count);
	u->grant_size = c->grant_size;
	u->lowest = c->lowest;
}

bool uplink_change_apply(struct uplink_follow *f, struct uplink *u, struct uplink_receiver *r,
			 struct uplink_change *c, uint64_t now) {
	if (u->grant_count > 0)
		return false;
	for (uint32_t i = 0; i < c->rekey_count; i++)
		uplink_flows_rekey(&u->flows, &c->rekeys[i]);
	marks_apply(f, u, c, now);
	if (c->tables)
		tables_apply(f, u, r, c);
	c->until = now + f->keep;
	if (f->newest != NULL)
		f->newest->newer = c;
	else
		f->oldest = c;
	f->newest = c;
	uplink_receiver_retry(r, UINT64_MAX, true);
	return true;
}

/* As in downlink_change.c: removes the generation that `c` holds. */
static void tables_forget(struct uplink *u, const struct uplink_change *c) {
	struct uplink_change *left = c->newer;

	while (left != NULL && !left->tables)
		left = left->newer;
	if (left == NULL) {
		u->frames.packets.sources.older = NULL;
		u->frames.packets.rewrites.older = NULL;
	} else {
		left->sources.older = NULL;
		left->rewrites.older = NULL;
	}
}

void uplink_follow_round(struct uplink_follow *f, struct uplink *u, struct uplink_receiver *r,
			 uint64_t now) {
	struct uplink_change *c = f->oldest;
	uint64_t known = __atomic_load_n(&f->known, __ATOMIC_RELAXED);

	if (f->unresolved.count > 0 && known > f->resolved) {
		f->resolved = known;
		uplink_receiver_retry(r, known, false);
	}
	if (c == NULL)
		return;
	watch_expire(&f->watch, &r->proof, now);
	if (now < c->until)
		return;
	if (c->tables)
		tables_forget(u, c);
	f->oldest = c->newer;
	if (f->oldest == NULL)
		f->newest = NULL;
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
}

void uplink_change_free(struct uplink_change *c) {
	for (uint32_t i = 0; i < c->rekey_count; i++)
		uplink_modem_free(&c->rekeys[i], c->store);
	free(c->rekeys);
	uplink_plan_free(&c->plan);
	uplink_sources_free(&c->sources);
	rewrites_free(&c->rewrites);
	free(c->channels);
	free(c->fresh);
	free(c->marks);
}
