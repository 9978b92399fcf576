/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests on random scenarios that the upstream scheduler makes the same MAPs as a model. */
#include "maps_kit.h"
#include "maps_model.h"
#include "random.h"
#include "test_main.h"

#define SCENARIOS 400
#define STEPS 300

struct lockstep {
	struct random random;
	struct model model;
	struct kit kit;
	uint32_t flows;
	bool exists[MODEL_FLOWS];
	uint64_t seed;
};

/* Short MAPs, in which rare cases are frequent. */
static struct maps_channel random_channel(struct random *r, uint8_t id, bool equal) {
	struct maps_channel c = equal || random_below(r, 2) ? kit_ofdma(id) : kit_sc_qam(id);

	c.minislot_bytes = (uint16_t)random_between(r, 5, 60);
	if (c.kind == MAPS_OFDMA) {
		c.frame_minislots = (uint16_t)random_between(r, 1, 235);
		c.interval = c.frame * random_between(r, 1, 15);
		c.burst_minislots = 0;
	} else {
		c.interval = 1280 * random_between(r, 40, 600);
	}
	c.request_minislots = (uint16_t)random_between(r, 1, 4);
	c.request_opportunities = (uint16_t)random_between(r, 1, 6);
	c.initial_minislots = (uint16_t)random_below(r, 30);
	c.initial_interval = c.initial_minislots == 0 || random_below(r, 8) == 0
				     ? 0
				     : (uint32_t)US(random_between(r, 1, 20000));
	if (c.initial_interval == 0) /* off: these are ignored */
		c.initial_minislots = (uint16_t)random_below(r, 600);
	c.station_minislots = (uint16_t)random_below(r, 12);
	if (random_below(r, 4) == 0) /* all that initial maintenance and requests leave */
		c.station_minislots =
			(uint16_t)(c.frame_minislots * (c.interval / c.frame) -
				   c.request_opportunities * c.request_minislots -
				   (c.initial_interval != 0 ? c.initial_minislots : 0));
	c.max_burst_minislots = random_below(r, 3) ? 0 : (uint16_t)random_between(r, 40, 400);
	c.ack_delay = (uint32_t)US(random_between(r, 0, 6000));
	c.lead = (uint32_t)US(random_between(r, 0, 3000));
	c.slack = random_below(r, 2) ? c.lead : c.lead / 3;
	return c;
}

static void start_scenario(struct lockstep *l) {
	struct maps_channel channels[MODEL_CHANNELS];
	struct maps_config config = {.channels = channels, .flows = MODEL_FLOWS};
	bool equal = random_below(&l->random, 2);

	do {
		config.channel_count = random_between(&l->random, 1, MODEL_CHANNELS);
		for (uint32_t i = 0; i < config.channel_count; i++) {
			channels[i] = random_channel(&l->random, (uint8_t)(i + 1), equal);
			if (equal && i > 0) {
				channels[i] = channels[0];
				channels[i].id = (uint8_t)(i + 1);
			}
		}
		config.start = random_below(&l->random, 2) ? MS(random_below(&l->random, 1000)) : 0;
		config.flow_bytes = random_below(&l->random, 2) ? 50000 : 0;
		l->kit.m = maps_create(&config, NULL);
	} while (l->kit.m == NULL);
	memcpy(l->kit.channels, channels, sizeof(channels));
	l->kit.count = (uint32_t)config.channel_count;
	l->kit.now = random_below(&l->random, 2) ? 0 : MS(random_below(&l->random, 3000));
	model_create(&l->model, &config);
	l->flows = random_between(&l->random, 1, MODEL_FLOWS);
}

static uint64_t random_rate(struct random *r) {
	return random_below(r, 2) ? 0 : (uint64_t)1000 << random_below(r, 17);
}

static struct maps_flow random_settings(struct lockstep *l) {
	struct random *r = &l->random;
	struct maps_flow f = {
		.type = random_below(r, 2) ? MAPS_BEST_EFFORT : (enum maps_type)random_below(r, 6),
		.priority = (uint8_t)random_below(r, 3),
		.sustained = random_rate(r),
		.sustained_burst = random_below(r, 10000),
		.peak = random_rate(r),
		.reserved = random_rate(r) / 16,
		.max_burst = random_below(r, 2) ? 0 : random_between(r, 128, 3000),
		.header_bytes = (uint16_t)(random_below(r, 2) ? 0 : random_between(r, 1, 20)),
		.poll_interval = (uint32_t)US(random_between(r, 100, 20000)),
		.grant_interval = (uint32_t)US(random_between(r, 100, 20000)),
		.grant_jitter = (uint32_t)US(random_below(r, 2) ? random_below(r, 800)
								: random_below(r, 9000)),
		.grant_bytes = random_between(r, 1, 300),
		.grants = (uint8_t)random_between(r, 1, 2),
		.active_timeout = (uint32_t)US(random_below(r, 30000)),
		.guaranteed_rate = 1 + random_below(r, 4000000),
	};

	if (f.peak != 0 && f.peak < f.sustained)
		f.peak = f.sustained;
	if (f.sustained != 0 && f.reserved > f.sustained)
		f.reserved = f.sustained;
	return f;
}

/* Unsolicited grants and polls use one channel. Other clusters use any channels. */
static void set_flow(struct lockstep *l, uint32_t flow) {
	struct random *r = &l->random;
	struct maps_flow f = random_settings(l);
	struct maps_sid sids[3][MODEL_CHANNELS];
	struct maps_cluster clusters[3];

	f.clusters = clusters;
	f.cluster_count = random_below(r, 8) == 0 ? 0
			  : random_below(r, 4)	  ? 1
						  : random_between(r, 1, 3);
	for (size_t i = 0; i < f.cluster_count; i++) {
		uint32_t all = l->kit.count, only = random_below(r, all);

		clusters[i] = (struct maps_cluster){sids[i], 0};
		for (uint32_t c = 0; c < all; c++)
			if (c == only ||
			    (random_below(r, 2) && (i > 0 || f.type == MAPS_BEST_EFFORT)))
				sids[i][clusters[i].count++] = (struct maps_sid){
					(uint16_t)c, (uint16_t)(flow * 3 + i + 1)};
	}
	if (maps_set_flow(l->kit.m, flow, &f, l->kit.now) != NULL)
		return;
	model_set_flow(&l->model, flow, &f, l->kit.now);
	l->exists[flow] = f.cluster_count != 0;
}

static void random_request(struct lockstep *l) {
	struct random *r = &l->random;
	const bool any_index = random_below(r, 50) == 0;
	const struct maps_request q = {
		.flow = any_index ? random_next(r) : random_below(r, l->flows),
		.cluster =
			(uint8_t)(random_below(r, 4) ? 0 : random_next(r) >> (any_index ? 0 : 30)),
		.channel =
			(uint16_t)(any_index ? random_next(r) : random_below(r, l->kit.count + 1)),
		.bytes = random_below(r, 20) == 0 ? random_next(r)
						  : random_below(r, 1u << random_between(r, 4, 14)),
		.minislot_at = random_below(r, 2) ? 0 : l->kit.now - MS(random_below(r, 8)),
		.contended = random_below(r, 2),
	};
	enum maps_verdict verdict = model_request(&l->model, &q, l->kit.now);

	assert_int_equal(maps_request(l->kit.m, &q, l->kit.now), verdict);
	l->model.verdicts[verdict]++;
}

static bool heads_equal(const struct map *a, const struct map *b) {
	return a->count == b->count && a->alloc_start == b->alloc_start &&
	       a->ack_time == b->ack_time && a->data_start == b->data_start &&
	       a->data_end == b->data_end && a->version == b->version && a->channel == b->channel &&
	       a->ucd_count == b->ucd_count && a->ranging_start == b->ranging_start &&
	       a->ranging_end == b->ranging_end;
}

static void check_same_map(struct lockstep *l, uint32_t channel, const struct map *a,
			   const struct map *b) {
	bool same = heads_equal(a, b);

	for (uint32_t i = 0; same && i < a->count; i++)
		same = a->elements[i].sid == b->elements[i].sid &&
		       a->elements[i].iuc == b->elements[i].iuc &&
		       a->elements[i].offset == b->elements[i].offset;
	if (same)
		return;
	print_error(
		"seed %llu, channel %u: elements %u, by the model %u; start %u, %u; ack %u, %u\n",
		(unsigned long long)l->seed, channel, a->count, b->count, a->alloc_start,
		b->alloc_start, a->ack_time, b->ack_time);
	for (uint32_t i = 0; i < a->count && i < b->count; i++)
		print_error("%s%x/%u@%u %x/%u@%u\n",
			    a->elements[i].offset == b->elements[i].offset ? "" : "* ",
			    a->elements[i].sid, a->elements[i].iuc, a->elements[i].offset,
			    b->elements[i].sid, b->elements[i].iuc, b->elements[i].offset);
	fail();
}

static void make_maps(struct lockstep *l) {
	static struct map a, b;
	uint32_t channel;

	do {
		channel = maps_make(l->kit.m, l->kit.now, &a);
		assert_int_equal(channel, model_make(&l->model, l->kit.now, &b));
		if (channel != MAPS_NONE) {
			check_same_map(l, channel, &a, &b);
			kit_check_map(&l->kit, channel, &a);
		}
	} while (channel != MAPS_NONE);
}

static void check_counts(const struct lockstep *l) {
	struct maps_counts n = kit_counts(&l->kit), sum = {0}, c;

	kit_check_counts(&l->kit);
	for (uint32_t i = 0; i < l->kit.count; i++) {
		maps_counts(l->kit.m, i, &c);
		sum.late_requests += c.late_requests;
		sum.maps += c.maps;
	}
	assert_int_equal(n.late_requests, l->model.late_requests);
	assert_int_equal(sum.late_requests, n.late_requests);
	assert_int_equal(sum.maps, n.maps);
	assert_int_equal(n.requested_bytes, l->model.requested);
	assert_int_equal(n.granted_bytes, l->model.granted);
	assert_int_equal(n.unsolicited_bytes, l->model.unsolicited);
	assert_int_equal(n.forgotten_bytes, l->model.forgotten);
	assert_int_equal(n.late, l->model.late);
	assert_int_equal(n.missed, l->model.missed);
	assert_int_equal(n.belated, l->model.belated);
	assert_int_equal(n.collisions, l->model.collisions);
	for (unsigned v = 0; v < MAPS_VERDICTS; v++)
		assert_int_equal(n.verdicts[v], l->model.verdicts[v]);
}

/* Sets the clock back. Minislots that repeat count as new. */
static void set_back(struct lockstep *l, uint64_t by) {
	l->kit.now -= by < l->kit.now ? by : l->kit.now;
	memset(l->kit.started, 0, sizeof(l->kit.started));
}

/* Some random requests and changes, then MAPs at the next time. */
static void random_step(struct lockstep *l) {
	const struct model_channel *c = &l->model.channels[0];
	struct random *r = &l->random;
	uint64_t due = maps_due(l->kit.m);

	for (uint32_t i = random_below(r, 12); i > 0; i--)
		random_request(l);
	if (random_below(r, 20) == 0)
		set_flow(l, random_below(r, l->flows));
	if (random_below(r, 10) == 0) {
		uint32_t channel = random_below(r, l->kit.count + 1);
		uint16_t sid = (uint16_t)random_below(r, 200);

		for (uint32_t n = random_below(r, 20) == 0 ? 300 : 1; n > 0; n--)
			assert_int_equal(maps_queue_station(l->kit.m, channel, sid),
					 model_station(&l->model, channel, sid));
	}
	if (random_below(r, 10) == 0) {
		uint32_t channel = random_below(r, l->kit.count), lost = random_below(r, 40);

		lost = random_below(r, 50) == 0 ? random_next(r) : lost;
		maps_report_collisions(l->kit.m, channel, lost);
		model_collisions(&l->model, channel, lost);
	}
	if (random_below(r, 5) == 0) {
		uint32_t flow = random_below(r, l->flows);

		maps_data_received(l->kit.m, flow, l->kit.now);
		model_used(&l->model, flow, l->kit.now);
	}
	if (due > l->kit.now && random_below(r, 8) != 0)
		l->kit.now = due;
	else if (random_below(r, 50) == 0)
		l->kit.now += MS(random_below(r, 300));
	else if (random_below(r, 20) == 0) /* the last moment of a MAP */
		l->kit.now = model_due(&l->model, c, c->number) + c->set.slack +
			     (uint64_t)c->length * random_below(r, 4);
	else if (random_below(r, 50) == 0)
		set_back(l, MS(random_below(r, 5)));
	else if (random_below(r, 50) == 0)
		set_back(l, MS(random_below(r, 1000)));
	else
		l->kit.now += US(random_below(r, 900));
	make_maps(l);
}

TEST(scheduler_agrees_with_model) {
	static struct lockstep l;

	for (uint64_t seed = 1; seed <= SCENARIOS; seed++) {
		memset(&l, 0, sizeof(l));
		l.seed = seed;
		l.random.state = seed * 0x9e3779b97f4a7c15;
		start_scenario(&l);
		for (uint32_t i = 0; i < l.flows; i++)
			set_flow(&l, i);
		for (int i = 0; i < STEPS; i++)
			random_step(&l);
		check_counts(&l);
		kit_free(&l.kit);
	}
}
