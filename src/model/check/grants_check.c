/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks upstream channels: valid physical settings, and MAPs within the limits of their format. */
#include "model/check/grants_check.h"

#include <stdio.h>

#include "model/grants_times.h"
#include "model/units.h"

#define TEXT_SIZE 128
#define SC_QAM_MINISLOTS 4096 /* per MAP of version 1 */
#define OFDMA_MINISLOTS 16383 /* per MAP of version 5, by the size of an offset */
#define WIDE_SYMBOLS 18 /* per frame, at 25 kHz */

static void refuse_above(const struct check_context *p, const char *key, const char *what,
			 uint64_t max) {
	char allowed[TEXT_SIZE];

	snprintf(allowed, sizeof(allowed), "at most %llu%s", (unsigned long long)max, what);
	check_refuse(p, key, allowed);
}

static bool is_power_of_two(unsigned value) {
	return (value & (value - 1)) == 0;
}

/* Reports keys of the other channel type. */
static void check_kind(const struct check_context *p, enum upstream_type type) {
	static const struct {
		const char *key;
		enum upstream_type of;
	} keys[] = {
		{"minislot_ticks", UPSTREAM_SC_QAM},
		{"symbol_rate", UPSTREAM_SC_QAM},
		{"modulation", UPSTREAM_SC_QAM},
		{"burst_minislots", UPSTREAM_SC_QAM},
		{"frame_symbols", UPSTREAM_OFDMA},
		{"cyclic_prefix", UPSTREAM_OFDMA},
		{"subcarrier_spacing", UPSTREAM_OFDMA},
		{"frame_minislots", UPSTREAM_OFDMA},
		{"bits", UPSTREAM_OFDMA},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i].of != type && node_field(p->map, keys[i].key) != NULL)
			check_refuse_without(p, keys[i].key,
					     type == UPSTREAM_OFDMA ? "type: sc-qam"
								    : "type: ofdma");
	}
}

static bool is_prefix(unsigned samples) {
	static const uint16_t all[] = {96, 128, 160, 192, 224, 256, 288, 320, 384, 512, 640};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i] == samples)
			return true;
	}
	return false;
}

/* Returns whether all physical settings are valid (PHY 3.1, 7.4; PHY 3.0, 6.2). */
static bool check_physical(const struct check_context *p, const struct upstream_physical *k) {
	const struct {
		const char *key;
		bool good;
		const char *allowed;
	} all[] = {
		{"minislot_ticks", is_power_of_two(k->minislot_ticks),
		 "1, 2, 4, 8, 16, 32, 64 or 128"},
		{"symbol_rate",
		 k->symbol_rate == 1280 || k->symbol_rate == 2560 || k->symbol_rate == 5120,
		 "1280, 2560 or 5120"},
		{"cyclic_prefix", is_prefix(k->cyclic_prefix),
		 "96, 128, 160, 192, 224, 256, 288, 320, 384, 512 or 640"},
		{"subcarrier_spacing", k->subcarrier_spacing == 25 || k->subcarrier_spacing == 50,
		 "25 or 50"},
		{"frame_symbols", k->subcarrier_spacing == 50 || k->frame_symbols <= WIDE_SYMBOLS,
		 "at most 18 with a subcarrier_spacing of 25"},
		{"data_iuc", k->data_iuc != 7 && k->data_iuc != 8, "5, 6 or 9 to 13"},
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!node_is_valid(p->map, all[i].key))
			return false;
		if (!all[i].good)
			check_refuse(p, all[i].key, all[i].allowed);
		good = good && all[i].good;
	}
	return good;
}

static void check_backoff(const struct check_context *p, uint8_t start, uint8_t end) {
	char allowed[TEXT_SIZE];

	if (!node_is_valid(p->map, "backoff_start") || !node_is_valid(p->map, "backoff_end") ||
	    end >= start)
		return;
	snprintf(allowed, sizeof(allowed), "at least %u, the backoff_start", start);
	check_refuse(p, "backoff_end", allowed);
}

static void check_map_channels(struct check *check, const struct node *map,
			       const struct channel_grants *g, const struct path *up) {
	struct path list = {.up = up, .key = "map_channels"}, path = {.up = &list};
	struct node *items = node_field(map, "map_channels");

	for (struct node *item = items != NULL ? items->first : NULL; item != NULL;
	     item = item->next, path.index++) {
		uint32_t id = g->map_channels[path.index];
		const struct node *earlier = items->first;

		if (!check_resolve(check, &check->channels, item, &id, &path, "channel"))
			continue;
		for (size_t i = 0; i < path.index; i++) {
			if (g->map_channels[i] == g->map_channels[path.index])
				check_duplicate(check, item, &path, "channel", earlier);
			earlier = earlier->next;
		}
	}
}

/* Checks that neither a MAP nor a grant exceeds its limit of bytes, and reports the key that makes
 * minislots too large. Returns whether the bytes per minislot are valid. */
static bool check_minislot(const struct check_context *channel,
			   const struct check_context *physical, const struct upstream_channel *c,
			   const struct grants_times *t) {
	uint32_t max = GRANTS_MAP_BYTES / t->minislots;
	bool by_grant = max > GRANTS_BURST;
	uint64_t rate; /* kbps */

	max = by_grant ? GRANTS_BURST : max;
	if (t->minislot_bytes <= max)
		return true;
	if (c->grants.physical.minislot_bytes != 0) {
		refuse_above(physical, "minislot_bytes", ", as a MAP describes at most 8 MiB", max);
		return false;
	}
	rate = 8 * ((uint64_t)max + 1) * t->frame_minislots * (GRANTS_HZ / 1000) / t->frame;
	refuse_above(channel, "rate",
		     by_grant ? " Mbps, as a grant has at most 60000 bytes"
			      : " Mbps, as a MAP describes at most 8 MiB",
		     (rate - 1) / 1000);
	return false;
}

/* Reports too many minislots for requests: more than half of a MAP, or more than `spare`. */
static void refuse_requests(const struct check_context *contention, uint32_t minislots,
			    uint32_t spare, uint32_t each) {
	uint32_t half = minislots / 2;

	if (half < each)
		refuse_above(contention, "request_minislots", ", half of a MAP's minislots", half);
	else if (half <= spare)
		refuse_above(contention, "request_opportunities",
			     ", with request_minislots half of a MAP's minislots", half / each);
	else
		refuse_above(contention, "request_opportunities",
			     ", as a MAP has beside ranging and a grant", spare / each);
}

/* Checks that requests, a ranging region and a grant fit into one MAP. */
static void check_regions(const struct check_context *physical,
			  const struct check_context *contention,
			  const struct check_context *maintenance, const struct upstream_channel *c,
			  const struct grants_times *t) {
	static const char beside[] = ", as a MAP has beside requests and a grant";
	const struct upstream_contention *k = &c->grants.contention;
	uint32_t request_total = (uint32_t)k->request_minislots * k->request_opportunities;
	uint32_t grant = (GRANTS_MIN + t->minislot_bytes - 1u) / t->minislot_bytes, rest;

	if (c->type == UPSTREAM_SC_QAM)
		grant += c->grants.physical.burst_minislots;
	if (grant + k->request_minislots + 1 > t->minislots) {
		errors_say(physical->check->errors, physical->map->line, physical->up,
			   "a MAP has %u of these minislots, too few for requests, ranging and 128 "
			   "bytes; "
			   "make minislots smaller or upstream.scheduler.map_interval longer",
			   t->minislots);
		return;
	}
	rest = t->minislots - grant;
	if (request_total > t->minislots / 2 || request_total + 1 > rest) {
		refuse_requests(contention, t->minislots, rest - 1, k->request_minislots);
		return;
	}
	rest -= request_total;
	if (c->grants.maintenance.initial_interval > 0 && t->initial_minislots > rest)
		refuse_above(maintenance, "initial_minislots", beside, rest);
	else if (t->station_minislots > rest)
		refuse_above(maintenance, "station_minislots", beside, rest);
}

/* The maps of an upstream channel to which errors refer. */
struct channel_maps {
	struct check_context channel, physical, contention, maintenance;
};

/* Checks that a MAP can describe its minislots, and reports the key that makes them too many. The
 * scheduler repeats these checks (check_map and check_regions in src/scheduler/maps/settings.c). */
static void check_map(const struct channel_maps *p, const struct upstream_channel *c) {
	const struct grants_config *g = &p->channel.check->sg->upstream.scheduler;
	uint32_t max = c->type == UPSTREAM_OFDMA ? OFDMA_MINISLOTS : SC_QAM_MINISLOTS;
	struct grants_times t;

	if (g->map_interval == 0)
		return; /* the reader refused it */
	t = grants_times_of(g, c);
	if (t.minislots > max)
		errors_say(p->channel.check->errors, p->physical.map->line, p->physical.up,
			   "a MAP has %u of these minislots, allowed: at most %u; make minislots "
			   "larger or "
			   "upstream.scheduler.map_interval shorter",
			   t.minislots, max);
	else if (check_minislot(&p->channel, &p->physical, c, &t))
		check_regions(&p->physical, &p->contention, &p->maintenance, c, &t);
}

/* If the channel does not have the map, errors are reported at the channel's line. */
static struct check_context map_of(const struct check_context *channel, const char *key,
				   struct path *path) {
	const struct node *map = node_field(channel->map, key);

	*path = (struct path){.up = channel->up, .key = key};
	return (struct check_context){channel->check, map != NULL ? map : channel->map, path};
}

static bool all_sound(const struct node *map) {
	static const char *const keys[] = {"type", "rate", "physical", "contention", "maintenance"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!node_is_valid(map, keys[i]))
			return false;
	}
	return true;
}

void grants_check_channel(struct check *check, const struct node *map,
			  const struct upstream_channel *c, const struct path *up) {
	struct check_context channel = {check, map, up};
	struct path paths[3];
	const struct channel_maps p = {
		.channel = channel,
		.physical = map_of(&channel, "physical", &paths[0]),
		.contention = map_of(&channel, "contention", &paths[1]),
		.maintenance = map_of(&channel, "maintenance", &paths[2]),
	};
	const struct channel_grants *g = &c->grants;
	bool scheduled = check->sg->upstream.scheduled, good;

	check_map_channels(check, map, g, up);
	if (scheduled && node_field(map, "id") != NULL && c->id > UINT8_MAX)
		refuse_above(&channel, "id", " with upstream.scheduler, as MAPs have 8 bits for it",
			     UINT8_MAX);
	if (!all_sound(map))
		return;
	if (p.physical.map != map)
		check_kind(&p.physical, c->type);
	good = check_physical(&p.physical, &g->physical);
	if (p.contention.map != map)
		check_backoff(&p.contention, g->contention.backoff_start,
			      g->contention.backoff_end);
	if (p.maintenance.map != map)
		check_backoff(&p.maintenance, g->maintenance.backoff_start,
			      g->maintenance.backoff_end);
	if (good && scheduled && g->contention.request_minislots > 0 &&
	    g->contention.request_opportunities > 0)
		check_map(&p, c);
}

void grants_add_sessions(struct check *check, struct node *root, struct unique_set *sessions) {
	static const struct unique_path given = {{"upstream_channels"}, "map_session", "session"},
					by_id = {{"upstream_channels"},
						 "id",
						 "default map_session of channel"};
	struct node *list = node_field(root, "upstream_channels");
	size_t index[UNIQUE_LISTS] = {0};

	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next, index[0]++) {
		const struct node *map = node_resolve(item);
		struct upstream_channel *c = &check->sg->upstream_channels[index[0]];
		uint32_t session = grants_map_session(c);

		if (node_field(map, "map_session") != NULL)
			unique_add_at(sessions, &given, &session, sizeof(session),
				      node_present(map, "map_session"), index);
		else if (check->sg->upstream.scheduled &&
			 node_present(map, "map_session") == NULL && node_field(map, "id") != NULL)
			unique_add_at(sessions, &by_id, &session, sizeof(session),
				      node_present(map, "id"), index);
		if (check->sg->upstream.scheduled)
			/* so changes in service cannot use the session either */
			c->grants.map_session = session;
	}
}
