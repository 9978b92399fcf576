/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in contention: back-off, choice of opportunities, collisions. */
#include "access/contend.h"

#include <stdlib.h>

#include "access/map_reception.h"
#include "access/requests.h"

static bool has_contenders(const struct access *a, const struct access_line *l) {
	uint64_t bit = UINT64_C(1) << (l - a->lines);

	for (uint32_t i = 0; i < a->group_count; i++)
		if (a->groups[i].channels & bit && a->groups[i].contenders.count > 0)
			return true;
	return false;
}

/* Time at which modems decide about a minislot. */
static uint64_t decided(const struct access *a, const struct access_line *l, uint64_t minislot) {
	uint64_t at = access_time(a, l, minislot);

	return at > a->lead ? at - a->lead : 0;
}

/* Removes `count` opportunities from region `r`, the oldest one. */
static void consume(struct access_line *l, struct access_region *r, uint32_t count) {
	r->minislot += (uint64_t)count * l->set.request_minislots;
	r->count -= count;
	if (r->count > 0)
		return;
	l->first = (l->first + 1) % ACCESS_REGIONS;
	l->region_count--;
}

/* Skips opportunities for which it is too late to decide. Returns the first region left, or NULL. */
static struct access_region *present(struct access *a, struct access_line *l, uint64_t now) {
	while (l->region_count > 0) {
		struct access_region *r = &l->regions[l->first];
		uint64_t frames, min, skipped;

		if (decided(a, l, r->minislot) >= now)
			return r;
		frames = (now + a->lead - a->start + l->set.frame - 1) / l->set.frame;
		min = frames * l->set.frame_minislots;
		skipped = (min - r->minislot + l->set.request_minislots - 1) /
			  l->set.request_minislots;
		consume(l, r, skipped < r->count ? (uint32_t)skipped : r->count);
	}
	return NULL;
}

void contend_schedule(struct access *a, struct access_line *l, uint64_t now) {
	const struct access_region *r;

	if (l->due || !has_contenders(a, l))
		return;
	r = present(a, l, now);
	if (r == NULL)
		return;
	l->due = true;
	access_schedule(a, decided(a, l, r->minislot), DUE_CHANNEL, (uint32_t)(l - a->lines));
}

void contend_add(struct access_line *l, const struct access_region *r) {
	/* no flow has contended for long: the oldest region is past */
	if (l->region_count == ACCESS_REGIONS)
		consume(l, &l->regions[l->first], l->regions[l->first].count);
	l->regions[(l->first + l->region_count++) % ACCESS_REGIONS] = *r;
}

/* Draws the opportunity that a flow will use, as a count like `passed`. */
static uint64_t backed_off(struct access *a, const struct access_group *g, unsigned tries) {
	unsigned exponent = g->start + tries < g->end ? g->start + tries : g->end;

	return g->passed + random_below(&a->random, 1u << exponent);
}

void contend_consider(struct access *a, struct access_queue *f, uint64_t now) {
	struct access_group *g = &a->groups[f->group];

	if (f->contends || f->set.no_contention || f->set.sid_count == 0 || !requests_wanted(a, f))
		return;
	f->contends = true;
	due_add(&g->contenders, backed_off(a, g, f->tries), f->number);
	for (uint64_t left = g->channels; left != 0; left &= left - 1)
		contend_schedule(a, &a->lines[__builtin_ctzll(left)], now);
}

/* Adds to `picks` the contenders of a group that use one of the next `count` opportunities, after
 * the `picked` earlier ones. */
static uint32_t pick(struct access *a, struct access_group *g, const struct access_region *r,
		     uint32_t count, uint32_t picked) {
	uint64_t end = g->passed + count;

	while (due_next(&g->contenders) < end) {
		struct due_entry e = due_pop(&g->contenders);
		struct access_queue *f = &a->flows[e.number];

		f->contends = false;
		if (access_chance(a, f) <= a->now + f->set.patience || !requests_wanted(a, f))
			/* it can request in its own grant or poll, or has no bytes to request */
			continue;
		if (map_reception_of(a, f->set.modem, &r->map) != MAP_RECEIVED) {
			f->contends = true;
			due_add(&g->contenders, e.key + count, e.number);
			continue;
		}
		a->picks[picked++] = (struct access_pick){(uint32_t)(e.key - g->passed), e.number};
	}
	g->passed = end;
	return picked;
}

static int by_opportunity(const void *x, const void *y) {
	const struct access_pick *a = x, *b = y;

	if (a->opportunity != b->opportunity)
		return a->opportunity < b->opportunity ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

static uint16_t sid_on(const struct access_queue *f, uint16_t channel) {
	for (size_t i = 0; i < f->set.sid_count; i++)
		if (f->sids[i].channel == channel)
			return f->sids[i].sid;
	return 0;
}

/* Writes the event of one opportunity: a request, or a collision of several. */
static void send(struct access *a, const struct access_line *l, uint64_t minislot,
		 const struct access_pick *picks, uint32_t count, uint64_t now) {
	struct access_event *e = &a->out[a->out_count++];
	uint64_t at = access_time(a, l, minislot);
	struct access_queue *f = &a->flows[picks[0].flow];
	const struct access_modem *m = access_modem_of(a, f);
	uint16_t channel = (uint16_t)(l - a->lines);
	uint64_t last = minislot + l->set.request_minislots - 1;

	*e = (struct access_event){
		.kind = count > 1 ? ACCESS_COLLISION : ACCESS_REQUEST,
		.flow = picks[0].flow,
		.channel = channel,
		.sid = sid_on(f, channel),
		.iuc = MAP_REQUEST,
		.minislot = (uint32_t)minislot,
		.minislots = l->set.request_minislots,
		.request = count,
		.time = now,
		.at = at + (uint64_t)(int64_t)m->skew,
		.end = access_time(a, l, last) + l->set.frame + (uint64_t)(int64_t)m->skew,
		.skew = m->skew,
		.contended = true,
	};
	for (uint32_t i = 0; i < count; i++) {
		uint32_t bytes = requests_make(a, &a->flows[picks[i].flow], at, true);

		if (count == 1)
			e->request = bytes;
	}
	a->counts.contention += count;
	if (count > 1) {
		a->counts.collisions++;
		a->counts.collided += count;
	}
}

/* Collects the contenders of all groups for the next `count` opportunities, sorted by opportunity. */
static uint32_t pick_all(struct access *a, const struct access_line *l,
			 const struct access_region *r, uint32_t count) {
	uint64_t bit = UINT64_C(1) << (l - a->lines);
	uint32_t picked = 0, groups = 0;

	for (uint32_t i = 0; i < a->group_count; i++) {
		struct access_group *g = &a->groups[i];
		uint32_t before = picked;

		if (!(g->channels & bit) || g->contenders.count == 0)
			continue;
		picked = pick(a, g, r, count, picked);
		groups += picked > before;
	}
	if (groups > 1)
		qsort(a->picks, picked, sizeof(*a->picks), by_opportunity);
	return picked;
}

uint32_t contend_run(struct access *a, struct access_line *l, uint64_t now) {
	struct access_region *r = present(a, l, now);
	uint32_t picked, count;
	uint64_t first;

	l->due = false;
	if (r == NULL || decided(a, l, r->minislot) > now)
		return 0;
	first = r->minislot;
	count = l->set.frame_minislots - (uint32_t)(first % l->set.frame_minislots);
	count = (count + l->set.request_minislots - 1) / l->set.request_minislots;
	count = count < r->count ? count : r->count;
	picked = pick_all(a, l, r, count);
	consume(l, r, count);
	for (uint32_t i = 0, n; i < picked; i += n) {
		uint32_t at = a->picks[i].opportunity;

		for (n = 1; i + n < picked && a->picks[i + n].opportunity == at;)
			n++;
		send(a, l, first + (uint64_t)at * l->set.request_minislots, &a->picks[i], n, now);
	}
	return picked;
}
