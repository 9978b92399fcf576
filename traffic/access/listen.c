/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses a MAP: contention regions, opportunities of single flows, grants pending, acknowledgement. */
#include "access/answers.h"
#include "access/contend.h"
#include "access/grants.h"
#include "access/map_reception.h"

/* Extends a MAP's 32-bit minislot count to the 64-bit count nearest to the minislot at time `at`. */
static uint64_t whole_count(const struct access *a, const struct access_line *l, uint32_t count,
			    uint64_t at) {
	uint64_t near = at > a->start ? (at - a->start) / l->set.frame * l->set.frame_minislots : 0;
	int64_t ahead = (int32_t)(count - (uint32_t)near);

	return ahead < 0 && near < (uint64_t)-ahead ? 0 : near + (uint64_t)ahead;
}

/* Number of elements that describe minislots; 0 if they are out of order or lack an end. */
static unsigned described(const struct map *map) {
	unsigned end = map->count < MAP_ELEMENTS_5 ? map->count : MAP_ELEMENTS_5;

	for (unsigned i = 0; i < end; i++) {
		if (i > 0 && map->elements[i].offset < map->elements[i - 1].offset)
			return 0;
		if (map->elements[i].iuc == MAP_NULL && map->elements[i].sid == 0)
			return i + 1;
	}
	return 0;
}

static bool is_grant(uint8_t iuc) {
	return iuc == MAP_REQUEST || iuc == MAP_STATION || map_iuc_is_data(iuc);
}

static void process_element(struct access *a, struct access_line *l,
			    const struct access_map_reception *map, const struct grants_element *e,
			    uint64_t ack) {
	struct access_region r = {*map, e->minislot, e->minislots / l->set.request_minislots};

	if (e->sid == 0)
		return; /* no flow */
	if (e->sid == MAP_SID_BROADCAST) {
		if (e->iuc == MAP_REQUEST && r.count > 0)
			contend_add(l, &r);
	} else if (e->minislots == 0 && map_iuc_is_data(e->iuc)) {
		grants_pending(a, l, map, e->sid, ack);
	} else if (e->minislots > 0 && is_grant(e->iuc)) {
		grants_add(a, l, map, e);
	}
}

static void process_elements(struct access *a, struct access_line *l, const struct map *map,
			     const struct access_map_reception *received, uint64_t first,
			     uint64_t ack) {
	unsigned end = described(map);

	for (unsigned i = 0; i < map->count && i < MAP_ELEMENTS_5; i++) {
		const struct map_element *m = &map->elements[i];
		struct grants_element e = {m->sid & (ACCESS_SIDS - 1), m->iuc, first + m->offset,
					   0};

		if (i + 1 < end)
			e.minislots = map->elements[i + 1].offset - m->offset;
		if (m->iuc != MAP_NULL)
			process_element(a, l, received, &e, ack);
	}
	l->end = first + map->elements[end - 1].offset;
}

/* Sets the largest window of a group's channels, as its flows count opportunities over all of them. */
static void widen(const struct access *a, struct access_group *g) {
	g->start = g->end = 0;
	for (uint64_t left = g->channels; left != 0; left &= left - 1) {
		const struct access_line *l = &a->lines[__builtin_ctzll(left)];

		g->start = l->window_start > g->start ? l->window_start : g->start;
		g->end = l->window_end > g->end ? l->window_end : g->end;
	}
}

static void process_windows(struct access *a, struct access_line *l, const struct map *map) {
	uint64_t bit = UINT64_C(1) << (l - a->lines);

	l->window_start = map->data_start & 15;
	l->window_end = map->data_end & 15;
	for (uint32_t i = 0; i < a->group_count; i++)
		if (a->groups[i].channels & bit)
			widen(a, &a->groups[i]);
}

/* The MAP is too late even for the nearest and fastest modem. */
static bool late_for_all(const struct access *a, const struct access_map_reception *received) {
	return (int64_t)(received->received) + a->min > (int64_t)received->start;
}

void access_map(struct access *a, uint16_t channel, const struct map *map, uint64_t received) {
	struct access_line *l = &a->lines[channel];
	uint64_t first = whole_count(a, l, map->alloc_start, received);
	uint64_t acknowledged = whole_count(a, l, map->ack_time, received);
	/* The CMTS cannot have seen requests after the start of the MAP. */
	uint64_t ack = access_time(a, l, acknowledged < first ? acknowledged : first);
	struct access_map_reception h = {received, access_time(a, l, first), a->counts.maps};

	a->counts.maps++;
	if (map->channel != l->set.id || map->ucd_count != l->set.ucd_count) {
		a->counts.wrong_ucd++;
		return;
	}
	if (described(map) == 0 || first < l->end || h.start > received + ACCESS_AHEAD) {
		a->counts.wrong_maps++;
		return;
	}
	a->counts.late_maps += late_for_all(a, &h);
	process_windows(a, l, map);
	process_elements(a, l, map, &h, first, ack);
	answers_acknowledge(a, l, &h, ack);
	contend_schedule(a, l, a->now);
}
