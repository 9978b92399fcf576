/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the model of the upstream scheduler does not cover: admission, more flows than a MAP
 * has elements, the end of time, and refused settings, which change nothing. */
#include "maps_kit.h"
#include "test_main.h"

static const struct maps_flow best_effort = {.header_bytes = 8};

TEST(flows_beyond_elements_are_pending) {
	struct kit k;

	kit_create_equal(&k, kit_ofdma(1), 1, 2000);
	for (uint32_t i = 0; i < 2000; i++) {
		assert_null(kit_set_flow(&k, i, 1, best_effort));
		kit_request(&k, i, 88);
	}
	for (int i = 1; i <= 5; i++) {
		kit_make_next(&k);
		assert_int_equal(kit_counts(&k).granted_bytes, i < 5 ? i * 425 * 88 : 2000 * 88);
	}
	assert_int_equal(kit_counts(&k).pendings, 4 * 61);
	kit_free(&k);
}

/* A flow of a channel whose MAP has no free element gets its pending grant on another channel. */
TEST(pending_grant_moves_to_another_channel) {
	const uint32_t both = 600;
	struct kit k;

	kit_create_equal(&k, kit_ofdma(1), 2, both + 1);
	for (uint32_t i = 0; i <= both; i++) {
		assert_null(kit_set_flow(&k, i, i < both ? 1 : 3, best_effort));
		kit_request(&k, i, i < both ? 88 : 1 << 20);
	}
	kit_make_next(&k);
	assert_int_equal(k.pendings[0][both + 1], 0);
	assert_int_equal(k.pendings[1][both + 1], 1);
	kit_free(&k);
}

/* Sets a flow on all channels, with SIDs from `first` on. */
static void set_sids(struct kit *k, uint32_t flow, uint32_t first) {
	struct maps_sid sids[KIT_CHANNELS];
	const struct maps_cluster cluster = {sids, k->count};
	struct maps_flow f = best_effort;

	for (uint32_t c = 0; c < k->count; c++)
		sids[c] = (struct maps_sid){(uint16_t)c, (uint16_t)(first + c)};
	f.clusters = &cluster;
	f.cluster_count = 1;
	assert_null(maps_set_flow(k->m, flow, &f, k->now));
}

/* Two flows share all channels, each with a SID of its own on each of them. */
TEST(grants_have_the_sid_of_their_channel) {
	struct kit k;

	kit_create_equal(&k, kit_ofdma(1), KIT_CHANNELS, 2);
	set_sids(&k, 0, 100);
	set_sids(&k, 1, 200);
	kit_request(&k, 0, 4000000);
	kit_request(&k, 1, 4000000);
	for (int i = 0; i < 3; i++)
		kit_make_next(&k);
	for (uint32_t c = 0; c < KIT_CHANNELS; c++) {
		uint64_t first = k.granted[c][100 + c], second = k.granted[c][200 + c], all = 0;

		for (uint32_t sid = 0; sid < KIT_SIDS; sid++)
			all += k.granted[c][sid];
		assert_true(first > 0 && second > 0);
		assert_int_equal(first + second, all);
		for (uint32_t flow = 0; flow < 2; flow++)
			assert_true(k.pendings[c][100 * (flow + 1) + c] == (c == 0 ? 3 : 0));
	}
	kit_check_counts(&k);
	kit_free(&k);
}

/* Adds flows on two channels until one is refused. Returns how many were accepted. */
static uint32_t admit(struct kit *k, struct maps_channel channel, struct maps_flow flow) {
	uint32_t flows = 0;

	kit_create_equal(k, channel, 2, 1000);
	while (kit_set_flow(k, flows, 3, flow) == NULL)
		flows++;
	return flows;
}

TEST(unsolicited_grants_are_limited_and_met) {
	const struct maps_flow voice = {
		.type = MAPS_UNSOLICITED,
		.grant_interval = MS(20),
		.grant_jitter = US(800),
		.grant_bytes = 232,
		.grants = 1,
		.header_bytes = 8,
	};
	struct kit r;
	uint32_t flows = admit(&r, kit_sc_qam(1), voice);

	/* of 160,000 minislots per second less 4,000 for requests, seven eighths; 600 per flow */
	assert_in_range(flows, 2 * 226, 2 * 228);
	kit_run(&r, r.now + MS(2000));
	assert_int_equal(kit_counts(&r).missed, 0);
	for (uint32_t i = 0; i < flows; i++)
		assert_in_range(kit_granted(&r, i), 98 * 12, 101 * 12);
	assert_null(kit_set_flow(&r, 0, 0, voice)); /* freed capacity is available */
	assert_null(kit_set_flow(&r, flows, 3, voice));
	assert_non_null(kit_set_flow(&r, 0, 3, voice));
	assert_null(kit_set_flow(&r, 5, 3, voice)); /* a flow can replace itself */
	kit_free(&r);
}

/* Reserved rates are limited, too, and are met beside a greedy flow. */
TEST(reserved_rates_are_limited_and_met) {
	const struct maps_flow f = {.reserved = 10000000, .header_bytes = 8};
	struct kit r;
	uint32_t flows = admit(&r, kit_ofdma(1), f);

	assert_in_range(flows, 130, 133); /* of 668 Mbps per channel */
	assert_null(kit_set_flow(&r, flows, 3, best_effort));
	for (int i = 0; i < 500; i++) {
		for (uint32_t k = 0; k <= flows; k++)
			kit_request(&r, k, k == flows ? 500000 : 4000);
		kit_make_next(&r);
	}
	for (uint32_t i = 0; i < flows; i++)
		assert_true(kit_granted(&r, i) * 48 >= 500 * 2025 * 10 / 8 * 99 / 100);
	kit_free(&r);
}

TEST(clock_may_jump_to_its_end) {
	static struct map map;
	uint32_t channel, maps = 0;
	struct kit r;

	kit_create_equal(&r, kit_sc_qam(1), 4, 20);
	for (uint32_t i = 0; i < 20; i++)
		kit_set_flow(&r, i, 15,
			     (struct maps_flow){.type = (enum maps_type)(i % 6),
						.poll_interval = (uint32_t)MS(10),
						.grant_interval = (uint32_t)MS(10),
						.grant_bytes = 100,
						.grants = 1,
						.guaranteed_rate = 1000,
						.sustained = 1000});
	for (int i = 0; i < 3; i++) {
		kit_request(&r, 0, 1000000);
		while ((channel = maps_make(r.m, UINT64_MAX, &map)) != MAPS_NONE)
			maps++;
	}
	assert_true(maps <= 4);
	assert_in_range(maps_due(r.m), UINT64_C(1) << 62, (UINT64_C(1) << 62) + MS(3));
	assert_true(kit_counts(&r).late > 1000000);
	kit_check_counts(&r);
	kit_free(&r);
}

static const char *create_with(struct maps_channel c) {
	const char *why = NULL;
	struct maps *m = maps_create(
		&(struct maps_config){.channels = &c, .channel_count = 1, .flows = 1}, &why);

	assert_true((m == NULL) == (why != NULL));
	maps_free(m);
	return why;
}

/* The reason must begin with these words. */
static void check_reason(const char *why, const char *words) {
	assert_non_null(why);
	if (strncmp(why, words, strlen(words)) != 0)
		fail_msg("\"%s\" does not begin with \"%s\"", why, words);
}

#define REFUSED(kind, change, words)                   \
	do {                                           \
		struct maps_channel c = kit_##kind(1); \
		c.change;                              \
		check_reason(create_with(c), words);   \
	} while (0)

TEST(invalid_channel_is_refused) {
	REFUSED(ofdma, kind = (enum maps_kind)2, "a channel is SC-QAM or OFDMA");
	REFUSED(ofdma, frame = 127, "a frame takes 128 samples to 0.1 s");
	REFUSED(ofdma, frame = 20480001, "a frame takes 128 samples to 0.1 s");
	REFUSED(ofdma, frame_minislots = 0, "a frame has minislots; with SC-QAM");
	REFUSED(sc_qam, frame_minislots = 2, "a frame has minislots; with SC-QAM");
	REFUSED(ofdma, frame_minislots = 1729, "a frame has at most a minislot in 16 samples");
	REFUSED(ofdma, minislot_bytes = 0, "a minislot has bytes");
	REFUSED(ofdma, interval = 20480001, "a MAP describes at most 0.1 s");
	REFUSED(ofdma, interval = 70 * 27648, "a MAP describes more minislots than");
	REFUSED(sc_qam, interval = 4097 * 1280, "a MAP describes more minislots than");
	REFUSED(ofdma, minislot_bytes = 2380, "a MAP describes more than 8 MiB");
	REFUSED(ofdma, lead = MAPS_HZ + 1, "lead and ack delay are at most 1 s");
	REFUSED(ofdma, ack_delay = MAPS_HZ + 1, "lead and ack delay are at most 1 s");
	REFUSED(ofdma, slack = MS(1) + 1, "lead and ack delay are at most 1 s, and the slack");
	REFUSED(ofdma, request_minislots = 0, "there is at least one request opportunity");
	REFUSED(ofdma, request_opportunities = 0, "there is at least one request opportunity");
	REFUSED(ofdma, initial_interval = MAPS_INITIAL_MAX + 1, "initial maintenance comes");
	REFUSED(ofdma, initial_interval = 1, "initial maintenance takes minislots");
	REFUSED(sc_qam, max_burst_minislots = 7, "the longest burst has no space for 128 bytes");
	REFUSED(ofdma, station_minislots = 3525 - 8 - 2, "a MAP is too short for requests");
	REFUSED(ofdma, ranging_start = 1, "back-off windows of ranging are 0..15");
	REFUSED(ofdma, ranging_end = 16, "back-off windows of ranging are 0..15");
	REFUSED(ofdma, data_start = 11, "back-off windows of data are 0..15");
	REFUSED(ofdma, data_end = 16, "back-off windows of data are 0..15");
	REFUSED(ofdma, data_iuc = 0, "an interval usage code is 1..15 and not 7");
	REFUSED(ofdma, data_iuc = 7, "an interval usage code is 1..15 and not 7");
	REFUSED(ofdma, data_iuc = 16, "an interval usage code is 1..15 and not 7");
	REFUSED(ofdma, short_iuc = 7, "an interval usage code is 1..15 and not 7");
	REFUSED(ofdma, short_iuc = 16, "an interval usage code is 1..15 and not 7");
}

TEST(limits_of_ranges_are_accepted) {
	struct maps_channel c = kit_ofdma(1);

	c.initial_minislots = 3525 - 8 - 3;
	c.initial_interval = MAPS_INITIAL_MAX;
	c.lead = c.ack_delay = c.slack = MAPS_HZ;
	c.data_end = c.ranging_end = 15;
	c.minislot_bytes = 2379;
	c.max_burst_minislots = 1;
	c.initial_minislots = 3525 - 8 - 1;
	assert_null(create_with(c));
	c.station_minislots = 3525 - 8 - 1; /* in another MAP */
	assert_null(create_with(c));
	c.initial_minislots = 3525 - 8;
	check_reason(create_with(c), "a MAP is too short for requests");
	c.initial_interval = 0; /* off: it takes nothing */
	assert_null(create_with(c));
	c = kit_sc_qam(1);
	c.interval = 4096 * 1280;
	assert_null(create_with(c));
	c.interval = 0; /* rounded to one frame: too short */
	check_reason(create_with(c), "a MAP is too short for requests");
}

TEST(invalid_configuration_is_refused) {
	static const struct {
		size_t channels;
		uint32_t flows, flow_bytes;
		uint64_t start;
		const char *words;
	} cases[] = {
		{0, 1, 0, 0, "there are 1 to 64 channels"},
		{65, 1, 0, 0, "there are 1 to 64 channels"},
		{2, 1, 0, 0, "two channels have the same ID"},
		{1, 0, 0, 0, "there is capacity for 1 to 2^24 flows"},
		{1, 1, MAPS_BURST_MAX + 1, 0, "a flow can be owed at most 1 GiB"},
		{1, 1, 0, UINT64_C(1) << 61, "the start is a time below 2^61"},
	};
	struct maps_channel c[65] = {kit_ofdma(1), kit_ofdma(1)};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct maps_config config = {c, cases[i].channels, cases[i].flows,
						   cases[i].flow_bytes, cases[i].start};
		const char *why;

		assert_null(maps_create(&config, &why));
		check_reason(why, cases[i].words);
		assert_null(maps_create(&config, NULL));
	}
	maps_free(NULL);
}

#define NO_FLOW(change, words)                                  \
	do {                                                    \
		struct maps_flow f = {.header_bytes = 8};       \
		change;                                         \
		check_reason(kit_set_flow(&r, 0, 3, f), words); \
	} while (0)

static struct maps_flow unsolicited(uint32_t interval, uint8_t grants, uint32_t bytes) {
	return (struct maps_flow){.type = MAPS_UNSOLICITED,
				  .grant_interval = interval,
				  .grants = grants,
				  .grant_bytes = bytes,
				  .header_bytes = 8};
}

static struct maps_flow proactive(uint32_t interval, uint64_t rate) {
	return (struct maps_flow){
		.type = MAPS_PROACTIVE, .grant_interval = interval, .guaranteed_rate = rate};
}

TEST(invalid_flow_is_refused) {
	static const char too_much[] = "unsolicited grants or polls are more than a channel";
	struct maps_channel c[] = {kit_ofdma(1), kit_sc_qam(2)};
	struct kit r;

	kit_create(&r, c, 2, 2);
	assert_null(kit_set_flow(&r, 0, 3, (struct maps_flow){.header_bytes = 8}));
	kit_request(&r, 0, 1000);
	NO_FLOW(f.type = (enum maps_type)6, "there is no such scheduling type");
	NO_FLOW(f.priority = 8, "a priority is 0..7");
	NO_FLOW(f.sustained = MAPS_RATE_MAX + 1, "a rate is at most 100 Gbps");
	NO_FLOW(f.peak = MAPS_RATE_MAX + 1, "a rate is at most 100 Gbps");
	NO_FLOW(f.reserved = MAPS_RATE_MAX + 1, "a rate is at most 100 Gbps");
	NO_FLOW(f.guaranteed_rate = MAPS_RATE_MAX + 1, "a rate is at most 100 Gbps");
	NO_FLOW((f.peak = 9, f.sustained = 10), "the peak rate is at least the sustained");
	NO_FLOW((f.reserved = 11, f.sustained = 10), "the reserved rate is at most the sustained");
	NO_FLOW(f.sustained_burst = MAPS_BURST_MAX + 1, "a burst is at most 1 GiB");
	NO_FLOW(f.header_bytes = 65, "a header before data has at most 64 bytes");
	NO_FLOW(f.max_burst = 127, "the longest grant has at least 128 bytes");
	NO_FLOW((f.type = MAPS_REAL_TIME_POLLING, f.poll_interval = 1279), "polls are at least");
	NO_FLOW(f.type = MAPS_NON_REAL_TIME_POLLING, "polls are at least 6.25 us apart");
	NO_FLOW((f.type = MAPS_UNSOLICITED_ACTIVITY, f.poll_interval = 1), "polls are at least");
	NO_FLOW(f = unsolicited(1279, 1, 1), "unsolicited grants are at least 6.25 us apart");
	NO_FLOW(f = proactive(0, 1), "unsolicited grants are at least 6.25 us apart");
	NO_FLOW(f = unsolicited(MS(1), 1, 0), "unsolicited grants have bytes, and are");
	NO_FLOW(f = unsolicited(MS(1), 0, 1), "unsolicited grants have bytes, and are");
	NO_FLOW((f = unsolicited(MS(1), 1, 121), f.max_burst = 128), "an unsolicited grant is");
	NO_FLOW(f = unsolicited(MS(1), 1, UINT32_MAX), "an unsolicited grant is longer");
	NO_FLOW(f = proactive(MS(1), 0), "proactive grants have a guaranteed rate");
	NO_FLOW(f = proactive(MS(101), 1), "proactive grants are at most 0.1 s apart");
	NO_FLOW(f = proactive(MS(100), MAPS_RATE_MAX), too_much);
	NO_FLOW(f = unsolicited(MS(100), 1, 200000), too_much); /* more than a MAP has */
	NO_FLOW(f.reserved = 800000000, "a reserved rate is more than the channels");
	assert_null(kit_set_flow(
		&r, 1, 3,
		(struct maps_flow){.type = MAPS_REAL_TIME_POLLING, .poll_interval = 1280}));
	check_reason(kit_set_flow(&r, 2, 3, (struct maps_flow){.priority = 0}),
		     "there is no capacity for");
	assert_int_equal(kit_counts(&r).owed_bytes, 1000); /* unchanged */
	assert_int_equal(kit_counts(&r).forgotten_bytes, 0);
	kit_free(&r);
}

#define NO_SIDS(flow, count, words, ...) \
	check_reason(set_clusters(&r, flow, (struct maps_cluster[]){__VA_ARGS__}, count), words)

static const char *set_clusters(struct kit *r, uint32_t flow, const struct maps_cluster *clusters,
				size_t count) {
	return maps_set_flow(r->m, flow,
			     &(struct maps_flow){.clusters = clusters, .cluster_count = count}, 0);
}

TEST(invalid_sid_is_refused) {
	struct maps_channel c[] = {kit_ofdma(1), kit_sc_qam(2)};
	struct maps_sid good[] = {{0, 5}, {1, 5}}, other[] = {{0, 5}}, absent[] = {{2, 6}},
			zero[] = {{0, 0}}, all[] = {{0, MAP_SID_BROADCAST}},
			repeated[] = {{0, 6}, {0, 7}}, second[] = {{1, 6}, {1, 7}},
			last[] = {{1, 0x3ffe}};
	struct maps_cluster clusters[9] = {{good, 2}, {other, 1}};
	struct kit r;

	kit_create(&r, c, 2, 3);
	NO_SIDS(0, 1, "a SID cluster has a SID", {good, 0});
	NO_SIDS(0, 1, "a SID cluster has a SID", {NULL, 1});
	NO_SIDS(0, 1, "a SID's channel does not exist", {absent, 1});
	NO_SIDS(0, 1, "a SID is 1..0x3ffe", {zero, 1});
	NO_SIDS(0, 1, "a SID is 1..0x3ffe", {all, 1});
	NO_SIDS(0, 1, "a SID cluster has a channel twice", {repeated, 2});
	NO_SIDS(0, 1, "a SID cluster has a channel twice", {second, 2});
	check_reason(set_clusters(&r, 0, clusters, 2), "a SID is in two clusters of a channel");
	check_reason(set_clusters(&r, 0, clusters, 9), "a flow has at most 8 SID clusters");
	check_reason(set_clusters(&r, 0, NULL, 1), "a flow has at most 8 SID clusters");
	assert_null(set_clusters(&r, 0, clusters, 1));
	check_reason(set_clusters(&r, 1, clusters, 1), "a SID is in two clusters of a channel");
	assert_null(set_clusters(&r, 0, clusters, 1)); /* its own SIDs */
	assert_null(set_clusters(&r, 1, (struct maps_cluster[]){{last, 1}}, 1));
	assert_null(set_clusters(&r, 0, NULL, 0));
	assert_null(set_clusters(&r, 2, clusters, 1)); /* free again */
	kit_free(&r);
}

/* There are at most 256 sets of channels, until one is free again. */
TEST(channel_sets_are_limited) {
	struct maps_channel c[KIT_CHANNELS + 1];
	struct maps_sid sids[9];
	struct maps_cluster cluster = {sids, 0};
	struct maps *m;
	uint32_t flow = 0;

	for (uint32_t i = 0; i < 9; i++)
		c[i] = kit_ofdma((uint8_t)(i + 1));
	m = maps_create(&(struct maps_config){.channels = c, .channel_count = 9, .flows = 600},
			NULL);
	for (uint32_t mask = 1; mask < 512; mask++, flow++) {
		const char *why;

		cluster.count = 0;
		for (uint16_t i = 0; i < 9; i++)
			if (mask >> i & 1)
				sids[cluster.count++] = (struct maps_sid){i, (uint16_t)mask};
		why = maps_set_flow(
			m, flow, &(struct maps_flow){.clusters = &cluster, .cluster_count = 1}, 0);
		if (flow < MAPS_SETS)
			assert_null(why);
		else
			check_reason(why, "there are more than 256 different sets of channels");
	}
	assert_null(maps_set_flow(m, 100, &(struct maps_flow){.cluster_count = 0}, 0));
	assert_null(maps_set_flow(
		m, 511, &(struct maps_flow){.clusters = &cluster, .cluster_count = 1}, 0));
	maps_free(m);
}
