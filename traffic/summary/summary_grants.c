/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports the requests, MAPs and grants of scheduled modems. */
#include "summary/summary_grants.h"

#include <inttypes.h>

struct entry {
	const char *name;
	uint64_t value;
};

static void entries_set(json_t *o, const char *key, const struct entry *entries, size_t n) {
	json_t *counts = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(counts, entries[i].name,
				    json_integer((json_int_t)entries[i].value));
	json_object_set_new(o, key, counts);
}

#define ENTRIES(o, key, entries) \
	entries_set(o, key, entries, sizeof(entries) / sizeof((entries)[0]))

static void set_packets(json_t *o, const struct grants_result *r) {
	const struct entry entries[] = {
		{"arrived", r->arrived}, /* at the modems' queues */
		{"waiting", r->waiting}, /* at the end */
		{"queue_full", r->refused},
		{"given_up", r->given_up},
	};

	ENTRIES(o, "packets", entries);
}

static void set_requests(json_t *o, const struct grants_result *r) {
	const struct entry entries[] = {
		{"contention", r->access.contention},
		{"poll", r->access.polls},
		{"piggyback", r->access.piggybacks},
		{"records", r->records},
		{"frames", r->frames},
		{"lost", r->requests_lost},
		{"collisions", r->access.collisions},
		{"collided", r->access.collided},
		{"unanswered", r->access.unanswered},
		{"bytes", r->access.requested},
		{"heard_bytes", r->heard_bytes},
		{"unanswered_alone", r->access.unanswered - r->access.unanswered_contended},
	};

	ENTRIES(o, "requests", entries);
}

static void set_maps(json_t *o, const struct grants_result *r) {
	const struct entry entries[] = {
		{"seen", r->maps},
		{"late", r->access.late_maps},
		{"missing", r->maps_missing},
		{"torn", r->maps_incomplete},
		{"bad", r->maps_bad},
		{"lost", r->maps_lost},
		{"delayed", r->maps_delayed},
		{"wrong", r->access.wrong_ucd + r->access.wrong_maps},
		{"skipped", r->watched.skipped},
		{"ucds", r->ucds},
		{"clock_jumps", r->clock_jumps},
	};

	ENTRIES(o, "maps", entries);
}

static void set_faults(json_t *o, const struct grants_result *r) {
	json_t *faults = json_object();

	for (int i = 0; i < MAP_FAULTS; i++)
		json_object_set_new(faults, map_fault_names[i],
				    json_integer((json_int_t)r->watched.faults[i]));
	json_object_set_new(o, "map_faults", faults);
}

static void set_bytes(json_t *o, const struct grants_result *r) {
	const struct access_counts *a = &r->access;
	const struct entry entries[] = {
		{"granted", a->granted},       {"used", a->used},	{"unused", a->unused},
		{"late", a->late_bytes},       {"lost", a->lost_bytes}, {"silent", a->silent_bytes},
		{"coming", a->pending_grants}, {"beyond", a->beyond},	{"sent", a->sent},
		{"queued", a->queued},	       {"waiting", a->waiting}, {"discarded", a->discarded},
	};

	ENTRIES(o, "bytes", entries);
}

static void set_bursts(json_t *o, const struct grants_result *r) {
	const struct entry entries[] = {
		{"all", r->access.bursts},
		{"empty", r->access.empty_bursts},
		{"oversized", r->oversized},
		{"late", r->access.late_grants},
		{"unknown", r->access.unknown_grants},
		{"stations", r->access.stations},
		{"excessive", r->access.excessive},
		{"partial", r->access.partial},
	};

	ENTRIES(o, "bursts", entries);
}

static void set_channels(json_t *o, const struct grants_result *r) {
	json_t *channels = json_array();

	for (uint32_t c = 0; c < r->channels; c++) {
		const struct grants_use *u = &r->use[c];
		const struct entry entries[] = {
			{"data", u->data},	 {"request", u->request}, {"initial", u->initial},
			{"station", u->station}, {"idle", u->idle},
		};
		json_t *channel = json_pack("{s:I, s:I}", "id", (json_int_t)u->id, "maps",
					    (json_int_t)u->maps);

		ENTRIES(channel, "minislots", entries);
		json_array_append_new(channels, channel);
	}
	json_object_set_new(o, "channels", channels);
}

void summary_grants_set(json_t *o, const struct grants_result *r) {
	const struct entry modems[] = {
		{"silent", r->silent}, {"beyond", r->beyond}, {"endless", r->endless}};
	json_t *grants = json_object();

	set_packets(grants, r);
	set_requests(grants, r);
	set_maps(grants, r);
	set_faults(grants, r);
	set_bytes(grants, r);
	set_bursts(grants, r);
	set_channels(grants, r);
	ENTRIES(grants, "modems", modems);
	json_object_set_new(grants, "limited", json_boolean(r->limited));
	json_object_set_new(o, "grants", grants);
}

static double share(uint64_t part, uint64_t whole) {
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

void summary_grants_print(FILE *out, const struct grants_result *r) {
	const struct access_counts *a = &r->access;

	fprintf(out,
		"%-12s %14" PRIu64 " in contention, %" PRIu64 " piggybacked, %" PRIu64
		" polled, %" PRIu64 " collisions, %" PRIu64 " repeated\n",
		"requests", a->contention, a->piggybacks, a->polls, a->collisions, a->unanswered);
	fprintf(out, "%-12s %14" PRIu64 " bytes, %.2f %% used, %.2f %% late\n", "granted",
		a->granted, share(a->used, a->granted), share(a->late_bytes, a->granted));
	fprintf(out, "%-12s %14" PRIu64 " seen, %" PRIu64 " late, %" PRIu64 " missing\n", "MAPs",
		r->maps, a->late_maps, r->maps_missing);
	if (r->refused + r->given_up + r->waiting > 0)
		fprintf(out,
			"%-12s %14" PRIu64 " found full queues, %" PRIu64 " given up, %" PRIu64
			" still wait\n",
			"not sent", r->refused, r->given_up, r->waiting);
	for (uint32_t c = 0; c < r->channels; c++) {
		const struct grants_use *u = &r->use[c];
		uint64_t all = u->data + u->request + u->initial + u->station + u->idle;

		fprintf(out, "  %-10s %4" PRIu32 "  data %.1f %%, requests %.1f %%, idle %.1f %%\n",
			"channel", u->id, share(u->data, all), share(u->request, all),
			share(u->idle, all));
	}
}
