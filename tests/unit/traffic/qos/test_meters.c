/* SPDX-License-Identifier: BSD-3-Clause */
/* Quality of service as the modems see it, against values worked out by hand, and what the summary tells of it. */
#include "test_main.h"

#include <jansson.h>

#include "group_defaults.h"
#include "qos/meters.h"
#include "summary/summary_qos.h"

#define HZ 1000000
#define MS 1000 /* cycles */
#define WAIT (METERS_WAIT_MS * (uint64_t)MS)
#define MBPS 1000000
#define BYTES 996 /* 1,000 with the CRC */
#define CHANNELS 70 /* more than a word of bits holds */

enum { LIMITED, FREE, CAPPED, RESERVED, BESIDE_RESERVED, STREAMS = 8 }; /* 5 and more: none */

static struct service_flow of_first[] = {
	{.id = 11, .sustained_rate = 8 * MBPS, .traffic_burst = 3000, .peak_rate = 80 * MBPS},
	{.id = 12, .bonding_group = 1, .priority = 5, .weight = 7},
};
static struct service_flow of_second[] = {{.id = 21, .weight = 2}};
static struct service_flow of_third[] = {{.id = 31, .reserved_rate = MBPS}, {.id = 32}};
static struct modem modems[] = {
	{.service_flows = of_first, .service_flow_count = 2},
	{.service_flows = of_second,
	 .service_flow_count = 1,
	 .aggregate_rate = 4 * MBPS,
	 .aggregate_burst = 1500},
	{.service_flows = of_third, .service_flow_count = 2, .aggregate_rate = MBPS},
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

static int begin(void **state) {
	for (uint32_t c = 0; c < CHANNELS; c++)
		channels[c] = (struct channel){.id = 100 + c, .rate = 8 * MBPS};
	service_group_defaults(&sg);
	q = meters_create(&sg, &targets, HZ);
	return q == NULL ? -1 : 0;
}

static int end(void **state) {
	meters_free(q);
	return 0;
}

/* On channel 1; `made`: when, 0 where nobody knows. */
static void come(uint32_t stream, uint64_t made, uint64_t now) {
	const struct arrived packet = {.stream = stream, .bytes = BYTES, .channel = 1, .tsc = made};

	meters_packet(q, &packet, now);
}

/* 8 Mbps are 1 byte a cycle: the burst of 3,000 bytes at once, then 1,000 in each 1,000 cycles. */
TEST(a_rate_and_its_burst_are_kept) {
	const struct rate_limit *l = &q->flows[LIMITED].sustained;

	for (unsigned i = 0; i < 12; i++)
		come(LIMITED, 0, MS + (i < 3 ? 0 : i - 2) * 1000);
	assert_true(rate_limit_over(l) == 0);
	come(LIMITED, 0, MS + 9 * 1000 + 900);
	assert_float_equal(rate_limit_over(l), 100, 1e-6);
	come(LIMITED, 0, MS + 100 * 1000);
	assert_float_equal(rate_limit_over(l), 100, 1e-6);
	/* What a pause saves up is the burst, no more. */
	for (unsigned i = 0; i < 4; i++)
		come(LIMITED, 0, MS + 200 * 1000);
	assert_float_equal(rate_limit_over(l), 1000, 1e-6);
}

/* 80 Mbps let 2,000 bytes pass in 200 us: a peak rate has a burst of its own. */
TEST(a_peak_rate_is_kept) {
	for (unsigned i = 0; i < 3; i++) {
		assert_true(rate_limit_over(&q->flows[LIMITED].peak) == 0);
		come(LIMITED, 0, MS);
	}
	assert_float_equal(rate_limit_over(&q->flows[LIMITED].peak), 100, 1e-6);
	assert_true(rate_limit_over(&q->flows[FREE].peak) == 0);
}

TEST(a_modem_has_a_rate_for_its_flows_unless_one_reserves) {
	come(CAPPED, 0, MS);
	come(CAPPED, 0, MS);
	assert_float_equal(rate_limit_over(&q->modems[1].aggregate), 1000, 1e-6);
	come(RESERVED, 0, MS);
	come(RESERVED, 0, MS);
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

/* Two packets that were there together: the second one's time and bytes count. */
TEST(what_waits_is_counted_from_the_packet_before) {
	struct backlog *b = &q->flows[FREE].backlog;

	come(FREE, MS, MS + WAIT);
	assert_int_equal(b->until, 0);
	come(FREE, MS, MS + WAIT + 1);
	assert_int_equal(b->cycles, 0);
	come(FREE, MS, MS + WAIT + 500);
	assert_int_equal(b->cycles, 499);
	assert_int_equal(b->bytes, 1000);
	come(FREE, MS + 500, MS + WAIT + 900);
	assert_int_equal(b->cycles, 499);
	assert_int_equal(b->total, 4000);
}

TEST(a_rate_of_its_own_hides_those_around) {
	come(LIMITED, MS, MS + WAIT + 1);
	assert_int_equal(q->flows[LIMITED].backlog.until, MS + WAIT + 1);
	assert_int_equal(q->modems[0].backlog.until, 0);
	come(CAPPED, MS, MS + WAIT + 2);
	assert_int_equal(q->modems[1].backlog.until, MS + WAIT + 2);
	assert_int_equal(q->channels[1].backlog.until, 0);
	come(FREE, MS, MS + WAIT + 3);
	assert_int_equal(q->modems[0].backlog.until, MS + WAIT + 3);
	assert_int_equal(q->channels[1].backlog.until, MS + WAIT + 3);
}

TEST(delays_are_those_of_free_flows) {
	const struct meter_delay *d = &q->groups[1].delays[5];

	come(FREE, MS, MS + 300);
	come(FREE, MS, MS + 100);
	come(FREE, 0, MS + 200);
	come(FREE, MS + 201, MS + 200);
	come(LIMITED, MS, MS + 200);
	assert_int_equal(d->packets, 2);
	assert_float_equal(d->cycles, 400, 1e-6);
	assert_int_equal(q->groups[0].delays[0].packets, 0);
}

/* 8 Mbps over 10,000 cycles are 10,000 bytes. */
TEST(the_load_of_a_group_is_that_of_its_fullest_channel) {
	come(FREE, 0, MS);
	meters_depi(q, 0, 2000, MS);
	meters_depi(q, 1, 4000, MS);
	meters_depi(q, CHANNELS - 1, 9000, MS + 1);
	meters_depi(q, CHANNELS - 2, 10000, MS + 1);
	meters_stop(q, MS + 10000);
	meters_depi(q, 1, 50000, MS + 10000);
	meters_stop(q, MS + 20000);
	assert_float_equal(q->groups[0].load, 0.4, 1e-9);
	assert_float_equal(q->groups[1].load, 0.9, 1e-9);
	assert_float_equal(q->channels[1].limit.most, 50000, 1e-6);
}

TEST(what_comes_when_nothing_is_sent_any_more_waits_for_nothing) {
	come(FREE, MS, MS + WAIT + 1);
	meters_stop(q, MS + WAIT + 2);
	come(FREE, MS, MS + WAIT + 3);
	assert_int_equal(q->flows[FREE].backlog.until, MS + WAIT + 1);
	assert_int_equal(q->flows[FREE].backlog.total, 2000);
	assert_int_equal(q->groups[1].delays[5].packets, 2);
}

TEST(other_streams_are_nobodys) {
	come(BESIDE_RESERVED + 1, MS, MS);
	come(STREAMS, MS, MS);
	come(UINT32_MAX, MS, MS);
	assert_int_equal(q->since, 0);
	meters_packet(NULL, &(struct arrived){0}, MS);
	meters_depi(NULL, 0, 1, MS);
	meters_stop(NULL, MS);
	meters_free(NULL);
}

/* The summary's line of a limit; NULL where nothing is said of it. */
static json_t *limit_of(json_t *summary, const char *of, unsigned id) {
	json_t *lines = json_object_get(summary, "limits"), *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		if (strcmp(json_string_value(json_object_get(line, "of")), of) == 0 &&
		    json_integer_value(json_object_get(line, "id")) == id)
			return line;
	}
	return NULL;
}

static double real(const json_t *line, const char *key) {
	return json_number_value(json_object_get(line, key));
}

TEST(what_was_over_is_told) {
	json_t *summary;

	for (unsigned i = 0; i < 5; i++) {
		come(CAPPED, MS, MS);
		meters_depi(q, 1, 1000, MS);
	}
	meters_stop(q, 2 * MS);
	summary = summary_qos(q, false);
	assert_true(real(limit_of(summary, "modem", 21), "over_s") == 0.007);
	assert_true(real(limit_of(summary, "channel", 101), "over_s") == 0.005);
	assert_null(limit_of(summary, "channel", 100));
	assert_int_equal(real(summary, "rates"), 2);
	assert_true(json_is_false(json_object_get(summary, "shaped")));
	json_decref(summary);
}

/* 80 packets that were all there at the beginning come one by one. */
static json_t *slow(uint32_t stream, bool shaped) {
	for (uint64_t i = 0; i < 80; i++) {
		meters_depi(q, 1, 1000, 100 * MS + i * 16 * MS);
		come(stream, MS, 100 * MS + i * 16 * MS);
	}
	meters_stop(q, 100 * MS + 80 * 16 * MS);
	return summary_qos(q, shaped);
}

TEST(rates_that_are_missed_are_told) {
	json_t *summary = slow(LIMITED, false), *line = limit_of(summary, "service flow", 11);

	assert_true(json_is_true(json_object_get(line, "alone")));
	assert_true(real(line, "waited_s") == 79 * 0.016);
	assert_int_equal(real(line, "waited_bytes"), 79 * 1000);
	/* Its packets wait for their flow. */
	assert_true(real(limit_of(summary, "channel", 101), "waited_s") == 0);
	json_decref(summary);
	summary = summary_qos(q, true);
	assert_true(json_is_true(json_object_get(summary, "shaped")));
	assert_null(limit_of(summary, "service flow", 11)); /* at other times it may be full */
	json_decref(summary);
	end(state);
	begin(state);
	summary = slow(FREE, false);
	line = limit_of(summary, "channel", 101);
	assert_true(real(line, "waited_s") == 79 * 0.016);
	assert_int_equal(real(line, "waited_bytes"), 79 * 1000);
	json_decref(summary);
}

/* A flow has nothing to say against its rate where its channel is full: with 80 % of what it may carry. */
TEST(a_full_channel_explains) {
	for (unsigned frames = 900; frames <= 1200; frames += 300) {
		json_t *summary;

		end(state);
		begin(state);
		for (uint64_t i = 0; i < frames; i++)
			meters_depi(q, 1, 1000, 100 * MS + i * MS);
		summary = slow(LIMITED, false);
		assert_int_equal(limit_of(summary, "service flow", 11) != NULL, frames == 900);
		json_decref(summary);
	}
}

TEST(delays_and_shares_are_told) {
	json_t *summary, *told;

	come(FREE, MS, 3 * MS);
	come(FREE, MS, 5 * MS);
	come(LIMITED, MS, 900 * MS); /* its own rate holds it back */
	for (uint64_t i = 0; i < 40; i++)
		come(CAPPED, MS, 100 * MS + i * 16 * MS);
	meters_stop(q, 1000 * MS);
	summary = summary_qos(q, false);
	assert_int_equal(json_array_size(json_object_get(summary, "delays")), 1);
	told = json_array_get(json_object_get(summary, "delays"), 0);
	assert_int_equal(real(told, "bonding_group"), 2);
	assert_int_equal(real(told, "priority"), 5);
	assert_int_equal(real(told, "packets"), 2);
	assert_true(real(told, "mean_us") == 3000);
	assert_int_equal(json_array_size(json_object_get(summary, "shares")), 1);
	told = json_array_get(json_object_get(summary, "shares"), 0);
	assert_int_equal(real(told, "id"), 21);
	assert_int_equal(real(told, "weight"), 2);
	assert_int_equal(real(told, "waited_bytes"), 39 * 1000);
	json_decref(summary);
}

EACH_TEST(begin, end)
