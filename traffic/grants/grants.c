/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds: advances the DOCSIS time, lets the modems decide, and returns events that are due. */
#include "grants/grants.h"

#include "grants/grants_modems.h"

/* If the clock's correction sets it back a little, the modems' time stands still. */
static void time_set(struct grants *g) {
	uint64_t now = docsis_clock_time(&g->clock, g->worker.now);

	g->now = now > g->now ? now : g->now;
}

/* MAPs received before a jump have invalid times. The modems restart and keep their queues. */
static void time_jumps(struct grants *g) {
	g->now = docsis_clock_time(&g->clock, g->worker.now);
	g->result.clock_jumps++;
	grants_modems_restart(g);
}

static void event_keep(struct grants *g, const struct access_event *e) {
	uint32_t number = g->unused[--g->unused_count];

	g->events[number] = *e;
	g->carrying += e->bytes > 0;
	due_add(&g->ends, e->end, number);
}

/* If too many bursts wait for the port, the modems wait too. */
static void events_collect(struct grants *g) {
	struct access_event e;

	while (g->unused_count > 0 && access_next(g->access, g->now, &e)) {
		if (e.kind != ACCESS_COLLISION)
			event_keep(g, &e);
	}
}

void grants_round(struct grants *g) {
	clock_tick(&g->worker);
	if (docsis_clock_sample_is_due(&g->clock, g->worker.now) &&
	    docsis_clock_sample(&g->clock, &g->worker))
		time_jumps(g);
	time_set(g);
	events_collect(g);
}

const struct access_event *grants_next(struct grants *g) {
	if (!g->has_first) {
		if (due_next(&g->ends) > g->now)
			return NULL;
		g->first = due_pop(&g->ends).number;
		g->has_first = true;
	}
	return &g->events[g->first];
}

void grants_done(struct grants *g) {
	g->has_first = false;
	g->carrying -= g->events[g->first].bytes > 0;
	g->unused[g->unused_count++] = g->first;
}

bool grants_arrive(struct grants *g, struct uplink_stream *s, uint32_t size, uint64_t now) {
	if (!arrivals_put(&g->arrivals, s, now))
		return false;
	access_queue(g->access, s->index, size, g->now);
	g->result.arrived++;
	return true;
}

static double draw(struct grants *g) {
	return (double)(random_next(&g->random) >> 11) * 0x1p-53;
}

enum impairment grants_draw_map(struct grants *g) {
	const double *share = g->impair.share;
	double drawn = draw(g);

	if (drawn < share[IMPAIR_MAP_LOSS])
		return IMPAIR_MAP_LOSS;
	return drawn < share[IMPAIR_MAP_LOSS] + share[IMPAIR_MAP_LATE] ? IMPAIR_MAP_LATE
								       : IMPAIRMENTS;
}

bool grants_draw_request_loss(struct grants *g) {
	bool lost = draw(g) < g->impair.share[IMPAIR_REQUEST_LOSS];

	g->result.requests_lost += lost;
	return lost;
}

bool grants_give_up(struct grants *g, uint32_t stream, uint32_t size) {
	if (access_waiting(g->access, stream) < size)
		return false;
	access_discard(g->access, stream, size);
	g->result.given_up++;
	return true;
}

bool grants_idle(const struct grants *g) {
	struct access_counts c;

	access_counts(g->access, &c);
	if (c.waiting > 0 || g->carrying > 0)
		return false;
	/* a modem that requests endlessly always has grants */
	return g->unused_count == g->event_count || g->result.endless > 0;
}

void grants_result(const struct grants *g, struct grants_result *out) {
	const struct access_counts *before = &g->earlier;
	struct access_counts now;

	*out = g->result;
	access_counts(g->access, &now);
	grants_counts_add(&now, before);
	out->access = now;
	out->refused = g->arrivals.refused;
	out->maps_missing = g->wires.missing;
	out->maps_incomplete = g->wires.incomplete;
	out->maps_bad += g->wires.malformed;
	out->waiting = 0;
	for (uint32_t s = 0; s < g->flows->stream_count; s++)
		out->waiting += g->flows->streams[s].arrived - g->flows->streams[s].made;
}
