/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "numbers.h"
#include "upstream/loop.h"

#define UNITS 16000. /* us/16 per ms */

static json_t *count(uint64_t value) {
	return json_integer((json_int_t)value);
}

static json_t *share(uint64_t part, uint64_t whole) {
	return whole > 0 ? numbers_real((double)part / (double)whole) : json_null();
}

/* Measured time. */
static double seconds(const struct loop *l) {
	return (double)(l->scenario->duration - l->scenario->warmup) / MAPS_HZ;
}

static json_t *latency(const struct hdr_histogram *h) {
	static const struct numbers_quantile quantiles[] = {
		{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99_9", 99.9}, {"max", 100}};
	json_t *out = json_object();

	if (h->total_count == 0)
		return out;
	json_object_set_new(out, "min", numbers_real((double)hdr_min(h) / UNITS));
	numbers_quantiles(out, h, UNITS, quantiles, sizeof(quantiles) / sizeof(quantiles[0]));
	return out;
}

/* Sets `min` and `max` of each group: bytes of its flows with least and most. */
static void extremes(struct loop *l) {
	uint32_t number = 0;

	for (uint32_t g = 0; g < l->scenario->group_count; g++) {
		struct loop_measure *m = &l->measures[g];

		m->min = UINT64_MAX;
		for (uint32_t i = 0; i < l->scenario->groups[g].count; i++, number++) {
			uint64_t bytes = l->carried[number];

			m->min = bytes < m->min ? bytes : m->min;
			m->max = bytes > m->max ? bytes : m->max;
		}
	}
}

static json_t *flows(struct loop *l) {
	json_t *out = json_array();

	extremes(l);
	for (uint32_t g = 0; g < l->scenario->group_count; g++) {
		const struct loop_measure *m = &l->measures[g];
		json_t *flow = json_object();

		json_object_set_new(flow, "label", json_string(l->scenario->groups[g].label));
		json_object_set_new(flow, "count", count(l->scenario->groups[g].count));
		json_object_set_new(flow, "packets", count(m->packets));
		json_object_set_new(flow, "bytes", count(m->bytes));
		json_object_set_new(flow, "mbps",
				    numbers_real((double)m->bytes * 8e-6 / seconds(l)));
		json_object_set_new(flow, "least_bytes", count(m->min));
		json_object_set_new(flow, "most_bytes", count(m->max));
		json_object_set_new(flow, "given_up", count(m->given_up));
		json_object_set_new(flow, "latency_ms", latency(m->latency));
		json_array_append_new(out, flow);
	}
	return out;
}

/* Minislots by use; `used` of those for data. */
static json_t *use(const struct maps_counts *before, const struct maps_counts *after,
		   uint64_t used) {
	uint64_t all = after->minislots - before->minislots;
	uint64_t data = after->data_minislots - before->data_minislots;
	uint64_t requests = after->request_minislots - before->request_minislots;
	uint64_t ranging = after->initial_minislots + after->station_minislots -
			   before->initial_minislots - before->station_minislots;
	json_t *out = json_object();

	json_object_set_new(out, "maps", count(after->maps - before->maps));
	json_object_set_new(out, "late_maps", count(after->late - before->late));
	json_object_set_new(out, "minislots", count(all));
	json_object_set_new(out, "data_minislots", count(data));
	json_object_set_new(out, "used_minislots", count(used));
	json_object_set_new(out, "data", share(data, all));
	json_object_set_new(out, "contention", share(requests, all));
	json_object_set_new(out, "maintenance", share(ranging, all));
	json_object_set_new(out, "idle", share(all - data - requests - ranging, all));
	json_object_set_new(out, "data_used", share(used, data));
	json_object_set_new(out, "grants", count(after->grants - before->grants));
	json_object_set_new(out, "pendings", count(after->pendings - before->pendings));
	return out;
}

static void add(struct maps_counts *sum, const struct maps_counts *c) {
	sum->maps += c->maps;
	sum->late += c->late;
	sum->grants += c->grants;
	sum->pendings += c->pendings;
	sum->minislots += c->minislots;
	sum->data_minislots += c->data_minislots;
	sum->request_minislots += c->request_minislots;
	sum->initial_minislots += c->initial_minislots;
	sum->station_minislots += c->station_minislots;
}

/* Returns the use of each channel; `sum` gets that of all together. */
static json_t *channels(const struct loop *l, json_t **sum) {
	struct maps_counts before = {0}, after = {0};
	json_t *out = json_array();

	for (uint32_t i = 0; i < l->scenario->channel_count; i++) {
		add(&before, &l->maps_before[i]);
		add(&after, &l->maps_after[i]);
		json_array_append_new(
			out, use(&l->maps_before[i], &l->maps_after[i], l->used_channel[i]));
	}
	*sum = use(&before, &after, l->used_minislots);
	return out;
}

/* A counter in struct access_counts, and its JSON key. */
struct counter {
	const char *name;
	size_t at;
};

#define NAMED(name, member) {name, offsetof(struct access_counts, member)}
#define COUNTER(key) NAMED(#key, key)

static const struct counter request_members[] = {
	COUNTER(contention), COUNTER(polls),	COUNTER(piggybacks), NAMED("asked", requested),
	COUNTER(collisions), COUNTER(collided), COUNTER(unanswered), COUNTER(given_up),
};
/* clang-format off */
static const struct counter account_members[] = {
	COUNTER(queued),      COUNTER(sent),	       COUNTER(discarded), COUNTER(waiting),
	COUNTER(granted),     COUNTER(used),	       COUNTER(unused),	   COUNTER(silent_bytes),
	COUNTER(late_bytes),  COUNTER(lost_bytes),     NAMED("coming", pending_grants),	   COUNTER(beyond),
	COUNTER(bursts),      COUNTER(empty_bursts),   COUNTER(maps),	   COUNTER(late_maps),
	COUNTER(late_grants), COUNTER(lost_grants),    COUNTER(wrong_ucd), COUNTER(wrong_maps),
	COUNTER(too_many),    COUNTER(unknown_grants),
};
/* clang-format on */

static uint64_t value_of(const struct access_counts *c, const struct counter *of) {
	uint64_t value;

	memcpy(&value, (const char *)c + of->at, sizeof(value));
	return value;
}

/* Requests after the warm-up. */
static json_t *requests(const struct loop *l) {
	json_t *out = json_object();

	for (size_t i = 0; i < sizeof(request_members) / sizeof(request_members[0]); i++)
		json_object_set_new(out, request_members[i].name,
				    count(value_of(&l->access_after, &request_members[i]) -
					  value_of(&l->access_before, &request_members[i])));
	json_object_set_new(out, "lost", count(l->lost_requests));
	json_object_set_new(out, "taken", count(l->verdicts[MAPS_ACCEPTED]));
	json_object_set_new(out, "cut", count(l->verdicts[MAPS_CAPPED]));
	json_object_set_new(out, "refused",
			    count(l->verdicts[MAPS_NO_FLOW] + l->verdicts[MAPS_NOTHING]));
	return out;
}

/* Byte accounts of the modems in the whole run, which must balance. */
static json_t *accounts(const struct loop *l) {
	json_t *out = json_object();

	for (size_t i = 0; i < sizeof(account_members) / sizeof(account_members[0]); i++)
		json_object_set_new(out, account_members[i].name,
				    count(value_of(&l->access_after, &account_members[i])));
	return out;
}

json_t *loop_result(struct loop *l) {
	json_t *out = json_object(), *sum;

	json_object_set_new(out, "seconds", numbers_real(seconds(l)));
	json_object_set_new(out, "packets", count(l->packets));
	json_object_set_new(out, "flows", flows(l));
	json_object_set_new(out, "channels", channels(l, &sum));
	json_object_set_new(out, "use", sum);
	json_object_set_new(out, "requests", requests(l));
	json_object_set_new(out, "accounts", accounts(l));
	return out;
}
