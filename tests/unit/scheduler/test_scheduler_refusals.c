/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests invalid settings. The downstream scheduler refuses them with a line that names the mistake,
 * when it is created and when it is changed. A refused change changes nothing. */
#include "test_main.h"

#include "scheduler/internal.h"
#include "scheduler/report.h"
#include "scheduler_setup.h"

static const uint32_t unknown_channel[] = {0, 3};
static const uint32_t free_channel[] = {2};
static const uint32_t twice[] = {1, 1};
static const struct scheduler_depi good_depi = {60, 1400, 2, 16, 20, 100000};

/* A valid configuration with rates, in which each test makes one mistake. */
static void make_valid(struct setup *c) {
	setup_make(c);
	c->modems[0].aggregate = (struct scheduler_limit){100 * MBPS, 4000};
	for (uint32_t i = 0; i < 3; i++) {
		c->flows[i].sustained = (struct scheduler_limit){10 * MBPS, 4000};
		c->flows[i].peak = 20 * MBPS;
		c->flows[i].reserved = 1 * MBPS;
	}
}

static struct scheduler *create_valid(struct setup *c) {
	make_valid(c);
	return setup_create(c);
}

/* Sends a packet of the second flow, with a known cost. */
static void check_works(struct scheduler *s, uint64_t now) {
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

/* What a change sets. NOTHING: only scheduler_create() has it. */
enum object { NOTHING, LIMIT, CHANNEL, GROUP, MODEM, FLOW };

static const char *apply_setting(struct scheduler *s, enum object object, const struct setup *c) {
	switch (object) {
	case LIMIT: return scheduler_set_rate_limit(s, c->config.rate_limit);
	case CHANNEL: return scheduler_set_channel(s, 1, &c->channels[1]);
	case GROUP: return scheduler_set_group(s, 1, &c->groups[1]);
	case MODEM: return scheduler_set_modem(s, 1, &c->modems[1]);
	default: return scheduler_set_flow(s, 1, &c->flows[1]);
	}
}

/* The reason must be one line that contains `part`. */
static void check_reason(const char *object, const char *why, const char *part) {
	if (why == NULL)
		fail_msg("%s: not refused", object);
	if (strstr(why, part) == NULL)
		fail_msg("%s: \"%s\" does not contain \"%s\"", object, why, part);
	assert_null(strchr(why, '\n'));
}

static void assert_refused(const char *mistake, const struct setup *bad, enum object object,
			   const char *part) {
	const char *why = NULL;
	struct scheduler *s;
	struct setup good;

	assert_null(scheduler_create(&bad->config, &why));
	check_reason(mistake, why, part);
	assert_null(scheduler_create(&bad->config, NULL));
	if (object == NOTHING)
		return;
	s = create_valid(&good);
	check_works(s, 0);
	check_reason(mistake, apply_setting(s, object, bad), part);
	check_works(s, 1000 * MBPS);
	assert_null(apply_setting(s, object, &good)); /* the settings are valid */
	check_works(s, 2000 * MBPS);
	scheduler_free(s);
}

#define REFUSED(object, part, mistake)                      \
	do {                                                \
		struct setup c;                             \
                                                            \
		make_valid(&c);                             \
		mistake;                                    \
		assert_refused(#mistake, &c, object, part); \
	} while (0)

TEST(invalid_configuration_is_refused) {
	REFUSED(NOTHING, "channel", c.config.channel_count = 0);
	REFUSED(NOTHING, "channel", c.config.channel_count = SCHEDULER_MAX_CHANNELS + 1);
	REFUSED(NOTHING, "packet", c.config.packet_limit = 0);
	REFUSED(NOTHING, "there is no flow, group or modem", c.config.group_count = 0);
	REFUSED(NOTHING, "there is no flow, group or modem", c.config.modem_count = 0);
	REFUSED(NOTHING, "there is no flow, group or modem", c.config.flow_count = 0);
	/* more timers than can be numbered; the lists are not read */
	REFUSED(NOTHING, "there are too many", c.config.group_count = MAX_GROUPS + 1);
	REFUSED(NOTHING, "there are too many", c.config.modem_count = UINT32_MAX / 4 + 1);
	REFUSED(NOTHING, "there are too many", c.config.flow_count = UINT32_MAX / 4 + 1);
	REFUSED(LIMIT, "rate", c.config.rate_limit = SCHEDULER_RATE_MIN - 1);
	REFUSED(LIMIT, "rate", c.config.rate_limit = SCHEDULER_RATE_MAX + 1);
}

TEST(invalid_channel_group_or_modem_is_refused) {
	REFUSED(CHANNEL, "rate", c.channels[1].rate = 0);
	REFUSED(CHANNEL, "rate", c.channels[1].rate = SCHEDULER_RATE_MIN - 1);
	REFUSED(CHANNEL, "rate", c.channels[1].rate = SCHEDULER_RATE_MAX + 1);
	REFUSED(CHANNEL, "rate", c.channels[1].rate = UINT64_MAX);
	REFUSED(GROUP, "channel", c.groups[1].channel_count = 0);
	REFUSED(GROUP, "channel", c.groups[1] = ((struct scheduler_group){unknown_channel, 2}));
	REFUSED(GROUP, "without a rate", c.groups[1] = ((struct scheduler_group){free_channel, 1}));
	REFUSED(GROUP, "twice", c.groups[1] = ((struct scheduler_group){twice, 2}));
	REFUSED(MODEM, "rate", c.modems[1].aggregate = ((struct scheduler_limit){999, 4000}));
	REFUSED(MODEM, "rate",
		c.modems[1].aggregate = ((struct scheduler_limit){UINT64_MAX, 4000}));
	REFUSED(MODEM, "burst", c.modems[1].aggregate = ((struct scheduler_limit){MBPS, 0}));
}

TEST(invalid_depi_is_refused) {
	static const struct scheduler_depi invalid[] = {
		{.capacity = 1, .min_fragment = 1, .max_segments = 1, .entry_bytes = 2},
		{.capacity = 5, .min_fragment = 1, .max_segments = 1, .entry_bytes = 2},
		{.capacity = 1400, .min_fragment = 0, .max_segments = 1, .entry_bytes = 2},
		{.capacity = 1400, .min_fragment = 16, .max_segments = 0, .entry_bytes = 2},
		{.capacity = 1400, .min_fragment = 1396, .max_segments = 9, .entry_bytes = 2},
		{.capacity = 1400, .min_fragment = 16, .max_segments = 9, .entry_bytes = 700},
		{.capacity = 1400,
		 .min_fragment = 16,
		 .max_segments = 9,
		 .entry_bytes = UINT16_MAX},
		{.capacity = 1400, .min_fragment = UINT16_MAX, .max_segments = 9},
		{.capacity = 1400,
		 .min_fragment = 16,
		 .max_segments = 9,
		 .frame_bytes = UINT16_MAX},
	};

	for (size_t i = 0; i < ARRAY_COUNT(invalid); i++)
		REFUSED(CHANNEL, "DEPI", c.channels[1].depi = invalid[i]);
}

TEST(invalid_flow_is_refused) {
	REFUSED(FLOW, "group", c.flows[1].group = 3);
	REFUSED(FLOW, "group without a channel", c.flows[1].group = 2);
	REFUSED(FLOW, "modem", c.flows[1].modem = 3);
	REFUSED(FLOW, "priority", c.flows[1].priority = SCHEDULER_PRIORITIES);
	REFUSED(FLOW, "weight", c.flows[1].weight = 0);
	REFUSED(FLOW, "header", c.flows[1].header_bytes = 256);
	REFUSED(FLOW, "rate",
		c.flows[1].sustained.rate = c.flows[1].reserved = SCHEDULER_RATE_MIN - 1);
	REFUSED(FLOW, "rate", c.flows[1].sustained.rate = c.flows[1].peak = SCHEDULER_RATE_MAX + 1);
	REFUSED(FLOW, "burst", c.flows[1].sustained.burst = 0);
	REFUSED(FLOW, "peak", c.flows[1].peak = 10 * MBPS - 1);
	REFUSED(FLOW, "rate", c.flows[1].peak = UINT64_MAX);
	REFUSED(FLOW, "reserved", c.flows[1].reserved = 10 * MBPS + 1);
	REFUSED(FLOW, "rate", c.flows[1].reserved = 1);
	REFUSED(FLOW, "buffer", c.flows[1].min_buffer = c.flows[1].buffer + 1);
	REFUSED(FLOW, "buffer", c.flows[1].buffer = c.flows[1].max_buffer + 1);
}

static void use_wred(struct setup *c, struct scheduler_wred w) {
	c->flows[1].aqm = SCHEDULER_WRED;
	c->flows[1].wred = w;
}

static void use_pie(struct setup *c, uint64_t target) {
	c->flows[1].aqm = SCHEDULER_DOCSIS_PIE;
	c->flows[1].latency_target = target;
}

TEST(invalid_aqm_is_refused) {
	REFUSED(FLOW, "congestion", c.flows[1].aqm = (enum scheduler_aqm)3);
	REFUSED(FLOW, "WRED", use_wred(&c, (struct scheduler_wred){1000, 1000, 100, 9}));
	REFUSED(FLOW, "WRED", use_wred(&c, (struct scheduler_wred){1000, 2000, 0, 9}));
	REFUSED(FLOW, "WRED", use_wred(&c, (struct scheduler_wred){1000, 2000, 65537, 9}));
	REFUSED(FLOW, "WRED", use_wred(&c, (struct scheduler_wred){1000, 2000, 100, 0}));
	REFUSED(FLOW, "WRED", use_wred(&c, (struct scheduler_wred){1000, 2000, 100, 16}));
	REFUSED(FLOW, "latency", use_pie(&c, 999999));
	REFUSED(FLOW, "latency", use_pie(&c, 256000001));
}

TEST(unknown_index_is_refused) {
	struct setup c;
	struct scheduler *s = create_valid(&c);

	assert_non_null(scheduler_set_flow(s, 3, &c.flows[0]));
	assert_non_null(scheduler_set_flow(s, UINT32_MAX, &c.flows[0]));
	assert_non_null(scheduler_set_modem(s, 3, &c.modems[0]));
	assert_non_null(scheduler_set_group(s, 3, &c.groups[0]));
	assert_non_null(scheduler_set_channel(s, 3, &c.channels[0]));
	check_works(s, 0);
	scheduler_free(s);
	scheduler_free(NULL); /* no effect */
}

TEST(limits_of_ranges_are_accepted) {
	struct setup c;
	struct scheduler *s;

	make_valid(&c);
	c.channels[0].rate = SCHEDULER_RATE_MIN;
	c.channels[1] = (struct scheduler_channel){SCHEDULER_RATE_MAX, good_depi};
	c.channels[0].depi = (struct scheduler_depi){
		.capacity = 6, .min_fragment = 1, .max_segments = 1, .entry_bytes = 2};
	c.config.rate_limit = SCHEDULER_RATE_MAX;
	c.flows[0].sustained.rate = c.flows[0].reserved = SCHEDULER_RATE_MIN;
	c.flows[0].peak = SCHEDULER_RATE_MAX;
	c.flows[0].min_buffer = c.flows[0].buffer = c.flows[0].max_buffer;
	c.flows[0].weight = c.flows[0].header_bytes = 255;
	c.flows[0].priority = 7;
	use_pie(&c, 256000000);
	s = scheduler_create(&c.config, NULL);
	assert_non_null(s);
	use_wred(&c, (struct scheduler_wred){0, 1, 65536, 15});
	assert_null(scheduler_set_flow(s, 1, &c.flows[1]));
	use_pie(&c, 1000000);
	assert_null(scheduler_set_flow(s, 1, &c.flows[1]));
	scheduler_free(s);
}

TEST(checks_change_nothing) {
	const struct scheduler_group free_group = {free_channel, 1}, unknown = {unknown_channel, 2};
	struct scheduler_modem modem = {{1, 2000}};
	struct scheduler_channel channel = {1, {0}};
	struct setup c;
	struct scheduler *s = create_valid(&c);

	c.flows[1].group = 2;
	assert_null(scheduler_check_flow(s, &c.flows[1]));
	assert_null(scheduler_check_group(s, &free_group));
	c.flows[1].group = 3;
	assert_non_null(scheduler_check_flow(s, &c.flows[1]));
	assert_non_null(scheduler_check_group(s, &unknown));
	assert_non_null(scheduler_check_modem(&modem));
	assert_non_null(scheduler_check_channel(&channel));
	assert_non_null(scheduler_check_rate_limit(1));
	modem.aggregate.rate = channel.rate = MBPS;
	assert_null(scheduler_check_modem(&modem));
	assert_null(scheduler_check_channel(&channel));
	assert_null(scheduler_check_rate_limit(0));
	check_works(s, 0);
	scheduler_free(s);
}
