/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes received MAPs and UCDs. */
#include <rte_common.h>

#include "grants/grants.h"
#include "wire/map.h"

#define LATE 20480000 /* samples, 100 ms: a MAP received so late describes only past minislots */
#define UCD_CHANNEL 0 /* offsets in the body of a UCD */
#define UCD_COUNT 1
#define UCD_HEADER 4

static void element_count(struct grants_use *use, const struct map_element *e, uint32_t minislots) {
	if (e->sid == 0)
		use->idle += minislots;
	else if (e->iuc == MAP_REQUEST || e->iuc == MAP_REQUEST_DATA)
		use->request += minislots;
	else if (e->iuc == MAP_INITIAL)
		use->initial += minislots;
	else if (e->iuc == MAP_STATION)
		use->station += minislots;
	else
		use->data += minislots;
}

static void map_count(struct grants_use *use, const struct map *map) {
	use->maps++;
	for (unsigned i = 0; i + 1 < map->count && map->elements[i].iuc != MAP_NULL; i++)
		element_count(use, &map->elements[i],
			      (uint32_t)map->elements[i + 1].offset - map->elements[i].offset);
}

/* Before the first UCD the count of the MAPs applies: the modems registered before the run. */
static void ucd_learn(struct grants *g, uint32_t channel, uint8_t count) {
	if (g->ucd_count[channel] != count)
		access_set_ucd(g->access, (uint16_t)channel, count);
	g->ucd_count[channel] = count;
}

/* DOCSIS time at which the message was received; g->now is that of the round. */
static uint64_t grants_time(struct grants *g) {
	uint64_t now;

	clock_tick(&g->worker);
	now = docsis_clock_time(&g->clock, g->worker.now);
	return now > g->now ? now : g->now;
}

static void map_process(struct grants *g, uint32_t channel, const struct management *m) {
	struct map map;
	uint64_t now = grants_time(g), received = now + g->interleaver;
	enum impairment impairment;

	if (map_read(&map, m->version, m->body, m->body_size) != MAP_OK ||
	    map_check(&map) != MAP_OK) {
		g->result.maps_bad++;
		return;
	}
	g->result.maps++;
	map_count(&g->result.use[channel], &map);
	map_watch_check(&g->watches[channel], g->sg, channel, &map, now, &g->result.watched);
	if (!g->ucd_known[channel])
		ucd_learn(g, channel, map.ucd_count);
	impairment = grants_draw_map(g);
	if (impairment == IMPAIR_MAP_LOSS) {
		g->result.maps_lost++;
		return;
	}
	if (impairment == IMPAIR_MAP_LATE) {
		g->result.maps_delayed++;
		received += LATE;
	}
	access_map(g->access, (uint16_t)channel, &map, received);
}

static void message_process(void *ctx, uint32_t channel, const struct management *m) {
	struct grants *g = ctx;

	switch (m->type) {
	case MANAGEMENT_MAP: map_process(g, channel, m); break;
	case MANAGEMENT_UCD:
	case MANAGEMENT_UCD_TYPE_29:
	case MANAGEMENT_UCD_TYPE_35:
	case MANAGEMENT_UCD_TYPE_51:
		g->result.ucds++;
		if (m->body_size < UCD_HEADER ||
		    m->body[UCD_CHANNEL] != (uint8_t)g->sg->upstream_channels[channel].id)
			break;
		g->ucd_known[channel] = true;
		ucd_learn(g, channel, m->body[UCD_COUNT]);
		break;
	default: break; /* messages that modems without a physical layer ignore */
	}
}

unsigned grants_receive_maps(struct grants *g, struct rte_mbuf **frames, unsigned n) {
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++) {
		if (map_pseudowires_receive(&g->wires, frames[i], message_process, g))
			rte_pktmbuf_free(frames[i]);
		else
			frames[left++] = frames[i];
	}
	return left;
}
