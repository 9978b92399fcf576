/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: rates of channels and of the service group, over any stretch of time. */
#include "test.h"

#include <stdbool.h>

#include "random.h"
#include "scheduler/scheduler.h"

#define MBPS 1000000ull
#define NS_PER_S 1000000000ull
#define MAX_CHANNELS 4
#define FLOWS 6
#define STEPS 400000

/*
 * A leaky bucket beside each channel: it holds what the channel has been given and cannot have sent
 * yet, in ns. Where it never holds more than the lead before a packet is added, no stretch of time
 * sees more than rate x (stretch + lead) and one packet.
 */
struct meter {
	double rate; /* bits per ns */
	double level;
	uint64_t at;
	uint64_t bytes;
};

static void meter_add(struct meter *m, uint64_t now, uint32_t bytes) {
	m->level -= (double)(now - m->at);
	if (m->level < 0)
		m->level = 0;
	m->at = now;
	if (m->level > SCHEDULER_LEAD_NS + 2)
		fail_msg("%.0f ns of work wait before one more packet", m->level);
	m->level += 8.0 * bytes / m->rate;
	m->bytes += bytes;
}

/* Part of what the rate allows in `ns` that was used. */
static double meter_fill(const struct meter *m, uint64_t ns) {
	return 8.0 * (double)m->bytes / (m->rate * (double)ns);
}

struct load {
	struct scheduler *s;
	struct random random;
	uint32_t flow_count;
	uint32_t smallest, largest; /* bytes of a packet */
	uint64_t flow_bytes[FLOWS], flow_packets[FLOWS];
	struct meter channels[MAX_CHANNELS];
	struct meter limit;
};

/* Packets are their own size; each flow always has some. */
static void refill(struct load *l) {
	for (uint32_t f = 0; f < l->flow_count; f++) {
		uint32_t bytes;

		do
			bytes = random_between(&l->random, l->smallest, l->largest);
		while (scheduler_enqueue(l->s, f, (void *)(uintptr_t)bytes, bytes, bytes) ==
		       SCHEDULER_QUEUED);
	}
}

static void send(struct load *l, uint64_t now) {
	struct scheduler_grant grants[64];
	unsigned n;

	do {
		n = scheduler_dequeue(l->s, now, grants, 64);
		for (unsigned i = 0; i < n; i++) {
			uint32_t bytes = (uint32_t)(uintptr_t)grants[i].packet;

			meter_add(&l->channels[grants[i].channel], now, bytes);
			if (l->limit.rate > 0)
				meter_add(&l->limit, now, bytes);
			l->flow_bytes[grants[i].flow] += bytes;
			assert_int_equal(grants[i].sequence,
					 l->flow_packets[grants[i].flow]++ & 0xffff);
		}
		refill(l);
	} while (n == 64);
}

/* Polls at random times, 1 to 50 us apart, from `now` for `ns`. Returns the time of the end. */
static uint64_t run(struct load *l, uint64_t now, uint64_t ns) {
	uint64_t end = now + ns;

	refill(l);
	for (; now < end; now += random_between(&l->random, 1000, 50000))
		send(l, now);
	send(l, end);
	return end;
}

static struct load load_make(const struct scheduler_config *c) {
	struct load l = {
		.random = {12345},
		.flow_count = (uint32_t)c->flow_count,
		.smallest = 31,
		.largest = 2017,
		.limit.rate = (double)c->rate_limit / NS_PER_S,
	};

	l.s = scheduler_create(c);
	assert_non_null(l.s);
	for (size_t i = 0; i < c->channel_count; i++)
		l.channels[i].rate = (double)c->channels[i].rate / NS_PER_S;
	return l;
}

static void load_end(struct load *l) {
	void *packets[64];

	while (scheduler_drain(l->s, packets, 64) > 0)
		;
	assert_int_equal(scheduler_held(l->s), 0);
	scheduler_free(l->s);
}

static const uint32_t channel_list[] = {0, 1, 2, 3};

/* The whole of the channels, at rates that do not divide evenly. */
static void channels_are_filled_and_never_overrun(void **state) {
	static const uint64_t rates[] = {42880000, 1890000000, 777777777, 4000000000};
	struct scheduler_channel channels[MAX_CHANNELS];
	const struct scheduler_group group = {channel_list, MAX_CHANNELS};
	const struct scheduler_flow flows[] = {{0, 200000}, {0, 200000}};
	struct scheduler_config c = {channels, MAX_CHANNELS, &group, 1, flows, 2, 0, 100000};
	const uint64_t ns = 200000000;

	(void)state;
	for (int i = 0; i < MAX_CHANNELS; i++)
		channels[i].rate = rates[i];

	struct load l = load_make(&c);

	run(&l, 0, ns);
	for (int i = 0; i < MAX_CHANNELS; i++) {
		double fill = meter_fill(&l.channels[i], ns);

		if (fill < 0.995)
			fail_msg("channel %d is filled to %.4f", i, fill);
	}
	load_end(&l);
}

static void slow_and_fast_single_channels(void **state) {
	static const uint64_t rates[] = {1000, 100000, 3 * MBPS, 10000 * MBPS, 100000 * MBPS};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		const struct scheduler_channel channel = {rates[i]};
		const struct scheduler_group group = {channel_list, 1};
		const struct scheduler_flow flow = {0, 4000000};
		struct scheduler_config c = {&channel, 1, &group, 1, &flow, 1, 0, 200000};
		struct load l = load_make(&c);
		/* two thousand packets, that the last one counts little; many polls for each */
		uint64_t ns = UINT64_C(2000) * 8 * 1000 * NS_PER_S / rates[i];

		refill(&l);
		for (uint64_t step = 0; step <= STEPS; step++)
			send(&l, ns / STEPS * step);
		if (meter_fill(&l.channels[0], ns) < 0.995)
			fail_msg("%llu bps are filled to %.4f", (unsigned long long)rates[i],
				 meter_fill(&l.channels[0], ns));
		load_end(&l);
	}
}

static void service_group_limit_is_exact(void **state) {
	const struct scheduler_channel channels[] = {{1890 * MBPS}, {1890 * MBPS}, {1890 * MBPS}};
	const struct scheduler_group groups[] = {{channel_list, 2}, {channel_list + 2, 1}};
	const struct scheduler_flow flows[] = {{0, 200000}, {0, 200000}, {1, 200000}};
	struct scheduler_config c = {channels, 3, groups, 2, flows, 3, 2000 * MBPS, 100000};
	const uint64_t ns = 500000000;
	struct load l = load_make(&c);
	double fill;

	(void)state;
	run(&l, 0, ns);
	fill = meter_fill(&l.limit, ns);
	if (fill < 0.995 || fill > 1.005)
		fail_msg("the limit is used to %.4f", fill);
	/* the groups take turns by packet */
	assert_in_range(l.flow_packets[0] - l.flow_packets[1] + 1, 0, 2);
	assert_in_range(l.flow_packets[0] + l.flow_packets[1] - l.flow_packets[2] + 1, 0, 2);
	load_end(&l);
}

/* One group of channel 0, one of channels 0 and 1, one of channel 1. */
static void overlapping_groups_share(void **state) {
	const struct scheduler_channel channels[] = {{1000 * MBPS}, {500 * MBPS}};
	const struct scheduler_group groups[] = {
		{channel_list, 1}, {channel_list, 2}, {channel_list + 1, 1}};
	const struct scheduler_flow flows[] = {{0, 200000}, {1, 200000}, {2, 200000}};
	struct scheduler_config c = {channels, 2, groups, 3, flows, 3, 0, 100000};
	const uint64_t ns = 500000000;
	struct load l = load_make(&c);

	(void)state;
	run(&l, 0, ns);
	assert_true(meter_fill(&l.channels[0], ns) > 0.995);
	assert_true(meter_fill(&l.channels[1], ns) > 0.995);
	/* nobody starves: at least a fifth of the slower channel each */
	for (int f = 0; f < 3; f++) {
		if (l.flow_bytes[f] * 8 < 100 * MBPS * ns / NS_PER_S)
			fail_msg("flow %d got %llu bytes", f, (unsigned long long)l.flow_bytes[f]);
	}
	load_end(&l);
}

/* Time that stands still gives the lead once; time that was slept through gives nothing extra. */
static void clock_stands_still_and_jumps(void **state) {
	const struct scheduler_channel channel = {1000 * MBPS};
	const struct scheduler_group group = {channel_list, 1};
	const struct scheduler_flow flow = {0, 400000};
	struct scheduler_config c = {&channel, 1, &group, 1, &flow, 1, 0, 100000};
	const uint64_t lead_bytes = SCHEDULER_LEAD_NS / 8;
	struct load l = load_make(&c);
	uint64_t now = 0;

	(void)state;
	refill(&l);
	for (int jump = 0; jump < 5; jump++) {
		uint64_t before = l.channels[0].bytes, given;

		for (int i = 0; i < 100; i++)
			send(&l, now);
		given = l.channels[0].bytes - before;
		assert_true(given > lead_bytes && given <= lead_bytes + 2017);
		now += (jump + 1) * 10 * NS_PER_S;
	}
	load_end(&l);
}

/* Small packets at an odd rate: what is less than a nanosecond of each does not get lost. */
static void rate_does_not_drift(void **state) {
	const struct scheduler_channel channel = {777777777};
	const struct scheduler_group group = {channel_list, 1};
	const struct scheduler_flow flow = {0, 4000000};
	struct scheduler_config c = {&channel, 1, &group, 1, &flow, 1, 0, 100000};
	const uint64_t ns = 200000000;
	struct load l = load_make(&c);
	double expected = 0.777777777 * (double)(ns + SCHEDULER_LEAD_NS) / 8;

	(void)state;
	l.smallest = l.largest = 31;
	run(&l, 0, ns);
	assert_true((double)l.channels[0].bytes >= expected);
	assert_true((double)l.channels[0].bytes <= expected + 31);
	load_end(&l);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(channels_are_filled_and_never_overrun),
		cmocka_unit_test(slow_and_fast_single_channels),
		cmocka_unit_test(service_group_limit_is_exact),
		cmocka_unit_test(overlapping_groups_share),
		cmocka_unit_test(clock_stands_still_and_jumps),
		cmocka_unit_test(rate_does_not_drift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
