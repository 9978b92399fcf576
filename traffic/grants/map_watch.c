/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares received MAPs with each other, with the clock and with the configuration. */
#include "grants/map_watch.h"

#include "model/grants_times.h"
#include "pipeline/docsis_clock.h"

const char *const map_fault_names[MAP_FAULTS] = {
#define MAP_FAULT(enumerator, name, meaning) name,
#include "grants/map_fault.def"
#undef MAP_FAULT
};

/* A MAP and the configuration of its channel. */
struct watched_map {
	const struct map *map;
	const struct channel_grants *set;
	struct grants_times times;
	uint32_t burst; /* minislots of a grant that carry no data */
};

/* MAPs describe consecutive time (MULPI 3.1, 6.4.4). The CMTS may skip whole MAPs; their minislots
 * stay unused. */
static void tile(struct map_watch *w, const struct watched_map *l, struct map_watch_counts *c) {
	uint32_t minislots = l->times.minislots;
	int32_t ahead = (int32_t)(l->map->alloc_start - w->end);

	c->faults[MAP_FAULT_LENGTH] += map_minislots(l->map) != minislots;
	if (w->started && ahead < 0)
		c->faults[MAP_FAULT_OVERLAP]++;
	else if (w->started && (uint32_t)ahead % minislots != 0)
		c->faults[MAP_FAULT_GAP]++;
	else if (w->started)
		c->skipped += (uint32_t)ahead / minislots;
	w->started = true;
	w->end = l->map->alloc_start + map_minislots(l->map);
}

/* The ack time must be that of the last minislot in which a request can arrive for a grant in this
 * MAP: no later, and earlier by less than a frame (MULPI 3.1, 7.2.1.6). */
static bool ack_good(const struct watched_map *l) {
	uint32_t behind = l->map->alloc_start - l->map->ack_time;
	uint64_t samples = (uint64_t)behind * l->times.frame / l->times.frame_minislots;

	return samples >= l->times.ack_delay && samples < l->times.ack_delay + l->times.frame;
}

/* DOCSIS_CLOCK_JUMP_NS exceeds the difference of two programs' clocks. The 32-bit count is extended
 * to the 64-bit count nearest to now. */
static bool early(const struct watched_map *l, uint64_t now) {
	uint64_t near = now / l->times.frame * l->times.frame_minislots;
	int64_t ahead = (int32_t)(l->map->alloc_start - (uint32_t)near);
	int64_t start = ((int64_t)near + ahead) / l->times.frame_minislots * l->times.frame;

	return start > (int64_t)(now + l->times.lead + grants_samples(DOCSIS_CLOCK_JUMP_NS));
}

static bool back_off_good(const struct watched_map *l) {
	const struct upstream_contention *data = &l->set->contention;
	const struct upstream_maintenance *ranging = &l->set->maintenance;

	return l->map->data_start >= data->backoff_start && l->map->data_end == data->backoff_end &&
	       l->map->ranging_start == ranging->backoff_start &&
	       l->map->ranging_end == ranging->backoff_end;
}

static void elements(const struct watched_map *l, struct map_watch_counts *c) {
	uint32_t opportunities = 0;
	bool useless = false;

	for (unsigned i = 0; i + 1 < l->map->count && l->map->elements[i].iuc != MAP_NULL; i++) {
		const struct map_element *e = &l->map->elements[i];
		uint32_t minislots = (uint32_t)e[1].offset - e->offset;

		if (e->iuc == MAP_REQUEST && e->sid == MAP_SID_BROADCAST)
			opportunities += minislots / l->set->contention.request_minislots;
		useless |= map_iuc_is_data(e->iuc) && e->sid != 0 && minislots <= l->burst;
	}
	c->faults[MAP_FAULT_REQUESTS] += opportunities < l->set->contention.request_opportunities;
	c->faults[MAP_FAULT_GRANT] += useless;
}

void map_watch_check(struct map_watch *w, const struct service_group *sg, uint32_t channel,
		     const struct map *map, uint64_t now, struct map_watch_counts *c) {
	const struct upstream_channel *u = &sg->upstream_channels[channel];
	const struct watched_map l = {
		.map = map,
		.set = &u->grants,
		.times = grants_times_of(&sg->upstream.scheduler, u),
		.burst = u->type == UPSTREAM_SC_QAM ? u->grants.physical.burst_minislots : 0,
	};

	tile(w, &l, c);
	c->faults[MAP_FAULT_ACK] += !ack_good(&l);
	c->faults[MAP_FAULT_EARLY] += early(&l, now);
	c->faults[MAP_FAULT_BACK_OFF] += !back_off_good(&l);
	elements(&l, c);
}
