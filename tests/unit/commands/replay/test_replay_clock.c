/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests replay_clock.c: skipping steps of the clock changes no packet and no time, and most steps are skipped. */
#include "test_main.h"

#include "commands/replay/replay_clock.h"

#include "fixture.h"
#include "group_kit.h"

#define PACKETS 400

struct result {
	uint64_t arrived_at[PACKETS]; /* ns; arrival at the R-PHY device, by serial number */
	struct counters counters;
	uint64_t steps; /* times at which the server ran */
};

static struct group_kit storage, *const bench = &storage;

typedef uint64_t next_fn(const struct server *s, uint64_t now, uint64_t to);

/* The reference: skips no step while packets are pending. */
static uint64_t no_skip_next(const struct server *s, uint64_t now, uint64_t to) {
	if (downstream_pending(s->groups[0].downstream) == 0)
		return to;
	return RTE_MIN(now + REPLAY_STEP_NS, to);
}

/* Runs rounds at the present time until nothing moves. */
static void settle(struct result *p) {
	unsigned moved;

	do {
		moved = worker_round(&bench->server.workers[0]);
		moved += group_kit_receive(bench, UINT32_MAX);
	} while (moved > 0 || bench->group->downstream->lower.crypto->pending > 0);
	p->steps++;
}

/* Runs the server until the time `to` (ns). */
static void advance(struct result *p, next_fn *next, uint64_t to) {
	struct clock *clock = group_kit_clock(bench);
	uint64_t at;

	settle(p);
	while ((at = next(&bench->server, clock->now, to)) < to) {
		assert_true(at > clock->now);
		assert_int_equal((at - clock->now) % REPLAY_STEP_NS, 0);
		clock->now = at;
		settle(p);
	}
	clock->now = to;
}

/* Writes the kit's configuration, with `limits` added to each flow and `more` to the group. */
static void configure(char *text, size_t size, const char *limits, const char *more) {
	static const char key[] = "buffer: 200 kB";
	const char *from = group_kit_text, *flow;
	size_t used = 0;

	for (; (flow = strstr(from, key)) != NULL; from = flow + strlen(key))
		used += (size_t)snprintf(text + used, size - used, "%.*s%s%s", (int)(flow - from),
					 from, limits, key);
	snprintf(text + used, size - used, "%s%s", from, more);
}

struct traffic {
	const char *limits, *more; /* configuration keys of each flow, and of the group */
	uint64_t gap_ns; /* the longest time between two packets */
};

/* Opens a server, sends PACKETS packets with the same sizes and times in each run, and runs `end_s` seconds more. */
static void run(struct result *p, const struct traffic *t, uint64_t end_s, next_fn *next) {
	char text[8192];

	memset(p, 0, sizeof(*p));
	configure(text, sizeof(text), t->limits, t->more);
	group_kit_open(bench, text, 1024);
	for (uint32_t n = 0; n < PACKETS; n++) {
		uint8_t modem = (uint8_t)random_below(&bench->random, GROUP_KIT_MODEMS);
		uint64_t gap = random_below(&bench->random, 3) ? t->gap_ns : 0;

		advance(p, next,
			group_kit_clock(bench)->now +
				random_below(&bench->random, (uint32_t)gap + 1));
		group_kit_send_good(bench, modem, 0, random_between(&bench->random, 64, 1500));
	}
	advance(p, next, group_kit_clock(bench)->now + end_s * CLOCK_NS_PER_S);
	for (uint32_t n = 0; n < PACKETS; n++)
		p->arrived_at[n] = bench->sent[n].received_at;
	p->counters = group_kit_counters(bench);
	group_kit_close(bench);
}

TEST(skipped_steps_do_not_change_results) {
	static const struct traffic cases[] = {
		{"", "rate_limit: 1 Mbps\n", 10000000},
		{"", "rphy: {mtu: 9000, flush: 100 ms}\n", 10000000},
		/* arrivals between two steps, and several in one step */
		{"", "rate_limit: 2 Mbps\nrphy: {mtu: 1500, flush: 13 us}\n", 25000},
		/* flows conform to their own rates while the group's rate limit blocks them */
		{"max_sustained_rate: 20 Mbps, max_traffic_burst: 2000 B, ",
		 "rate_limit: 100 Mbps\nrphy: {flush: 10 us}\n", 30000},
		{"max_sustained_rate: 20 Mbps, max_traffic_burst: 2000 B, "
		 "min_reserved_rate: 1 Mbps, ",
		 "rate_limit: 100 Mbps\nrphy: {flush: 10 us}\n", 100000},
	};
	static struct result all, some;

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		run(&all, &cases[i], 3, no_skip_next);
		run(&some, &cases[i], 3, replay_next);
		assert_true(all.counters.values[COUNTER_TRANSMITTED] > PACKETS / 4);
		assert_memory_equal(some.arrived_at, all.arrived_at, sizeof(all.arrived_at));
		assert_memory_equal(&some.counters, &all.counters, sizeof(all.counters));
		assert_in_range(some.steps, PACKETS, 8 * PACKETS);
		assert_true(all.steps > 2 * some.steps);
	}
}

/* The rate limit keeps packets pending nearly all of the time. */
TEST(six_minutes_with_pending_packets_take_few_steps) {
	static struct result p;
	uint64_t last = 0;

	run(&p, &(struct traffic){"", "rate_limit: 7 kbps\n", 2700000000}, 60, replay_next);
	for (uint32_t n = 0; n < PACKETS; n++)
		last = RTE_MAX(last, p.arrived_at[n]);
	assert_true(last > 330 * CLOCK_NS_PER_S);
	assert_true(p.counters.values[COUNTER_TRANSMITTED] > PACKETS * 9 / 10);
	assert_in_range(p.steps, PACKETS, 8 * PACKETS);
}

TEST(without_pending_packets_next_time_is_the_end) {
	group_kit_open(bench, group_kit_text, 1024);
	assert_int_equal(replay_next(&bench->server, 1000, 1001), 1001);
	assert_int_equal(replay_next(&bench->server, 1000, UINT64_MAX), UINT64_MAX);
	assert_int_equal(replay_next(&bench->server, 1000, 1000), 1000);
	group_kit_close(bench);
}

ALL_TESTS(NULL, fixture_stop)
