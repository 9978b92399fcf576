/* SPDX-License-Identifier: BSD-3-Clause */
/* What rates let through, measured on packets that come at chosen times. */
#include "test_main.h"

#include <jansson.h>

#include "qos/meters.h"
#include "summary/summary_qos.h"

#define HZ 1000000000 /* a cycle is a nanosecond */
#define MS 1000000
#define SIZE 996 /* 1,000 bytes with the CRC: 8 ms at 1 Mbps */

enum { LIMITED, FREE, HIGH, OF_MODEM, STREAMS };

static struct service_flow flows[STREAMS] = {
	[LIMITED] = {.id = 11, .weight = 1, .sustained_rate = 1000000, .traffic_burst = 3000},
	[FREE] = {.id = 12, .weight = 1},
	[HIGH] = {.id = 13, .weight = 1, .priority = 5},
	[OF_MODEM] = {.id = 21, .weight = 2, .bonding_group = 1},
};
static struct modem modems[] = {
	{.service_flows = flows, .service_flow_count = 3},
	{.service_flows = flows + OF_MODEM,
	 .service_flow_count = 1,
	 .aggregate_rate = 1000000,
	 .aggregate_burst = 3000},
};
static struct channel channels[] = {
	{.id = 1, .rate = 8000000}, {.id = 2, .rate = 8000000}, {.id = 3, .rate = 8000000}};
static uint32_t of_groups[] = {0, 1, 2};
static struct bonding_group groups[] = {
	{.id = 7, .channels = of_groups, .channel_count = 2},
	{.id = 8, .channels = of_groups + 2, .channel_count = 1},
};
static const struct service_group sg = {
	.channels = channels,
	.channel_count = 3,
	.bonding_groups = groups,
	.bonding_group_count = 2,
	.modems = modems,
	.modem_count = 2,
};
static uint32_t first_stream[] = {0, OF_MODEM};
static const struct targets targets = {
	.first_stream = first_stream, .stream_count = STREAMS, .modem_count = 2};
static struct meters *q;

static int begin(void **state) {
	q = meters_create(&sg, &targets, HZ);
	return q == NULL ? -1 : 0;
}

static int end(void **state) {
	meters_free(q);
	return 0;
}

/* A packet that was made at one time comes at another on a channel, alone in its DEPI frame. */
static void come(uint32_t stream, uint16_t channel, uint64_t made, uint64_t now) {
	const struct arrived packet = {
		.tsc = made, .stream = stream, .bytes = SIZE, .channel = channel, .valid = true};

	meters_depi(q, channel, SIZE + 4, now);
	meters_packet(q, &packet, now);
}

/* The line of the summary of a limit; NULL where nothing is said of it. */
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

TEST(test_modem_and_channel) {
	json_t *summary;

	for (unsigned i = 0; i < 5; i++)
		come(OF_MODEM, 2, MS, MS);
	meters_stop(q, 2 * MS);
	summary = summary_qos(q, false);
	assert_true(real(limit_of(summary, "modem", 21), "over_s") == 0.016);
	assert_true(real(limit_of(summary, "channel", 3), "over_s") == 0.005);
	assert_null(limit_of(summary, "channel", 1));
	assert_int_equal(real(summary, "rates"), 2);
	assert_true(json_is_false(json_object_get(summary, "shaped")));
	json_decref(summary);
}

/* 80 packets that were all there at the beginning come at half the rate. */
static void slow(uint32_t stream, uint16_t channel, uint64_t apart) {
	for (uint64_t i = 0; i < 80; i++)
		come(stream, channel, MS, 100 * MS + i * apart);
	meters_stop(q, 100 * MS + 80 * apart);
}

TEST(test_rate_is_missed) {
	json_t *summary, *line;

	slow(LIMITED, 0, 16 * MS);
	summary = summary_qos(q, false);
	line = limit_of(summary, "service flow", 11);
	assert_true(json_is_true(json_object_get(line, "alone")));
	assert_true(real(line, "waited_s") == 79 * 0.016);
	assert_int_equal(real(line, "waited_bytes"), 79 * 1000);
	/* Its packets wait for their flow. */
	assert_true(real(limit_of(summary, "channel", 1), "waited_s") == 0);
	json_decref(summary);
	summary = summary_qos(q, true);
	assert_true(json_is_true(json_object_get(summary, "shaped")));
	assert_null(limit_of(summary, "service flow", 11)); /* at other times it may be full */
	json_decref(summary);
}

TEST(test_rate_of_a_channel_is_missed) {
	json_t *summary;

	slow(FREE, 1, 16 * MS);
	summary = summary_qos(q, false);
	assert_true(real(limit_of(summary, "channel", 2), "waited_s") == 79 * 0.016);
	assert_int_equal(real(limit_of(summary, "channel", 2), "waited_bytes"), 79 * 1000);
	json_decref(summary);
}

/* Whether the rate of a flow is alone to blame, where a channel of its group carried so many frames. */
static bool is_blamed_beside(unsigned frames) {
	json_t *summary;
	bool blamed;

	for (uint64_t i = 0; i < frames; i++)
		meters_depi(q, 1, 1000, 100 * MS + i * MS);
	slow(LIMITED, 0, 16 * MS);
	summary = summary_qos(q, false);
	blamed = limit_of(summary, "service flow", 11) != NULL;
	json_decref(summary);
	return blamed;
}

/* A flow has nothing to say against its rate where its channel is full. */
TEST(test_room_in_the_channel) {
	assert_true(is_blamed_beside(900));
}

TEST(test_full_channel_explains) {
	assert_false(is_blamed_beside(1200));
}

TEST(test_delays_and_shares) {
	json_t *summary, *delays, *share;

	come(FREE, 0, MS, 3 * MS);
	come(FREE, 0, MS, 5 * MS);
	come(HIGH, 1, MS, 2 * MS);
	come(LIMITED, 1, MS, 900 * MS); /* its own rate holds it back */
	for (uint64_t i = 0; i < 40; i++)
		come(OF_MODEM, 2, MS, 100 * MS + i * 16 * MS);
	meters_stop(q, 1000 * MS);
	summary = summary_qos(q, false);
	delays = json_object_get(summary, "delays");
	assert_int_equal(json_array_size(delays), 2);
	assert_int_equal(real(json_array_get(delays, 0), "priority"), 0);
	assert_int_equal(real(json_array_get(delays, 0), "packets"), 2);
	assert_true(real(json_array_get(delays, 0), "mean_us") == 3000);
	assert_int_equal(real(json_array_get(delays, 1), "priority"), 5);
	assert_true(real(json_array_get(delays, 1), "mean_us") == 1000);
	assert_int_equal(json_array_size(json_object_get(summary, "shares")), 1);
	share = json_array_get(json_object_get(summary, "shares"), 0);
	assert_int_equal(real(share, "id"), 21);
	assert_int_equal(real(share, "weight"), 2);
	assert_int_equal(real(share, "waited_bytes"), 39 * 1000);
	json_decref(summary);
}

EACH_TEST(begin, end)
