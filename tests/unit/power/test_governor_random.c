/* SPDX-License-Identifier: BSD-3-Clause */
/* The governor beside a slow model, which keeps all that was and looks it up; and what a step of the load waits. */
#include "test_main.h"

#include "pipeline/effort.h"
#include "power/governor.h"
#include "random.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define STEPS 3000
#define WORKERS 3u
#define DOMAINS 2u
#define ALL UINT32_MAX
#define EMPTY_ROUND 100 /* cycles, which are ns here, of a round without work */
#define BUSY_ROUND 10000 /* of one with work */

static const uint32_t states[] = {800000, 1000000, 1200000, 1400000, 1600000, 1800000};
static const struct governor_range range = {
	.min_khz = 800000,
	.max_khz = 1800000,
	.states = states,
	.state_count = ARRAY_COUNT(states),
	.transition_ns = 50000,
};
static const unsigned domain_of[WORKERS] = {0, 1, 0};

static struct governor g;
static uint64_t jumps, transitions;

/* Everything of a worker and of its domain since the start. */
struct past {
	uint64_t now;
	struct governor_reading r;
	const struct governor_policy *policy;
	uint64_t look_ns; /* from then on */
	bool moved; /* its counters, since the step before */
	uint32_t wish; /* the domain's: ALL, 0: none, or a frequency of the range above the floor */
	uint32_t khz; /* from then on */
};
static struct past pasts[WORKERS][STEPS + 1], *past; /* that of the worker that is looked at */

static void start(const struct governor_policy *p, uint64_t latency, unsigned workers,
		  unsigned domains) {
	memset(&g, 0, sizeof(g));
	for (unsigned d = 0; d < domains; d++)
		g.domains[d].range = range;
	governor_start(&g, p, latency, domain_of, workers, domains);
}

/* By hand: at 0.8 of 1.8 GHz five ninths of what comes in T wait; 100 us allow 180 us. */
TEST(latency_and_range_set_floor_and_pace) {
	struct governor_range r = range;

	r.transition_ns = 30 * US;
	assert_int_equal(governor_look(&r, 1 * MS), (1800 - 30) * US / 3);
	/* a third of 150 us is too often */
	assert_int_equal(governor_look(&r, 100 * US), 100 * US);
	assert_int_equal(governor_look(&r, 10 * MS), 1 * MS);
	/* T is 330 us: 1 - 100 / 330 of 1.8 GHz is 1.255, 1.4 the next state */
	assert_int_equal(governor_floor(&r, 100 * US, 100 * US), 1400000);
	assert_int_equal(governor_floor(&r, 200 * US, 100 * US), 800000);
	assert_int_equal(governor_floor(&r, 0, 100 * US), 1800000);
	assert_int_equal(governor_floor(&r, UINT64_MAX, 1 * MS), 800000);
	r.transition_ns = UINT64_MAX; /* a driver that tells nonsense */
	assert_int_equal(governor_floor(&r, 100 * US, 100 * US), 1800000);
	/* without states a driver has steps of 100 MHz */
	r = (struct governor_range){.min_khz = 850000, .max_khz = 2550000};
	assert_int_equal(governor_round(&r, 1), 850000);
	assert_int_equal(governor_round(&r, 1000001), 1100000);
	assert_int_equal(governor_round(&r, 2500001), 2550000);
	/* limits that contradict each other: the maximum */
	r = (struct governor_range){.min_khz = 2000000, .max_khz = 1000000};
	assert_int_equal(governor_floor(&r, 10 * MS, 1 * MS), 1000000);
	assert_int_equal(governor_round(&r, 1), 1000000);
}

static uint64_t up(uint64_t now, uint64_t before) {
	return now > before ? now - before : 0;
}

/* The n-th step before `at` whose counters had moved; the first is one. */
static int moved_before(int at, int n) {
	while (at > 0 && n > 0)
		n -= past[--at].moved;
	return at;
}

/* What the worker counted since the step before `at` at which it did so last. */
static struct governor_reading since(int at) {
	const struct governor_reading *r = &past[at].r, *l = &past[moved_before(at, 1)].r;

	return (struct governor_reading){up(r->busy, l->busy), up(r->idle, l->idle),
					 up(r->paused, l->paused), up(r->rounds, l->rounds),
					 up(r->busy_rounds, l->busy_rounds)};
}

/* How much longer a busy round would be without packets: of the last step that had some. */
static uint64_t empty_round(int at) {
	for (; at > 0; at--) {
		struct governor_reading d = since(at);

		if (past[at].moved && d.rounds > d.busy_rounds)
			return up(d.idle, d.paused) / (d.rounds - d.busy_rounds);
	}
	return 0;
}

static unsigned load(int at) {
	struct governor_reading d;
	uint64_t around;

	if (!past[at].moved)
		at = moved_before(at, 1);
	if (at == 0)
		return 0;
	d = since(at);
	around = d.busy_rounds * empty_round(at);
	around = around < d.busy / 2 ? around : d.busy / 2;
	return (unsigned)((d.busy - around) * 100 / (d.busy + d.idle));
}

static bool saturated(int at) {
	const struct governor_policy *p = past[at].policy;
	struct governor_reading d = since(at);

	return at > 0 && d.busy > 0 && d.busy * 100 / (d.busy + d.idle) >= p->full &&
	       load(at) >= p->target;
}

static uint64_t full_polls(int at) {
	return at > 0 ? up(past[at].r.full_polls, past[at - 1].r.full_polls) : 0;
}

static bool rises(uint64_t now, uint64_t before, uint64_t before_that) {
	return now >= 64 && now > before && before > before_that;
}

static bool grows(int at) {
	int last = moved_before(at, 1);
	const struct governor_reading zero = {0}, *r = &past[at].r, *one = &past[last].r,
				      *two = last > 0 ? &past[moved_before(at, 2)].r : &zero;

	return full_polls(at) >= 2 || (full_polls(at) == 1 && full_polls(at - 1) > 0) ||
	       rises(r->ring, one->ring, two->ring) ||
	       (rises(r->backlog, one->backlog, two->backlog) && load(at) >= 50);
}

static uint32_t next_state(uint64_t khz) {
	for (unsigned i = 0; i < ARRAY_COUNT(states); i++) {
		if (states[i] >= khz)
			return states[i];
	}
	return 1800000;
}

/* The last step before which the frequency changed; 0: none. */
static int changed(int at) {
	while (at > 0 && past[at].khz == past[at - 1].khz)
		at--;
	return at;
}

static uint32_t model_wish(int at) {
	int before = moved_before(at, 1), change = changed(at - 1);
	bool full = past[at].moved && saturated(at) && saturated(before);
	uint64_t now = past[at].now;

	if (!g.blind && (grows(at) || full))
		return ALL;
	if (!past[at].moved)
		return now - past[before].now >= GOVERNOR_STUCK_NS ? ALL : 0;
	if (change > 0 && now < past[change].now + range.transition_ns + past[change].look_ns)
		return 0;
	return next_state((uint64_t)past[at - 1].khz * load(at) / past[at].policy->target);
}

/* The highest wish since the frequency was last asked for or changed, once that is long ago. */
static uint32_t model_khz(int at) {
	const struct governor_policy *p = past[at].policy;
	uint32_t now = past[at - 1].khz, wish = past[at].wish, peak = wish;
	int i = at - 1;

	if (wish == 0)
		return p->highest ? 1800000 : now;
	if (wish == ALL || wish >= now)
		return wish == ALL ? 1800000 : wish;
	for (; i > 0 && past[i].khz == past[i - 1].khz && past[i].wish < past[i - 1].khz; i--)
		peak = past[i].wish > peak ? past[i].wish : peak;
	return past[at].now - past[i].now >= p->hold_ns ? peak : now;
}

/* In `ns` packets took `percent` of the time, but for what rounds cost without any: a hundredth of that. */
static void work(struct governor_reading *r, uint64_t ns, unsigned percent) {
	uint64_t busy = ns * percent / 100, idle = ns - busy;

	r->busy += busy;
	r->busy_rounds += busy / BUSY_ROUND;
	r->idle += idle;
	r->rounds += busy / BUSY_ROUND + idle / EMPTY_ROUND;
}

/* Readings as no worker would have them: each mode of the algorithm is gone often. */
static void any_reading(struct random *r, struct governor_reading *reading) {
	if (random_below(r, 10) > 0) {
		work(reading, g.look_ns,
		     random_below(r, 80) == 0 ? random_below(r, 101) : random_below(r, 30));
		reading->paused = reading->idle / 2;
		if (random_below(r, 10) == 0) /* of few packets each */
			reading->busy_rounds += g.look_ns / EMPTY_ROUND;
	}
	if (random_below(r, 100) < 2)
		reading->full_polls += random_below(r, 3);
	if (random_below(r, 900) == 0)
		reading->full_polls = 0;
	if (random_below(r, 150) == 0)
		reading->ring = random_below(r, 200);
	else
		reading->ring += random_below(r, 40) == 0;
	if (random_below(r, 40) == 0)
		reading->backlog = random_below(r, 3) == 0 ? random_below(r, 5000) : 0;
	else
		reading->backlog += random_below(r, 20) == 0;
}

/* What each worker wishes by itself is then that of its domain: the highest. */
static void model_step(int at, uint64_t now, const struct governor_reading *readings) {
	uint32_t wishes[DOMAINS] = {0};

	for (unsigned w = 0; w < WORKERS; w++) {
		uint32_t wish, floor_khz = g.domains[domain_of[w]].floor_khz;

		past = pasts[w];
		past[at] = (struct past){now, readings[w], g.policy, g.look_ns, false, 0, 0};
		past[at].moved = since(at).busy + since(at).idle > 0;
		wish = g.policy->highest ? 0 : model_wish(at);
		wish = wish > 0 && wish < floor_khz ? floor_khz : wish;
		wishes[domain_of[w]] = wish > wishes[domain_of[w]] ? wish : wishes[domain_of[w]];
	}
	for (unsigned w = 0; w < WORKERS; w++) {
		past = pasts[w];
		past[at].wish = wishes[domain_of[w]];
		past[at].khz = model_khz(at);
	}
}

static void run_random(uint64_t seed, const struct governor_policy *p, uint64_t latency) {
	static const struct governor_policy *const policies[] = {
		&governor_saving, &governor_balanced, &governor_performance};
	struct governor_reading readings[WORKERS] = {{0}};
	struct random r = {seed};

	start(p, latency, WORKERS, DOMAINS);
	g.blind = seed % 5 == 0;
	for (unsigned w = 0; w < WORKERS; w++)
		pasts[w][0] = (struct past){MS, readings[w], p, g.look_ns, true, 0, 1800000};
	governor_step(&g, MS, readings);
	for (int at = 1; at <= STEPS; at++) {
		uint64_t now = g.now + g.look_ns;

		if (random_below(&r, 500) == 0)
			governor_change(&g, policies[random_below(&r, 3)], latency);
		for (unsigned w = 0; w < WORKERS; w++)
			any_reading(&r, &readings[w]);
		if (random_below(&r, 200) == 0) /* the thread was kept from its core */
			now += random_below(&r, 120) * MS;
		model_step(at, now, readings);
		governor_step(&g, now, readings);
		for (unsigned w = 0; w < WORKERS; w++)
			assert_int_equal(g.domains[domain_of[w]].khz, pasts[w][at].khz);
	}
	governor_step(&g, g.now, readings); /* a clock that stands says nothing */
	assert_int_equal(g.stopped, 1);
	for (unsigned d = 0; d < DOMAINS; d++) {
		assert_int_equal(g.domains[d].khz, 1800000);
		jumps += g.domains[d].jumps;
		transitions += g.domains[d].transitions;
	}
}

TEST(as_the_model) {
	for (unsigned seed = 1; seed <= 20; seed++) {
		run_random(seed, &governor_saving, 200 * US);
		run_random(seed + 100, &governor_balanced, 1000 * US);
		run_random(seed + 200, &governor_saving, 100 * US);
	}
	assert_true(jumps > 100);
	assert_true(transitions > 2 * jumps);
}

/* A worker whose work comes in steps of a microsecond, at its best a packet each; a queue without an end. */
static struct plant {
	bool was_full;
	double queue; /* packets */
	uint32_t khz, coming;
	uint64_t comes_at, look_at;
	struct governor_reading r;
} plant;

static void plant_look(uint64_t now) {
	governor_step(&g, now, &plant.r);
	plant.look_at = now + g.look_ns;
	if (g.domains[0].khz != (plant.comes_at != 0 ? plant.coming : plant.khz)) {
		plant.coming = g.domains[0].khz;
		plant.comes_at = now + range.transition_ns;
	}
}

static void plant_run(uint64_t now, double rate) {
	double speed;

	if (now >= plant.look_at)
		plant_look(now);
	if (plant.comes_at != 0 && now >= plant.comes_at) {
		plant.khz = plant.coming;
		plant.comes_at = 0;
	}
	speed = (double)plant.khz / range.max_khz;
	plant.queue += rate;
	if (plant.queue >= speed) {
		plant.queue -= speed;
		plant.r.busy += US;
		plant.r.busy_rounds++;
		plant.r.rounds++;
	} else {
		plant.r.busy += (uint64_t)(plant.queue / speed * US);
		plant.r.idle += US - (uint64_t)(plant.queue / speed * US);
		plant.r.rounds += 10;
		plant.queue = 0;
	}
	plant.r.full_polls +=
		effort_full(&plant.was_full, plant.queue < 64 ? (uint16_t)plant.queue : 64);
}

/* From idle at the slowest to `rate` at `offset` within a look: what waits longest, ns. The queue in front of a packet
 * drains at the speeds of the time: how much came until now has gone when as much has gone. */
static uint64_t longest_wait(double rate, uint64_t latency, uint64_t offset) {
	uint64_t now = 0, end, longest = 0;
	static double came[4000];
	double sum = 0, gone;
	unsigned oldest = 0, count = 0;

	memset(&plant, 0, sizeof(plant));
	plant.khz = range.max_khz;
	start(&governor_saving, latency, 1, 1);
	for (; now < 50 * MS || now < plant.look_at - g.look_ns + offset; now += US)
		plant_run(now, 0);
	assert_int_equal(plant.khz, g.domains[0].floor_khz);
	for (end = now + 4 * MS; now < end; now += US) {
		plant_run(now, rate);
		sum += rate;
		came[count++] = sum;
		gone = sum - plant.queue;
		while (oldest < count && came[oldest] <= gone + 1e-6)
			oldest++;
		if ((count - oldest) * US > longest)
			longest = (count - oldest) * US;
	}
	assert_int_equal(plant.khz, range.max_khz);
	return longest;
}

/* The floor is derived so that this holds; a microsecond is the grain of the plant. */
TEST(steps_wait_no_longer_than_allowed) {
	static const uint64_t latencies[] = {50, 100, 200, 400};

	for (unsigned l = 0; l < 4; l++) {
		uint64_t most = 0;

		for (uint64_t offset = 0; offset < 100; offset += 9) {
			uint64_t wait = longest_wait(1.0, latencies[l] * US, offset * US);

			most = wait > most ? wait : most;
			assert_true(longest_wait(0.9, latencies[l] * US, offset * US) <=
				    latencies[l] * US + US);
		}
		assert_true(most <= latencies[l] * US + US);
		/* and it is used: the floor is no higher than it must be, but for a state */
		assert_true(l == 0 || most > latencies[l] * US / 4);
	}
}
