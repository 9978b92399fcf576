/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a replay: nothing happens in the steps that it leaves out, and they are most. */
#include "test_main.h"

#include "commands/replay/replay_clock.h"

#include "fixture.h"
#include "group_kit.h"

#define PACKETS 400

struct played {
	uint64_t back_at[PACKETS];
	struct counters counters;
	uint64_t steps;
};

static struct group_kit storage, *const bench = &storage;

typedef uint64_t next_step(const struct server *s, uint64_t now, uint64_t to);

/* No step is left out. */
static uint64_t every_step(const struct server *s, uint64_t now, uint64_t to) {
	if (downstream_pending(s->groups[0].downstream) == 0)
		return to;
	return RTE_MIN(now + REPLAY_STEP_NS, to);
}

static void settle(struct played *p) {
	unsigned moved;

	do {
		moved = worker_round(&bench->server.workers[0]);
		moved += group_kit_take(bench, UINT32_MAX);
	} while (moved > 0 || bench->group->downstream->lower.crypto->pending > 0);
	p->steps++;
}

static void advance(struct played *p, next_step *next, uint64_t to) {
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

/* The kit's configuration with `more`, its flows with `limits`. */
static void configure(char *text, size_t room, const char *limits, const char *more) {
	static const char place[] = "buffer: 200 kB";
	const char *from = group_kit_text, *flow;
	size_t used = 0;

	for (; (flow = strstr(from, place)) != NULL; from = flow + strlen(place))
		used += (size_t)snprintf(text + used, room - used, "%.*s%s%s", (int)(flow - from),
					 from, limits, place);
	snprintf(text + used, room - used, "%s%s", from, more);
}

/* What flows have, and the group; how far packets are apart, at most. */
struct traffic {
	const char *limits, *more;
	uint64_t gap_ns;
};

/* The same packets at the same times. */
static void play(struct played *p, const struct traffic *t, uint64_t end_s, next_step *next) {
	char text[8192];

	memset(p, 0, sizeof(*p));
	configure(text, sizeof(text), t->limits, t->more);
	group_kit_open(bench, text, 1024);
	for (uint32_t n = 0; n < PACKETS; n++) {
		uint8_t modem = (uint8_t)random_below(&bench->random, BENCH_MODEMS);
		uint64_t gap = random_below(&bench->random, 3) ? t->gap_ns : 0;

		advance(p, next,
			group_kit_clock(bench)->now +
				random_below(&bench->random, (uint32_t)gap + 1));
		group_kit_good(bench, modem, 0, random_between(&bench->random, 64, 1500));
	}
	advance(p, next, group_kit_clock(bench)->now + end_s * CLOCK_NS_PER_S);
	for (uint32_t n = 0; n < PACKETS; n++)
		p->back_at[n] = bench->sent[n].back_at;
	p->counters = group_kit_counters(bench);
	group_kit_close(bench);
}

TEST(as_if_no_step_was_left_out) {
	static const struct traffic cases[] = {
		{"", "rate_limit: 1 Mbps\n", 10000000},
		{"", "rphy: {mtu: 9000, flush: 100 ms}\n", 10000000},
		/* the times of arrivals are between two steps, and less than a step apart, too */
		{"", "rate_limit: 2 Mbps\nrphy: {mtu: 1500, flush: 13 us}\n", 25000},
		/* what flows wait for comes to an end while the group's limit holds them back */
		{"max_sustained_rate: 20 Mbps, max_traffic_burst: 2000 B, ",
		 "rate_limit: 100 Mbps\nrphy: {flush: 10 us}\n", 30000},
		{"max_sustained_rate: 20 Mbps, max_traffic_burst: 2000 B, "
		 "min_reserved_rate: 1 Mbps, ",
		 "rate_limit: 100 Mbps\nrphy: {flush: 10 us}\n", 100000},
	};
	static struct played all, some;

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		play(&all, &cases[i], 3, every_step);
		play(&some, &cases[i], 3, replay_next);
		assert_true(all.counters.values[COUNTER_TRANSMITTED] > PACKETS / 4);
		assert_memory_equal(some.back_at, all.back_at, sizeof(all.back_at));
		assert_memory_equal(&some.counters, &all.counters, sizeof(all.counters));
		assert_in_range(some.steps, PACKETS, 8 * PACKETS);
		assert_true(all.steps > 2 * some.steps);
	}
}

/* Something is pending nearly all of the time. */
TEST(six_minutes) {
	static struct played p;
	uint64_t last = 0;

	play(&p, &(struct traffic){"", "rate_limit: 7 kbps\n", 2700000000}, 60, replay_next);
	for (uint32_t n = 0; n < PACKETS; n++)
		last = RTE_MAX(last, p.back_at[n]);
	assert_true(last > 330 * CLOCK_NS_PER_S);
	assert_true(p.counters.values[COUNTER_TRANSMITTED] > PACKETS * 9 / 10);
	assert_in_range(p.steps, PACKETS, 8 * PACKETS);
}

TEST(nothing_is_held) {
	group_kit_open(bench, group_kit_text, 1024);
	assert_int_equal(replay_next(&bench->server, 1000, 1001), 1001);
	assert_int_equal(replay_next(&bench->server, 1000, UINT64_MAX), UINT64_MAX);
	assert_int_equal(replay_next(&bench->server, 1000, 1000), 1000);
	group_kit_close(bench);
}

ALL_TESTS(NULL, fixture_stop)
