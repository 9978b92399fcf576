/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate is kept, and bursts are small, whatever the clock and the rounds. Time is made up here. */
#include "core/pacing.h"

#include "core/shape_read.h"
#include "random.h"
#include "test_main.h"

#define HZ 2300000000ull

/* How a loop may run: rounds of about `round` seconds, and now and then a pause. */
struct loop {
	double round;
	double pause; /* the longest */
	uint32_t pause_every; /* rounds; 0: none */
};

struct sender {
	struct pacing pacing;
	struct random random;
	const uint32_t *sizes;
	unsigned size_count;
	uint64_t now;
	double bits;
	uint64_t packets;
	unsigned most; /* packets in one round */
};

static double mean_of(const uint32_t *sizes, unsigned count) {
	double sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += sizes[i];
	return sum / count;
}

static void sender_start(struct sender *s, uint64_t rate, uint64_t hz, const uint32_t *sizes,
			 unsigned count, const struct shape *shape) {
	*s = (struct sender){.random = {7}, .sizes = sizes, .size_count = count};
	/* A TSC that has counted for three years. */
	s->now = hz * 86400 * 1000;
	pacing_start(&s->pacing, rate, hz, mean_of(sizes, count), s->now);
	pacing_shape(&s->pacing, shape, s->now);
}

/* One round; returns the packets that went, as many as pacing allowed. */
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

static double gap_of(struct sender *s, const struct loop *loop) {
	double part = random_below(&s->random, 1000000) * 1e-6;

	if (loop->pause_every > 0 && random_below(&s->random, loop->pause_every) == 0)
		return loop->pause * part;
	return loop->round * (0.5 + part);
}

/* Runs for `seconds`. Bursts are unbounded here, so that only pacing bounds them. */
static void sender_run(struct sender *s, const struct loop *loop, double seconds) {
	uint64_t start = s->now;
	uint64_t end = start + (uint64_t)(seconds * (double)s->pacing.tsc_hz);

	while (s->now < end) {
		unsigned n = sender_round(s, gap_of(s, loop), 1000000);

		if (n > s->most)
			s->most = n;
	}
}

/* Within 0.1 % of what is asked, and a packet or what is still in the accounts. */
static void assert_rate(const struct sender *s, double due, const char *what) {
	double largest = 0;

	for (unsigned i = 0; i < s->size_count; i++)
		largest = s->sizes[i] > largest ? s->sizes[i] : largest;
	if (s->bits < due * 0.999 - 8 * largest || s->bits > due * 1.001 + 8 * largest)
		fail_msg("%s: sent %.9g bits of %.9g", what, s->bits, due);
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
} kept[] = {
	{"a packet in two minutes", {100, 10000}, {600e-6, 0, 0}, 600},
	{"short rounds",
	 {1000000, 250000000, 2000000000, 40000000000, 1000000000000},
	 {200e-9, 0, 0},
	 0.02},
	{"long rounds", {1000000, 2000000000, 40000000000, 1000000000000}, {30e-6, 0, 0}, 0.02},
	/* A loop that takes long, always or once in a while, sends what a round holds. */
	{"rounds above 50 us", {10000000000}, {160e-6, 0, 0}, 1},
	{"each other round is long", {10000000000}, {2e-6, 240e-6, 2}, 1},
	{"few rounds are long", {10000000000}, {2e-6, 240e-6, 200}, 1},
	/* In the mean, 3 % of the time: they cost nothing. */
	{"pauses below 1 ms", {10000, 1000000, 1000000000, 40000000000}, {2e-6, 0.9e-3, 8000}, 2},
};

TEST(the_rate_is_kept) {
	for (size_t n = 0; n < ARRAY_COUNT(kept) * ARRAY_COUNT(clocks); n++) {
		const struct loop *loop = &kept[n / ARRAY_COUNT(clocks)].loop;
		const uint64_t *rate = kept[n / ARRAY_COUNT(clocks)].rates;

		for (; *rate != 0; rate++) {
			struct sender s;

			sender_start(&s, *rate, clocks[n % ARRAY_COUNT(clocks)], imix,
				     ARRAY_COUNT(imix), NULL);
			sender_run(&s, loop, kept[n / ARRAY_COUNT(clocks)].seconds);
			assert_rate(&s,
				    (double)*rate * s.pacing.seconds -
					    (loop->pause > 0 ? s.pacing.behind : 0),
				    kept[n / ARRAY_COUNT(clocks)].name);
			assert_true(s.pacing.forgone <=
				    (loop->pause > 0.5e-3 ? 0.001 : 0) * s.pacing.due);
			assert_int_equal(s.pacing.descheduled, 0);
		}
	}
}

/* The most at once: what some time at the rate holds, or one packet; and the one that overdraws. */
TEST(bursts_are_small) {
	static const uint64_t rates[] = {1000000, 1000000000, 10000000000};
	static const struct {
		struct loop loop;
		double seconds, hold;
	} rows[] = {
		{{1e-6, 0, 0}, 0.2, 2e-6},
		{{20e-6, 0, 0}, 0.2, 31e-6},
		/* Up to 0.1 s is lost now and then; each time, 50 us at the rate are sent at once and no more. */
		{{4e-6, 0.1, 100000}, 3, 50e-6},
		{{20e-6, 0.01, 30000}, 2, 50e-6},
		/* Where the core is taken away all the time, that looks like long rounds. */
		{{1e-6, 0.002, 1000}, 0.5, 250e-6},
		{{10e-6, 0.004, 20}, 0.5, 250e-6},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows) * ARRAY_COUNT(rates); i++) {
		uint64_t rate = rates[i % ARRAY_COUNT(rates)];
		double packets = (double)rate * rows[i / ARRAY_COUNT(rates)].hold / (64 * 8);
		struct sender s;

		sender_start(&s, rate, HZ, small, 1, NULL);
		sender_run(&s, &rows[i / ARRAY_COUNT(rates)].loop,
			   rows[i / ARRAY_COUNT(rates)].seconds);
		assert_true(s.most <= (packets > 1 ? packets : 1) + 1);
		assert_true(s.most > packets / 2);
	}
}

/* Packets of rounds of 1 us. */
static unsigned sent_in(struct sender *s, unsigned rounds) {
	unsigned n = 0;

	while (rounds-- > 0)
		n += sender_round(s, 1e-6, 32);
	return n;
}

TEST(catching_up_is_slow_and_bounded) {
	static const uint32_t thousand[] = {1000};
	struct sender s;

	sender_start(&s, 8000000000, HZ, thousand, 1, NULL);
	sent_in(&s, 1000);
	/* A second away from the core: 50 us at once, 1 ms in the account, and the rest is gone. */
	assert_in_range(sender_round(&s, 1, 1000), 50, 51);
	assert_true(s.pacing.forgone > 0.99 * 8e9 && s.pacing.forgone < 8e9 * 0.999);
	assert_int_equal(s.pacing.descheduled, 1);
	assert_true(pacing_longest_us(&s.pacing) > 999990 &&
		    pacing_longest_us(&s.pacing) < 1000010);
	/* In the next millisecond an eighth more than it has. */
	assert_in_range(sent_in(&s, 1000), 1120, 1130);
	sent_in(&s, 10000);
	assert_in_range(sent_in(&s, 1000), 999, 1001);
}

/* A port that takes nothing for a while: no more at once than after any other pause. */
TEST(backpressure_leaves_no_burst) {
	struct sender s;

	sender_start(&s, 1000000000, HZ, small, 1, NULL);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(sender_round(&s, 1e-6, 0), 0);
	assert_in_range(sender_round(&s, 1e-6, 100000), 97, 99);
	assert_in_range(sender_round(&s, 1e-6, 100000), 2, 3);
}

/* Bits sent and what the shape makes due, in each of 50 parts of the time and in all. */
TEST(shapes_are_followed) {
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
			/* Behind by one pause at most. */
			assert_true(s.bits > due * 0.99 - 11000 - (double)rate * loop->pause);
			assert_true(s.bits < due * 1.01 + 11000);
		}
		assert_rate(&s, due - s.pacing.behind, text);
		assert_true(s.pacing.forgone == 0);
		assert_true(pacing_configured(&s.pacing) > due / seconds * 0.9999 &&
			    pacing_configured(&s.pacing) < due / seconds * 1.0001);
	}
}

TEST(max_is_always_a_burst) {
	struct pacing p;

	pacing_start(&p, 0, HZ, 1000, 0);
	assert_int_equal(pacing_round(&p, HZ / 1000, 32), 32);
	assert_int_equal(p.descheduled, 0);
	pacing_idle(&p, HZ / 1000 * 2 + HZ / 100000);
	assert_int_equal(p.descheduled, 1);
	assert_true(pacing_configured(&p) == 0);
}

TEST(a_clock_that_goes_back_sends_nothing_twice) {
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

TEST(a_restart_forgets_time) {
	struct pacing p;

	pacing_start(&p, 1000000000, HZ, 1000, 0);
	pacing_round(&p, HZ, 32);
	assert_int_equal(p.descheduled, 1);
	pacing_restart(&p, 5 * HZ);
	assert_int_equal(pacing_round(&p, 5 * HZ, 32), 0);
	assert_int_equal(p.descheduled, 1);
}
