/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests pacing.h with simulated time: exact rates and small bursts for any clock and rounds. */
#include "core/pacing.h"

#include "core/shape_read.h"
#include "random.h"
#include "test_main.h"

#define HZ 2300000000ull

/* Timing of a sender's loop. */
struct loop {
	double round; /* mean duration of a round, s */
	double pause; /* longest pause, s */
	uint32_t pause_every; /* mean number of rounds between pauses; 0: no pauses */
};

struct sender {
	struct pacing pacing;
	struct random random;
	const uint32_t *sizes;
	unsigned size_count;
	uint64_t now;
	double bits;
	uint64_t packets;
	unsigned largest_burst; /* packets in one round, maximum */
};

static double mean(const uint32_t *sizes, unsigned count) {
	double sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += sizes[i];
	return sum / count;
}

static void sender_start(struct sender *s, uint64_t rate, uint64_t hz, const uint32_t *sizes,
			 unsigned count, const struct shape *shape) {
	*s = (struct sender){.random = {7}, .sizes = sizes, .size_count = count};
	/* a TSC that has run for three years */
	s->now = hz * 86400 * 1000;
	pacing_start(&s->pacing, rate, hz, mean(sizes, count), s->now);
	pacing_shape(&s->pacing, shape, s->now);
}

/* Runs a round after `gap` seconds. Returns the packets that pacing allowed, up to `burst`. */
static unsigned sender_round(struct sender *s, double gap, unsigned burst) {
	unsigned n;

	s->now += (uint64_t)(gap * (double)s->pacing.tsc_hz);
	n = pacing_round(&s->pacing, s->now, burst);
	assert_true(n <= burst);
	for (unsigned i = 0; i < n; i++) {
		uint32_t size = s->sizes[random_below(&s->random, s->size_count)];

		pacing_spend(&s->pacing, size);
		s->bits += size * 8.0;
	}
	s->packets += n;
	return n;
}

static double next_gap(struct sender *s, const struct loop *loop) {
	double part = random_below(&s->random, 1000000) * 1e-6;

	if (loop->pause_every > 0 && random_below(&s->random, loop->pause_every) == 0)
		return loop->pause * part;
	return loop->round * (0.5 + part);
}

/* Runs for `seconds`. Only pacing limits the bursts. */
static void sender_run(struct sender *s, const struct loop *loop, double seconds) {
	uint64_t start = s->now;
	uint64_t end = start + (uint64_t)(seconds * (double)s->pacing.tsc_hz);

	while (s->now < end) {
		unsigned n = sender_round(s, next_gap(s, loop), 1000000);

		if (n > s->largest_burst)
			s->largest_burst = n;
	}
}

/* Asserts that the bits sent are within 0.1 % and one packet of `due`. */
static void assert_rate(const struct sender *s, double due, const char *case_name) {
	double largest = 0;

	for (unsigned i = 0; i < s->size_count; i++)
		largest = s->sizes[i] > largest ? s->sizes[i] : largest;
	if (s->bits < due * 0.999 - 8 * largest || s->bits > due * 1.001 + 8 * largest)
		fail_msg("%s: sent %.9g bits of %.9g", case_name, s->bits, due);
}

static const uint32_t imix[] = {84,   84,   84,	  256,	256,  1280, 1280, 1280, 1280, 1280,
				1280, 1280, 1280, 1280, 1280, 1280, 1280, 1280, 1280, 1280};
static const uint32_t small[] = {64};

static const uint64_t clocks[] = {1000000000, HZ, 5000000000};

static const struct {
	const char *name;
	uint64_t rates[6];
	struct loop loop;
	double seconds;
} rate_cases[] = {
	{"a packet in two minutes", {100, 10000}, {600e-6, 0, 0}, 600},
	{"short rounds",
	 {1000000, 250000000, 2000000000, 40000000000, 1000000000000},
	 {200e-9, 0, 0},
	 0.02},
	{"long rounds", {1000000, 2000000000, 40000000000, 1000000000000}, {30e-6, 0, 0}, 0.02},
	/* a long round is followed by the packets that were due in it */
	{"rounds above 50 us", {10000000000}, {160e-6, 0, 0}, 1},
	{"each other round is long", {10000000000}, {2e-6, 240e-6, 2}, 1},
	{"few rounds are long", {10000000000}, {2e-6, 240e-6, 200}, 1},
	/* pauses of 3 % of the time, on average, cost no packets */
	{"pauses below 1 ms", {10000, 1000000, 1000000000, 40000000000}, {2e-6, 0.9e-3, 8000}, 2},
};

TEST(rate_is_exact) {
	for (size_t n = 0; n < ARRAY_COUNT(rate_cases) * ARRAY_COUNT(clocks); n++) {
		const struct loop *loop = &rate_cases[n / ARRAY_COUNT(clocks)].loop;
		const uint64_t *rate = rate_cases[n / ARRAY_COUNT(clocks)].rates;

		for (; *rate != 0; rate++) {
			struct sender s;

			sender_start(&s, *rate, clocks[n % ARRAY_COUNT(clocks)], imix,
				     ARRAY_COUNT(imix), NULL);
			sender_run(&s, loop, rate_cases[n / ARRAY_COUNT(clocks)].seconds);
			assert_rate(&s,
				    (double)*rate * s.pacing.seconds -
					    (loop->pause > 0 ? s.pacing.behind : 0),
				    rate_cases[n / ARRAY_COUNT(clocks)].name);
			assert_true(s.pacing.forgone <=
				    (loop->pause > 0.5e-3 ? 0.001 : 0) * s.pacing.due);
			assert_int_equal(s.pacing.descheduled, 0);
		}
	}
}

/* The largest burst: the packets due in `span` seconds, or one, and one that overdraws. */
TEST(burst_size_is_limited) {
	static const uint64_t rates[] = {1000000, 1000000000, 10000000000};
	static const struct {
		struct loop loop;
		double seconds, span;
	} cases[] = {
		{{1e-6, 0, 0}, 0.2, 2e-6},
		{{20e-6, 0, 0}, 0.2, 31e-6},
		/* after a pause of up to 0.1 s, at most 50 us are sent at once */
		{{4e-6, 0.1, 100000}, 3, 50e-6},
		{{20e-6, 0.01, 30000}, 2, 50e-6},
		/* frequent preemption looks like long rounds */
		{{1e-6, 0.002, 1000}, 0.5, 250e-6},
		{{10e-6, 0.004, 20}, 0.5, 250e-6},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases) * ARRAY_COUNT(rates); i++) {
		uint64_t rate = rates[i % ARRAY_COUNT(rates)];
		double packets = (double)rate * cases[i / ARRAY_COUNT(rates)].span / (64 * 8);
		struct sender s;

		sender_start(&s, rate, HZ, small, 1, NULL);
		sender_run(&s, &cases[i / ARRAY_COUNT(rates)].loop,
			   cases[i / ARRAY_COUNT(rates)].seconds);
		assert_true(s.largest_burst <= (packets > 1 ? packets : 1) + 1);
		assert_true(s.largest_burst > packets / 2);
	}
}

/* Packets sent in that many rounds of 1 us. */
static unsigned send_rounds(struct sender *s, unsigned rounds) {
	unsigned n = 0;

	while (rounds-- > 0)
		n += sender_round(s, 1e-6, 32);
	return n;
}

TEST(catch_up_is_slow_and_limited) {
	static const uint32_t thousand[] = {1000};
	struct sender s;

	sender_start(&s, 8000000000, HZ, thousand, 1, NULL);
	send_rounds(&s, 1000);
	/* preempted for 1 s: sends 50 us at once, keeps 1 ms in the account, forgoes the rest */
	assert_in_range(sender_round(&s, 1, 1000), 50, 51);
	assert_true(s.pacing.forgone > 0.99 * 8e9 && s.pacing.forgone < 8e9 * 0.999);
	assert_int_equal(s.pacing.descheduled, 1);
	assert_true(pacing_longest_us(&s.pacing) > 999990 &&
		    pacing_longest_us(&s.pacing) < 1000010);
	/* then sends at 9/8 of the rate */
	assert_in_range(send_rounds(&s, 1000), 1120, 1130);
	send_rounds(&s, 10000);
	assert_in_range(send_rounds(&s, 1000), 999, 1001);
}

/* A port that was full for a while gets no larger burst than after a pause. */
TEST(no_large_burst_after_backpressure) {
	struct sender s;

	sender_start(&s, 1000000000, HZ, small, 1, NULL);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(sender_round(&s, 1e-6, 0), 0);
	assert_in_range(sender_round(&s, 1e-6, 100000), 97, 99);
	assert_in_range(sender_round(&s, 1e-6, 100000), 2, 3);
}

/* Compares bits sent with those due by the shape, in 50 parts of the time and in total. */
TEST(rate_follows_shape) {
	static const char *const shapes[] = {
		"bursts:on=2ms,off=8ms",
		"bursts:on=150us,off=350us",
		"ramp:from=0%,to=100%,time=300ms",
		"steps:10%,90%,0,50%,each=50ms",
		"points:0=0%,100ms=100%,100ms=20%,170ms=1%",
		"day",
	};
	static const uint64_t rates[] = {10000000, 2000000000, 40000000000};
	static const struct loop loops[] = {{1e-6, 0, 0}, {10e-6, 300e-6, 500}};
	static struct shape shape;
	char error[SHAPE_ERROR];

	for (size_t n = 0; n < ARRAY_COUNT(shapes) * ARRAY_COUNT(rates) * ARRAY_COUNT(loops); n++) {
		const char *text = shapes[n % ARRAY_COUNT(shapes)];
		uint64_t rate = rates[n / ARRAY_COUNT(shapes) % ARRAY_COUNT(rates)];
		const struct loop *loop = &loops[n / ARRAY_COUNT(shapes) / ARRAY_COUNT(rates)];
		struct shape_walk walk;
		double due = 0, seconds = 0;
		struct sender s;

		assert_true(shape_read(&shape, text, rate, 0.5, error));
		sender_start(&s, rate, HZ, imix, ARRAY_COUNT(imix), &shape);
		shape_walk_start(&walk, &shape);
		for (int part = 1; part <= 50; part++) {
			sender_run(&s, loop, 0.5 * part / 50 - seconds);
			due += (double)rate * shape_walk_advance(&walk, s.pacing.seconds - seconds);
			seconds = s.pacing.seconds;
			/* at most one pause behind */
			assert_true(s.bits > due * 0.99 - 11000 - (double)rate * loop->pause);
			assert_true(s.bits < due * 1.01 + 11000);
		}
		assert_rate(&s, due - s.pacing.behind, text);
		assert_true(s.pacing.forgone == 0);
		assert_true(pacing_configured(&s.pacing) > due / seconds * 0.9999 &&
			    pacing_configured(&s.pacing) < due / seconds * 1.0001);
	}
}

TEST(unlimited_rate_always_allows_full_burst) {
	struct pacing p;

	pacing_start(&p, 0, HZ, 1000, 0);
	assert_int_equal(pacing_round(&p, HZ / 1000, 32), 32);
	assert_int_equal(p.descheduled, 0);
	pacing_idle(&p, HZ / 1000 * 2 + HZ / 100000);
	assert_int_equal(p.descheduled, 1);
	assert_true(pacing_configured(&p) == 0);
}

TEST(decreasing_clock_adds_no_packets) {
	struct sender s;

	sender_start(&s, 1000000000, HZ, small, 1, NULL);
	for (int i = 0; i < 1000000; i++) {
		sender_round(&s, 1e-6, 32);
		s.now -= HZ / 2000000;
		sender_round(&s, 0, 32);
	}
	assert_rate(&s, 1e9 * 0.5, "half the time");
	assert_int_equal(s.pacing.descheduled, 0);
}

TEST(restart_discards_elapsed_time) {
	struct pacing p;

	pacing_start(&p, 1000000000, HZ, 1000, 0);
	pacing_round(&p, HZ, 32);
	assert_int_equal(p.descheduled, 1);
	pacing_restart(&p, 5 * HZ);
	assert_int_equal(pacing_round(&p, 5 * HZ, 32), 0);
	assert_int_equal(p.descheduled, 1);
}
