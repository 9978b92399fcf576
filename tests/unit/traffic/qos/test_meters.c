/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests meters.h and summary_qos.h: rates, backlogs and delays, against values computed by hand. */
#include "test_main.h"

#include <jansson.h>

#include "group_defaults.h"
#include "qos/meters.h"
#include "summary/summary_qos.h"

#define HZ 1000000
#define MS 1000 /* cycles */
#define BACKLOG_DELAY (METERS_WAIT_MS * (uint64_t)MS)
#define MBPS 1000000
#define BYTES 996 /* 1,000 with the CRC */
#define CHANNELS 70 /* more than the bits of a word */

enum { LIMITED, FREE, CAPPED, RESERVED, BESIDE_RESERVED, STREAMS = 8 }; /* 5 to 7: no flow */

static struct service_flow first_flows[] = {
	{.id = 11, .sustained_rate = 8 * MBPS, .traffic_burst = 3000, .peak_rate = 80 * MBPS},
	{.id = 12, .bonding_group = 1, .priority = 5, .weight = 7},
};
static struct service_flow second_flows[] = {{.id = 21, .weight = 2}};
static struct service_flow third_flows[] = {{.id = 31, .reserved_rate = MBPS}, {.id = 32}};
static struct modem modems[] = {
	{.service_flows = first_flows, .service_flow_count = 2},
	{.service_flows = second_flows,
	 .service_flow_count = 1,
	 .aggregate_rate = 4 * MBPS,
	 .aggregate_burst = 1500},
	{.service_flows = third_flows, .service_flow_count = 2, .aggregate_rate = MBPS},
};
static struct channel channels[CHANNELS];
static uint32_t low[] = {0, 1}, high[] = {1, CHANNELS - 1};
static struct bonding_group bonding_groups[] = {
	{.id = 1, .channels = low, .channel_count = 2},
	{.id = 2, .channels = high, .channel_count = 2},
};
static struct service_group sg = {
	.modems = modems,
	.modem_count = 3,
	.channels = channels,
	.channel_count = CHANNELS,
	.bonding_groups = bonding_groups,
	.bonding_group_count = 2,
};
static uint32_t first_stream[] = {LIMITED, CAPPED, RESERVED, BESIDE_RESERVED + 1};
static const struct targets targets = {
	.first_stream = first_stream, .stream_count = STREAMS, .modem_count = 3};
static struct meters *q;

static int set_up(void **state) {
	for (uint32_t c = 0; c < CHANNELS; c++)
		channels[c] = (struct channel){.id = 100 + c, .rate = 8 * MBPS};
	service_group_set_defaults(&sg);
	q = meters_create(&sg, &targets, HZ);
	return q == NULL ? -1 : 0;
}

static int tear_down(void **state) {
	meters_free(q);
	return 0;
}

/* A packet arrives on channel 1. `made`: time when it was made; 0: unknown. */
static void receive(uint32_t stream, uint64_t made, uint64_t now) {
	const struct arrived packet = {.stream = stream, .bytes = BYTES, .channel = 1, .tsc = made};

	meters_packet(q, &packet, now);
}

/* 8 Mbps are 1 byte per cycle: a burst of 3,000 bytes, then 1,000 bytes per 1,000 cycles. */
TEST(excess_over_rate_and_burst_is_measured) {
	const struct rate_limit *l = &q->flows[LIMITED].sustained;

	for (unsigned i = 0; i < 12; i++)
		receive(LIMITED, 0, MS + (i < 3 ? 0 : i - 2) * 1000);
	assert_true(rate_limit_over(l) == 0);
	receive(LIMITED, 0, MS + 9 * 1000 + 900);
	assert_float_equal(rate_limit_over(l), 100, 1e-6);
	receive(LIMITED, 0, MS + 100 * 1000);
	assert_float_equal(rate_limit_over(l), 100, 1e-6);
	/* after a pause, at most the burst is allowed */
	for (unsigned i = 0; i < 4; i++)
		receive(LIMITED, 0, MS + 200 * 1000);
	assert_float_equal(rate_limit_over(l), 1000, 1e-6);
}

/* A peak rate has its own burst: 80 Mbps admit 2,000 bytes in 200 us. */
TEST(excess_over_peak_rate_is_measured) {
	for (unsigned i = 0; i < 3; i++) {
		assert_true(rate_limit_over(&q->flows[LIMITED].peak) == 0);
		receive(LIMITED, 0, MS);
	}
	assert_float_equal(rate_limit_over(&q->flows[LIMITED].peak), 100, 1e-6);
	assert_true(rate_limit_over(&q->flows[FREE].peak) == 0);
}

TEST(aggregate_rate_applies_unless_a_flow_reserves) {
	receive(CAPPED, 0, MS);
	receive(CAPPED, 0, MS);
	assert_float_equal(rate_limit_over(&q->modems[1].aggregate), 1000, 1e-6);
	receive(RESERVED, 0, MS);
	receive(RESERVED, 0, MS);
	assert_true(rate_limit_over(&q->modems[2].aggregate) == 0);
	assert_true(q->flows[FREE].free);
	assert_false(q->flows[LIMITED].free);
	assert_false(q->flows[CAPPED].free);
	assert_false(q->flows[RESERVED].free);
	assert_true(q->flows[RESERVED].reserves && q->flows[BESIDE_RESERVED].reserves);
	assert_false(q->flows[FREE].reserves);
	assert_int_equal(q->modems[0].first_id, 11);
	assert_int_equal(q->modems[1].first_id, 21);
}

/* A backlog counts time and bytes of packets that were queued with the previous packet. */
TEST(backlog_counts_from_previous_packet) {
	struct backlog *b = &q->flows[FREE].backlog;

	receive(FREE, MS, MS + BACKLOG_DELAY);
	assert_int_equal(b->until, 0);
	receive(FREE, MS, MS + BACKLOG_DELAY + 1);
	assert_int_equal(b->cycles, 0);
	receive(FREE, MS, MS + BACKLOG_DELAY + 500);
	assert_int_equal(b->cycles, 499);
	assert_int_equal(b->bytes, 1000);
	receive(FREE, MS + 500, MS + BACKLOG_DELAY + 900);
	assert_int_equal(b->cycles, 499);
	assert_int_equal(b->total, 4000);
}

TEST(flow_rate_hides_backlog_of_modem_and_channel) {
	receive(LIMITED, MS, MS + BACKLOG_DELAY + 1);
	assert_int_equal(q->flows[LIMITED].backlog.until, MS + BACKLOG_DELAY + 1);
	assert_int_equal(q->modems[0].backlog.until, 0);
	receive(CAPPED, MS, MS + BACKLOG_DELAY + 2);
	assert_int_equal(q->modems[1].backlog.until, MS + BACKLOG_DELAY + 2);
	assert_int_equal(q->channels[1].backlog.until, 0);
	receive(FREE, MS, MS + BACKLOG_DELAY + 3);
	assert_int_equal(q->modems[0].backlog.until, MS + BACKLOG_DELAY + 3);
	assert_int_equal(q->channels[1].backlog.until, MS + BACKLOG_DELAY + 3);
}

TEST(delays_are_of_flows_without_rate) {
	const struct meter_delay *d = &q->groups[1].delays[5];

	receive(FREE, MS, MS + 300);
	receive(FREE, MS, MS + 100);
	receive(FREE, 0, MS + 200);
	receive(FREE, MS + 201, MS + 200);
	receive(LIMITED, MS, MS + 200);
	assert_int_equal(d->packets, 2);
	assert_float_equal(d->cycles, 400, 1e-6);
	assert_int_equal(q->groups[0].delays[0].packets, 0);
}

/* 8 Mbps over 10,000 cycles are 10,000 bytes. */
TEST(group_load_is_that_of_fullest_channel) {
	receive(FREE, 0, MS);
	meters_depi(q, 0, 2000, MS);
	meters_depi(q, 1, 4000, MS);
	meters_depi(q, CHANNELS - 1, 9000, MS + 1);
	meters_depi(q, CHANNELS - 2, 10000, MS + 1);
	meters_stop(q, MS + 10000);
	meters_depi(q, 1, 50000, MS + 10000);
	meters_stop(q, MS + 20000);
	assert_float_equal(q->groups[0].load, 0.4, 1e-9);
	assert_float_equal(q->groups[1].load, 0.9, 1e-9);
	assert_float_equal(q->channels[1].limit.max, 50000, 1e-6);
}

TEST(packets_after_stop_add_no_backlog) {
	receive(FREE, MS, MS + BACKLOG_DELAY + 1);
	meters_stop(q, MS + BACKLOG_DELAY + 2);
	receive(FREE, MS, MS + BACKLOG_DELAY + 3);
	assert_int_equal(q->flows[FREE].backlog.until, MS + BACKLOG_DELAY + 1);
	assert_int_equal(q->flows[FREE].backlog.total, 2000);
	assert_int_equal(q->groups[1].delays[5].packets, 2);
}

TEST(streams_without_flow_are_ignored) {
	receive(BESIDE_RESERVED + 1, MS, MS);
	receive(STREAMS, MS, MS);
	receive(UINT32_MAX, MS, MS);
	assert_int_equal(q->since, 0);
	meters_packet(NULL, &(struct arrived){0}, MS);
	meters_depi(NULL, 0, 1, MS);
	meters_stop(NULL, MS);
	meters_free(NULL);
}

/* The summary's entry for a limit; NULL: none. */
static json_t *find_limit(json_t *summary, const char *kind, unsigned id) {
	json_t *lines = json_object_get(summary, "limits"), *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		if (strcmp(json_string_value(json_object_get(line, "of")), kind) == 0 &&
		    json_integer_value(json_object_get(line, "id")) == id)
			return line;
	}
	return NULL;
}

static double real(const json_t *line, const char *key) {
	return json_number_value(json_object_get(line, key));
}

TEST(exceeded_limits_are_reported) {
	json_t *summary;

	for (unsigned i = 0; i < 5; i++) {
		receive(CAPPED, MS, MS);
		meters_depi(q, 1, 1000, MS);
	}
	meters_stop(q, 2 * MS);
	summary = summary_qos(q, false);
	assert_true(real(find_limit(summary, "modem", 21), "over_s") == 0.007);
	assert_true(real(find_limit(summary, "channel", 101), "over_s") == 0.005);
	assert_null(find_limit(summary, "channel", 100));
	assert_int_equal(real(summary, "rates"), 2);
	assert_true(json_is_false(json_object_get(summary, "shaped")));
	json_decref(summary);
}

/* 80 packets made at the same time arrive in intervals of 16 ms. Returns the summary. */
static json_t *receive_slowly(uint32_t stream, bool shaped) {
	for (uint64_t i = 0; i < 80; i++) {
		meters_depi(q, 1, 1000, 100 * MS + i * 16 * MS);
		receive(stream, MS, 100 * MS + i * 16 * MS);
	}
	meters_stop(q, 100 * MS + 80 * 16 * MS);
	return summary_qos(q, shaped);
}

TEST(missed_rates_are_reported) {
	json_t *summary = receive_slowly(LIMITED, false);
	json_t *line = find_limit(summary, "service flow", 11);

	assert_true(json_is_true(json_object_get(line, "alone")));
	assert_true(real(line, "waited_s") == 79 * 0.016);
	assert_int_equal(real(line, "waited_bytes"), 79 * 1000);
	/* the packets wait for the flow's rate, not the channel's */
	assert_true(real(find_limit(summary, "channel", 101), "waited_s") == 0);
	json_decref(summary);
	summary = summary_qos(q, true);
	assert_true(json_is_true(json_object_get(summary, "shaped")));
	assert_null(find_limit(summary, "service flow", 11)); /* shaped: no verdict */
	json_decref(summary);
	tear_down(state);
	set_up(state);
	summary = receive_slowly(FREE, false);
	line = find_limit(summary, "channel", 101);
	assert_true(real(line, "waited_s") == 79 * 0.016);
	assert_int_equal(real(line, "waited_bytes"), 79 * 1000);
	json_decref(summary);
}

/* A missed rate is not reported if the flow's channel is full, i.e. above 80 % of its capacity. */
TEST(full_channel_explains_missed_rate) {
	for (unsigned frames = 900; frames <= 1200; frames += 300) {
		json_t *summary;

		tear_down(state);
		set_up(state);
		for (uint64_t i = 0; i < frames; i++)
			meters_depi(q, 1, 1000, 100 * MS + i * MS);
		summary = receive_slowly(LIMITED, false);
		assert_int_equal(find_limit(summary, "service flow", 11) != NULL, frames == 900);
		json_decref(summary);
	}
}

TEST(delays_and_shares_are_reported) {
	json_t *summary, *entry;

	receive(FREE, MS, 3 * MS);
	receive(FREE, MS, 5 * MS);
	receive(LIMITED, MS, 900 * MS); /* limited by its own rate: not a delay */
	for (uint64_t i = 0; i < 40; i++)
		receive(CAPPED, MS, 100 * MS + i * 16 * MS);
	meters_stop(q, 1000 * MS);
	summary = summary_qos(q, false);
	assert_int_equal(json_array_size(json_object_get(summary, "delays")), 1);
	entry = json_array_get(json_object_get(summary, "delays"), 0);
	assert_int_equal(real(entry, "bonding_group"), 2);
	assert_int_equal(real(entry, "priority"), 5);
	assert_int_equal(real(entry, "packets"), 2);
	assert_true(real(entry, "mean_us") == 3000);
	assert_int_equal(json_array_size(json_object_get(summary, "shares")), 1);
	entry = json_array_get(json_object_get(summary, "shares"), 0);
	assert_int_equal(real(entry, "id"), 21);
	assert_int_equal(real(entry, "weight"), 2);
	assert_int_equal(real(entry, "waited_bytes"), 39 * 1000);
	json_decref(summary);
}

EACH_TEST(set_up, tear_down)
