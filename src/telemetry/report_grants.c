/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/report_grants.h"

#include <inttypes.h>

/* The reported counters of a channel, and of all channels. */
static const struct {
	const char *name;
	size_t offset;
} reported[] =
	{
#define REPORTED(name) {#name, offsetof(struct maps_counts, name)}
		REPORTED(maps),
		REPORTED(late),
		REPORTED(grants),
		REPORTED(granted_bytes),
		REPORTED(unsolicited_bytes),
		REPORTED(pendings),
		REPORTED(polls),
		REPORTED(missed),
		REPORTED(belated),
	},
  counter_members[] =
	  {
		  {"asked_bytes", offsetof(struct maps_counts, requested_bytes)},
		  REPORTED(forgotten_bytes),
		  REPORTED(owed_bytes),
	  },
  minislots[] = {
	  {"all", offsetof(struct maps_counts, minislots)},
	  {"data", offsetof(struct maps_counts, data_minislots)},
	  {"request", offsetof(struct maps_counts, request_minislots)},
	  {"initial", offsetof(struct maps_counts, initial_minislots)},
	  {"station", offsetof(struct maps_counts, station_minislots)},
#undef REPORTED
  };

static uint64_t value(const struct maps_counts *c, size_t offset) {
	return *(const uint64_t *)(const void *)((const char *)c + offset);
}

static void put(json_t *to, const char *name, uint64_t number) {
	json_object_set_new(to, name, json_integer((json_int_t)number));
}

static void counts_put(json_t *to, const struct maps_counts *c) {
	json_t *use = json_object();

	for (unsigned i = 0; i < RTE_DIM(reported); i++)
		put(to, reported[i].name, value(c, reported[i].offset));
	for (unsigned i = 0; i < RTE_DIM(minislots); i++)
		put(use, minislots[i].name, value(c, minislots[i].offset));
	json_object_set_new(to, "minislots", use);
}

static void counts_add(struct maps_counts *into, const struct maps_counts *from) {
	uint64_t *to = (uint64_t *)(void *)into;
	const uint64_t *more = (const uint64_t *)(const void *)from;

	for (size_t i = 0; i < sizeof(*into) / sizeof(*to); i++)
		to[i] += more[i];
}

static json_t *channels_json(const struct served_group *g) {
	json_t *list = json_array();

	for (uint32_t i = 0; i < g->upstream->grant.channel_count; i++) {
		json_t *channel = json_object();
		struct maps_counts c;

		maps_counts(g->upstream->grant.maps, i, &c);
		put(channel, "id", g->sg->upstream_channels[i].id);
		counts_put(channel, &c);
		json_array_append_new(list, channel);
	}
	return list;
}

static bool has_grants(const struct served_group *g) {
	return g->in_service && g->upstream != NULL && upstream_grants(g->upstream);
}

/* The delay from the due time of messages until the R-PHY port has them, without messages that
 * waited for the port's first link. */
static json_t *delay_json(const struct served_group *groups, unsigned count) {
	uint64_t delayed = 0, sum = 0, max = 0;

	for (unsigned g = 0; g < count; g++) {
		const struct ds_lower *l;

		if (!has_grants(&groups[g]))
			continue;
		l = &groups[g].downstream->lower;
		delayed += l->messages.delayed;
		sum += l->messages.delay_sum;
		max = RTE_MAX(max, l->messages.delay_max);
	}
	return json_pack("{s:f, s:f}", "mean",
			 delayed > 0 ? (double)sum / (double)delayed / 1e3 : 0.0, "max",
			 (double)max / 1e3);
}

json_t *report_grants_json(const struct served_group *groups, unsigned count) {
	struct maps_counts sum = {0};
	unsigned granting = 0;
	json_t *json;

	for (unsigned g = 0; g < count; g++) {
		struct maps_counts c;

		if (!has_grants(&groups[g]))
			continue;
		maps_counts(groups[g].upstream->grant.maps, MAPS_NONE, &c);
		counts_add(&sum, &c);
		granting++;
	}
	if (granting == 0)
		return NULL;
	json = json_object();
	counts_put(json, &sum);
	for (unsigned i = 0; i < RTE_DIM(counter_members); i++)
		put(json, counter_members[i].name, value(&sum, counter_members[i].offset));
	json_object_set_new(json, "message_delay_us", delay_json(groups, count));
	if (count == 1)
		json_object_set_new(json, "channels", channels_json(&groups[0]));
	return json;
}

static double percent(uint64_t part, const struct maps_counts *c) {
	return c->minislots > 0 ? 100.0 * (double)part / (double)c->minislots : 0;
}

void report_grants_print(FILE *out, const struct served_group *g) {
	struct maps_counts c;

	if (!has_grants(g))
		return;
	maps_counts(g->upstream->grant.maps, MAPS_NONE, &c);
	fprintf(out,
		"upstream scheduler: %" PRIu64 " MAPs, %" PRIu64 " late; %" PRIu64
		" grants of %" PRIu64 " bytes, %" PRIu64 " bytes owed\n"
		"  minislots: %.1f %% data, %.1f %% requests, %.1f %% ranging\n",
		c.maps, c.late, c.grants, c.granted_bytes, c.owed_bytes,
		percent(c.data_minislots, &c), percent(c.request_minislots, &c),
		percent(c.initial_minislots + c.station_minislots, &c));
}
