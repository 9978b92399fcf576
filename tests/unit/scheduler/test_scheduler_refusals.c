/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: what is no configuration, refused with a line that names what is wrong, both when the
 * scheduler is made and when it is changed; the change then changed nothing. */
#include "test.h"

#include <string.h>

#include "scheduler/internal.h"
#include "scheduler/report.h"

#define MBPS 1000000ull

static const uint32_t both_channels[] = {0, 1};

/* A good configuration, of which each mistake spoils one thing. */
struct setup {
	struct scheduler_config config;
	struct scheduler_channel channels[2];
	struct scheduler_group groups[2];
	struct scheduler_modem modems[2];
	struct scheduler_flow flows[2];
};

static void setup_make(struct setup *c) {
	*c = (struct setup){
		.config = {.channel_count = 2,
			   .group_count = 2,
			   .modem_count = 2,
			   .flow_count = 2,
			   .packet_limit = 100},
		.channels = {{1000 * MBPS, {0}}, {1000 * MBPS, {0}}},
		.groups = {{both_channels, 2}, {both_channels, 1}},
		.modems = {{{100 * MBPS, 4000}}, {{0, 0}}},
	};
	for (uint32_t i = 0; i < 2; i++) {
		c->flows[i] = (struct scheduler_flow){
			.group = i,
			.modem = i,
			.weight = 1,
			.sustained = {10 * MBPS, 4000},
			.peak = 20 * MBPS,
			.reserved = 1 * MBPS,
			.min_buffer = 4000,
			.buffer = 10000,
			.max_buffer = 20000,
		};
	}
	c->config.channels = c->channels;
	c->config.groups = c->groups;
	c->config.modems = c->modems;
	c->config.flows = c->flows;
}

struct mistake {
	const char *name, *says; /* a word of the message */
	void (*make)(struct setup *c);
};

/* One mistake of a thing: name, word of the message, what is done. */
#define MISTAKE(name, does)                 \
	static void name(struct setup *c) { \
		does;                       \
	}

static const uint32_t unknown_channel[] = {0, 2};
static const uint32_t twice[] = {1, 1};
static const struct scheduler_depi good_depi = {60, 1400, 2, 16, 20, 100000};

MISTAKE(no_channels, c->config.channel_count = 0)
MISTAKE(many_channels, c->config.channel_count = SCHEDULER_MAX_CHANNELS + 1)
MISTAKE(no_packets, c->config.packet_limit = 0)
MISTAKE(first_channel, c->channels[0].rate = 0)
MISTAKE(first_group, c->groups[0].channel_count = 0)
MISTAKE(first_modem, c->modems[0].aggregate.burst = 0)
MISTAKE(first_flow, c->flows[0].weight = 0)
MISTAKE(limit_slow, c->config.rate_limit = SCHEDULER_RATE_MIN - 1)
MISTAKE(limit_fast, c->config.rate_limit = SCHEDULER_RATE_MAX + 1)
MISTAKE(channel_stands, c->channels[1].rate = 0)
MISTAKE(channel_slow, c->channels[1].rate = SCHEDULER_RATE_MIN - 1)
MISTAKE(channel_fast, c->channels[1].rate = SCHEDULER_RATE_MAX + 1)
MISTAKE(channel_absurd, c->channels[1].rate = UINT64_MAX)
MISTAKE(depi_small, c->channels[1].depi = good_depi; c->channels[1].depi.room = 17)
MISTAKE(depi_no_segments, c->channels[1].depi = good_depi; c->channels[1].depi.max_segments = 0)
MISTAKE(group_empty, c->groups[1].channel_count = 0)
MISTAKE(group_unknown, c->groups[1] = ((struct scheduler_group){unknown_channel, 2}))
MISTAKE(group_twice, c->groups[1] = ((struct scheduler_group){twice, 2}))
MISTAKE(modem_slow, c->modems[1].aggregate = ((struct scheduler_limit){999, 4000}))
MISTAKE(modem_fast, c->modems[1].aggregate = ((struct scheduler_limit){UINT64_MAX, 4000}))
MISTAKE(modem_burst, c->modems[1].aggregate = ((struct scheduler_limit){MBPS, 0}))
MISTAKE(flow_group, c->flows[1].group = 2)
MISTAKE(flow_modem, c->flows[1].modem = 2)
MISTAKE(flow_priority, c->flows[1].priority = SCHEDULER_PRIORITIES)
MISTAKE(flow_weight, c->flows[1].weight = 0)
MISTAKE(flow_header, c->flows[1].header_bytes = 256)
MISTAKE(flow_slow, c->flows[1].sustained.rate = c->flows[1].reserved = SCHEDULER_RATE_MIN - 1)
MISTAKE(flow_fast, c->flows[1].sustained.rate = c->flows[1].peak = SCHEDULER_RATE_MAX + 1)
MISTAKE(flow_burst, c->flows[1].sustained.burst = 0)
MISTAKE(flow_peak, c->flows[1].peak = 10 * MBPS - 1)
MISTAKE(flow_peak_fast, c->flows[1].peak = UINT64_MAX)
MISTAKE(flow_reserved, c->flows[1].reserved = 10 * MBPS + 1)
MISTAKE(flow_reserved_slow, c->flows[1].reserved = 1)
MISTAKE(buffer_min, c->flows[1].min_buffer = c->flows[1].buffer + 1)
MISTAKE(buffer_target, c->flows[1].buffer = c->flows[1].max_buffer + 1)
MISTAKE(aqm_unknown, c->flows[1].aqm = (enum scheduler_aqm)3)

static void wred(struct setup *c, struct scheduler_wred w) {
	c->flows[1].aqm = SCHEDULER_WRED;
	c->flows[1].wred = w;
}

MISTAKE(wred_order, wred(c, (struct scheduler_wred){1000, 1000, 100, 9}))
MISTAKE(wred_never, wred(c, (struct scheduler_wred){1000, 2000, 0, 9}))
MISTAKE(wred_above_1, wred(c, (struct scheduler_wred){1000, 2000, 65537, 9}))
MISTAKE(wred_weight_0, wred(c, (struct scheduler_wred){1000, 2000, 100, 0}))
MISTAKE(wred_weight_16, wred(c, (struct scheduler_wred){1000, 2000, 100, 16}))

static void pie(struct setup *c, uint64_t target) {
	c->flows[1].aqm = SCHEDULER_DOCSIS_PIE;
	c->flows[1].latency_target = target;
}

MISTAKE(pie_short, pie(c, 999999))
MISTAKE(pie_long, pie(c, 256000001))

#define OF(name, says) {#name, says, name}

/* Of the whole, which only scheduler_create() hears. */
static const struct mistake of_all[] = {
	OF(no_channels, "channel"), OF(many_channels, "channel"), OF(no_packets, "packet"),
	OF(first_channel, "rate"),  OF(first_group, "channel"),	  OF(first_modem, "burst"),
	OF(first_flow, "weight"),
};
static const struct mistake of_limit[] = {
	OF(limit_slow, "rate"),
	OF(limit_fast, "rate"),
};
static const struct mistake of_channel[] = {
	OF(channel_stands, "rate"), OF(channel_slow, "rate"), OF(channel_fast, "rate"),
	OF(channel_absurd, "rate"), OF(depi_small, "DEPI"),   OF(depi_no_segments, "DEPI"),
};
static const struct mistake of_group[] = {
	OF(group_empty, "channel"),
	OF(group_unknown, "channel"),
	OF(group_twice, "twice"),
};
static const struct mistake of_modem[] = {
	OF(modem_slow, "rate"),
	OF(modem_fast, "rate"),
	OF(modem_burst, "burst"),
};
static const struct mistake of_flow[] = {
	OF(flow_group, "group"),    OF(flow_modem, "modem"),	   OF(flow_priority, "priority"),
	OF(flow_weight, "weight"),  OF(flow_header, "header"),	   OF(flow_slow, "rate"),
	OF(flow_fast, "rate"),	    OF(flow_burst, "burst"),	   OF(flow_peak, "peak"),
	OF(flow_peak_fast, "rate"), OF(flow_reserved, "reserved"), OF(flow_reserved_slow, "rate"),
	OF(buffer_min, "buffer"),   OF(buffer_target, "buffer"),   OF(aqm_unknown, "congestion"),
	OF(wred_order, "WRED"),	    OF(wred_never, "WRED"),	   OF(wred_above_1, "WRED"),
	OF(wred_weight_0, "WRED"),  OF(wred_weight_16, "WRED"),	   OF(pie_short, "latency"),
	OF(pie_long, "latency"),
};

/* One line that names what is wrong. */
static void assert_says(const struct mistake *m, const char *why) {
	if (why == NULL)
		fail_msg("%s: not refused", m->name);
	if (strstr(why, m->says) == NULL)
		fail_msg("%s: \"%s\" does not say \"%s\"", m->name, why, m->says);
	assert_null(strchr(why, '\n'));
}

static void assert_not_made(const struct mistake *mistakes, size_t n) {
	for (size_t i = 0; i < n; i++) {
		const char *why = NULL;
		struct setup c;

		setup_make(&c);
		mistakes[i].make(&c);
		if (scheduler_create(&c.config, &why) != NULL)
			fail_msg("%s: not refused", mistakes[i].name);
		assert_says(&mistakes[i], why);
		assert_null(scheduler_create(&c.config, NULL)); /* nobody wants to know */
	}
}

static void are_refused_when_made(void **state) {
	(void)state;
	assert_not_made(of_all, ARRAY_COUNT(of_all));
	assert_not_made(of_limit, ARRAY_COUNT(of_limit));
	assert_not_made(of_channel, ARRAY_COUNT(of_channel));
	assert_not_made(of_group, ARRAY_COUNT(of_group));
	assert_not_made(of_modem, ARRAY_COUNT(of_modem));
	assert_not_made(of_flow, ARRAY_COUNT(of_flow));
}

static struct scheduler *make(struct setup *c) {
	const char *why = NULL;
	struct scheduler *s;

	setup_make(c);
	s = scheduler_create(&c->config, &why);
	assert_non_null(s);
	assert_null(why);
	return s;
}

/* What the second flow and all that it uses do with a packet of a known cost. */
static void assert_still_works(struct scheduler *s, uint64_t now) {
	struct scheduler_arrival in = {s, 1, 1000};
	enum scheduler_verdict verdict;
	struct scheduler_grant g;
	struct scheduler_channel_report r;

	assert_int_equal(scheduler_enqueue(s, now, &in, 1, &verdict), 1);
	assert_int_equal(scheduler_dequeue(s, now, &g, 1), 1);
	assert_ptr_equal(g.packet, s);
	assert_int_equal(g.channel, 0);
	scheduler_report_channel(s, 0, &r);
	assert_in_range(r.busy_until, now + 7990, now + 8010);
}

typedef const char *set_function(struct scheduler *s, const struct setup *c);

static const char *set_limit(struct scheduler *s, const struct setup *c) {
	return scheduler_set_rate_limit(s, c->config.rate_limit);
}

static const char *set_channel(struct scheduler *s, const struct setup *c) {
	return scheduler_set_channel(s, 1, &c->channels[1]);
}

static const char *set_group(struct scheduler *s, const struct setup *c) {
	return scheduler_set_group(s, 1, &c->groups[1]);
}

static const char *set_modem(struct scheduler *s, const struct setup *c) {
	return scheduler_set_modem(s, 1, &c->modems[1]);
}

static const char *set_flow(struct scheduler *s, const struct setup *c) {
	return scheduler_set_flow(s, 1, &c->flows[1]);
}

static void assert_not_set(set_function *set, const struct mistake *mistakes, size_t n) {
	for (size_t i = 0; i < n; i++) {
		struct setup c, bad;
		struct scheduler *s = make(&c);

		setup_make(&bad);
		mistakes[i].make(&bad);
		assert_still_works(s, 0);
		assert_says(&mistakes[i], set(s, &bad));
		assert_still_works(s, 1000 * MBPS);
		assert_null(set(s, &c)); /* what it has is good */
		assert_still_works(s, 2000 * MBPS);
		scheduler_free(s);
	}
}

static void are_refused_when_changed(void **state) {
	(void)state;
	assert_not_set(set_limit, of_limit, ARRAY_COUNT(of_limit));
	assert_not_set(set_channel, of_channel, ARRAY_COUNT(of_channel));
	assert_not_set(set_group, of_group, ARRAY_COUNT(of_group));
	assert_not_set(set_modem, of_modem, ARRAY_COUNT(of_modem));
	assert_not_set(set_flow, of_flow, ARRAY_COUNT(of_flow));
}

/* What there is not cannot be changed. */
static void unknown_things_are_refused(void **state) {
	struct setup c;
	struct scheduler *s = make(&c);

	(void)state;
	assert_non_null(scheduler_set_flow(s, 2, &c.flows[0]));
	assert_non_null(scheduler_set_flow(s, UINT32_MAX, &c.flows[0]));
	assert_non_null(scheduler_set_modem(s, 2, &c.modems[0]));
	assert_non_null(scheduler_set_group(s, 2, &c.groups[0]));
	assert_non_null(scheduler_set_channel(s, 2, &c.channels[0]));
	assert_still_works(s, 0);
	scheduler_free(s);
	scheduler_free(NULL); /* harmless */
}

/* A flow with packets is not put out of use; one without may be, as often as one likes. */
static void flow_with_packets_stays(void **state) {
	struct setup c;
	struct scheduler *s = make(&c);
	struct scheduler_arrival in = {s, 1, 1000};
	enum scheduler_verdict verdict;
	void *packet;

	(void)state;
	c.flows[1].group = SCHEDULER_NONE;
	assert_int_equal(scheduler_enqueue(s, 0, &in, 1, &verdict), 1);
	assert_non_null(scheduler_set_flow(s, 1, &c.flows[1]));
	assert_int_equal(scheduler_drain_flow(s, 1, &packet, 1), 1);
	assert_null(scheduler_set_flow(s, 1, &c.flows[1]));
	assert_null(scheduler_set_flow(s, 1, &c.flows[1]));
	assert_int_equal(scheduler_enqueue(s, 0, &in, 1, &verdict), 0);
	assert_int_equal(verdict, SCHEDULER_NO_FLOW);
	c.flows[1].group = 1;
	assert_null(scheduler_set_flow(s, 1, &c.flows[1]));
	assert_still_works(s, 0);
	scheduler_free(s);
}

/* The ends of the ranges belong to them. */
static void ends_of_ranges_are_good(void **state) {
	struct setup c;
	struct scheduler *s;

	(void)state;
	setup_make(&c);
	c.channels[0].rate = SCHEDULER_RATE_MIN;
	c.channels[1].rate = SCHEDULER_RATE_MAX;
	c.config.rate_limit = SCHEDULER_RATE_MAX;
	c.flows[0].sustained.rate = c.flows[0].reserved = SCHEDULER_RATE_MIN;
	c.flows[0].peak = SCHEDULER_RATE_MAX;
	c.flows[0].min_buffer = c.flows[0].buffer = c.flows[0].max_buffer;
	c.flows[0].weight = c.flows[0].header_bytes = 255;
	c.flows[0].priority = 7;
	c.flows[1].aqm = SCHEDULER_DOCSIS_PIE;
	c.flows[1].latency_target = 256000000;
	s = scheduler_create(&c.config, NULL);
	assert_non_null(s);
	wred(&c, (struct scheduler_wred){0, 1, 65536, 15});
	assert_null(scheduler_set_flow(s, 1, &c.flows[1]));
	pie(&c, 1000000);
	assert_null(scheduler_set_flow(s, 1, &c.flows[1]));
	scheduler_free(s);
}

/* Numbers that are 0, or more than timers can be numbered; nothing of the lists is read. */
static void counts_are_refused(void **state) {
	static const uint32_t list[] = {0};
	static const struct scheduler_channel channel = {.rate = 100 * MBPS};
	static const struct scheduler_group group = {list, 1};
	static const struct scheduler_modem modem;
	static const struct scheduler_flow flow = {
		.weight = 1, .min_buffer = 9000, .buffer = 9000, .max_buffer = 9000};
	const struct scheduler_config good = {.channels = &channel,
					      .channel_count = 1,
					      .groups = &group,
					      .group_count = 1,
					      .modems = &modem,
					      .modem_count = 1,
					      .flows = &flow,
					      .flow_count = 1,
					      .packet_limit = 10};
	const struct {
		size_t groups, modems, flows;
		const char *why;
	} cases[] = {
		{0, 1, 1, "there is no flow, group or modem"},
		{1, 0, 1, "there is no flow, group or modem"},
		{1, 1, 0, "there is no flow, group or modem"},
		{MAX_GROUPS + 1, 1, 1, "there are too many flows, groups or modems"},
		{1, UINT32_MAX / 4 + 1, 1, "there are too many flows, groups or modems"},
		{1, 1, UINT32_MAX / 4 + 1, "there are too many flows, groups or modems"},
	};
	const char *why = NULL;

	(void)state;
	scheduler_free(scheduler_create(&good, &why));
	assert_null(why);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct scheduler_config c = good;

		c.group_count = cases[i].groups;
		c.modem_count = cases[i].modems;
		c.flow_count = cases[i].flows;
		assert_null(scheduler_create(&c, &why));
		assert_string_equal(why, cases[i].why);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_refused_when_made),
		cmocka_unit_test(are_refused_when_changed),
		cmocka_unit_test(unknown_things_are_refused),
		cmocka_unit_test(flow_with_packets_stays),
		cmocka_unit_test(ends_of_ranges_are_good),
		cmocka_unit_test(counts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
