/* SPDX-License-Identifier: BSD-3-Clause */
/* Records the opportunities that MAPs give to single flows, and uses each when its burst is filled. */
#include "access/grants.h"

#include "access/map_reception.h"
#include "access/requests.h"

/* Queue bytes of a flow that fit in a grant of so many minislots. */
static uint32_t fit(const struct access_line *l, const struct access_queue *f, uint32_t minislots) {
	uint32_t bytes = 0;

	if (minislots > l->set.burst_minislots)
		bytes = (minislots - l->set.burst_minislots) * l->set.minislot_bytes;
	return bytes > f->set.header_bytes ? bytes - f->set.header_bytes : 0;
}

/* Returns whether the modem received the MAP in time and there is memory for the grant; otherwise
 * counts why. */
static bool known(struct access *a, const struct access_queue *f,
		  const struct access_map_reception *map, uint32_t bytes) {
	struct access_counts *c = &a->counts;
	enum map_reception map_reception = map_reception_of(a, f->set.modem, map);

	if (map_reception == MAP_RECEIVED_LATE) {
		c->late_grants++;
		c->late_bytes += bytes;
	} else if (map_reception == MAP_NOT_RECEIVED) {
		c->lost_grants++;
		c->lost_bytes += bytes;
	} else if (access_modem_of(a, f)->conduct == ACCESS_SILENT) {
		c->silent_bytes += bytes;
	} else if (a->free_grant == ACCESS_NONE) {
		c->too_many++;
		c->lost_bytes += bytes;
	} else {
		return true;
	}
	return false;
}

static void link_chance(struct access *a, struct access_queue *f, uint32_t number) {
	uint32_t *at = &f->chance;

	while (*at != ACCESS_NONE && a->grants[*at].time <= a->grants[number].time)
		at = &a->grants[*at].next;
	a->grants[number].next = *at;
	*at = number;
}

static void unlink_chance(struct access *a, struct access_queue *f, uint32_t number) {
	uint32_t *at = &f->chance;

	while (*at != number)
		at = &a->grants[*at].next;
	*at = a->grants[number].next;
}

static void record(struct access *a, const struct access_line *l, struct access_queue *f,
		   const struct grants_element *e, uint32_t bytes) {
	uint32_t number = a->free_grant;
	struct access_grant *g = &a->grants[number];
	uint64_t at = access_time(a, l, e->minislot);
	int64_t time = access_fill(access_modem_of(a, f), at);

	a->free_grant = g->next;
	*g = (struct access_grant){
		.flow = f->number,
		.generation = f->generation,
		.channel = (uint16_t)(l - a->lines),
		.sid = e->sid,
		.iuc = e->iuc,
		.chance =
			e->iuc == MAP_REQUEST || (map_iuc_is_data(e->iuc) && !f->set.no_piggyback),
		.minislot = e->minislot,
		.minislots = e->minislots,
		.bytes = bytes,
		.at = at,
		.time = (uint64_t)time,
	};
	if (g->chance)
		link_chance(a, f, number);
	f->pending_grants += bytes;
	a->counts.pending_grants += bytes;
	access_schedule(a, g->time, DUE_GRANT, number);
}

/* Grants are whole minislots, so a grant may exceed its request by a part of one. */
static void count_answer(struct access_counts *c, const struct access_line *l, int64_t beyond) {
	c->excessive += beyond >= l->set.minislot_bytes;
	c->partial += beyond < 0;
}

void grants_add(struct access *a, const struct access_line *l,
		const struct access_map_reception *map, const struct grants_element *e) {
	uint32_t number = l->flows[e->sid], bytes = 0;
	struct access_queue *f = number == ACCESS_NONE ? NULL : &a->flows[number];

	if (f == NULL) {
		a->counts.unknown_grants++;
		return;
	}
	if (map_iuc_is_data(e->iuc))
		bytes = fit(l, f, e->minislots);
	a->counts.granted += bytes;
	if (!known(a, f, map, bytes))
		return;
	if (map_iuc_is_data(e->iuc)) {
		count_answer(&a->counts, l, requests_granted(f, bytes));
		f->tries = 0;
	}
	record(a, l, f, e, bytes);
}

void grants_pending(struct access *a, const struct access_line *l,
		    const struct access_map_reception *map, uint16_t sid, uint64_t ack) {
	uint32_t number = l->flows[sid];
	struct access_queue *f = &a->flows[number];

	if (number == ACCESS_NONE || map_reception_of(a, f->set.modem, map) != MAP_RECEIVED)
		return;
	f->tries = 0;
	f->pending_until = ack > f->pending_until ? ack : f->pending_until;
}

/* Moves queue bytes into the burst; modems of ACCESS_BEYOND also exceed the grant. */
static void fill(struct access *a, const struct access_line *l, struct access_queue *f,
		 uint64_t last, struct access_event *e) {
	const struct access_modem *m = access_modem_of(a, f);
	uint64_t available = e->granted;
	uint32_t used;

	if (m->conduct == ACCESS_BEYOND) {
		e->minislots += m->excess;
		available += (uint64_t)m->excess * l->set.minislot_bytes;
	}
	e->bytes = (uint32_t)(f->waiting < available ? f->waiting : available);
	used = e->bytes < e->granted ? e->bytes : e->granted;
	f->waiting -= e->bytes;
	a->counts.waiting -= e->bytes;
	a->counts.sent += e->bytes;
	a->counts.used += used;
	a->counts.unused += e->granted - used;
	a->counts.beyond += e->bytes - used;
	a->counts.bursts++;
	a->counts.empty_bursts += e->bytes == 0;
	if (!f->set.no_piggyback)
		e->request = requests_make(a, f, last, false);
	a->counts.piggybacks += e->request != 0;
}

/* `last` is the time of the last granted minislot: the ack time of MAPs covers its request only
 * from then on. */
static void use(struct access *a, const struct access_line *l, struct access_queue *f,
		uint64_t last, struct access_event *e) {
	if (e->iuc == MAP_REQUEST) {
		e->kind = ACCESS_REQUEST;
		e->request = requests_make(a, f, last, false);
		a->counts.polls += e->request != 0;
	} else if (e->iuc == MAP_STATION) {
		e->kind = ACCESS_STATION;
		a->counts.stations++;
	} else {
		e->kind = ACCESS_BURST;
		fill(a, l, f, last, e);
	}
}

struct access_queue *grants_run(struct access *a, uint32_t grant, struct access_event *out) {
	struct access_grant *g = &a->grants[grant];
	struct access_queue *f = &a->flows[g->flow];
	const struct access_line *l = &a->lines[g->channel];
	uint64_t first = g->minislot;
	uint64_t skew = (uint64_t)(int64_t)access_modem_of(a, f)->skew;
	bool present = f->generation == g->generation;

	*out = (struct access_event){
		.flow = g->flow,
		.channel = g->channel,
		.sid = g->sid,
		.iuc = g->iuc,
		.minislot = (uint32_t)first,
		.minislots = g->minislots,
		.granted = g->bytes,
		.time = g->time,
		.at = g->at,
		.skew = (int32_t)skew,
	};
	a->counts.pending_grants -= g->bytes;
	if (present && g->chance)
		unlink_chance(a, f, grant);
	g->next = a->free_grant;
	a->free_grant = grant;
	if (!present) {
		a->counts.lost_bytes += out->granted;
		return NULL;
	}
	f->pending_grants -= out->granted;
	use(a, l, f, access_time(a, l, first + out->minislots - 1), out);
	out->end = access_time(a, l, first + out->minislots - 1) + l->set.frame + skew;
	out->at += skew;
	return out->kind == ACCESS_REQUEST && out->request == 0 ? NULL : f;
}
