/* SPDX-License-Identifier: BSD-3-Clause */
/* The governor beside a slow model, which keeps all that was and looks it up; and what a step of the load waits. */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "governor_kit.h"
#include "pipeline/effort.h"
#include "random.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define STEPS 3000
#define ALL UINT32_MAX

static struct governor g;
static uint64_t jumps, transitions;

/* One worker, one domain: everything since the start. */
static struct past {
	uint64_t now;
	struct governor_reading r;
	bool moved; /* its counters, since the step before */
	uint32_t wish; /* ALL, 0: none, or a frequency of the range above the floor */
	uint32_t khz; /* from then on */
	bool fixed; /* to the maximum without a wish */
} past[STEPS + 1];

static uint64_t up(uint64_t now, uint64_t before) {
	return now > before ? now - before : 0;
}

/* The n-th step before `at` whose counters had moved; the first is one. */
static int moved_before(int at, int n) {
	while (at > 0 && n > 0)
		n -= past[--at].moved;
	return at;
}

/* How much longer a busy round would be without packets: of the last step that had some. */
static uint64_t empty_round(int at) {
	for (; at > 0; at--) {
		const struct governor_reading *r = &past[at].r, *l = &past[moved_before(at, 1)].r;
		uint64_t empty = up(r->rounds, l->rounds),
			 busy = up(r->busy_rounds, l->busy_rounds);

		if (past[at].moved && empty > busy)
			return up(up(r->idle, l->idle), up(r->paused, l->paused)) / (empty - busy);
	}
	return 0;
}

static unsigned load(int at) {
	const struct governor_reading *r, *l;
	uint64_t busy, around;

	if (!past[at].moved)
		at = moved_before(at, 1);
	if (at == 0)
		return 0;
	r = &past[at].r;
	l = &past[moved_before(at, 1)].r;
	busy = up(r->busy, l->busy);
	around = up(r->busy_rounds, l->busy_rounds) * empty_round(at);
	around = around < busy / 2 ? around : busy / 2;
	return (unsigned)((busy - around) * 100 / (busy + up(r->idle, l->idle)));
}

static bool saturated(int at, const struct governor_policy *p) {
	const struct governor_reading *r = &past[at].r, *l = &past[moved_before(at, 1)].r;
	uint64_t busy = up(r->busy, l->busy), all = busy + up(r->idle, l->idle);

	return at > 0 && all > 0 && busy * 100 / all >= p->full && load(at) >= p->target;
}

static uint64_t full_polls(int at) {
	return at > 0 ? up(past[at].r.full_polls, past[at - 1].r.full_polls) : 0;
}

static bool grows(int at) {
	const struct governor_reading *r = &past[at].r;
	const struct governor_reading *one = &past[moved_before(at, 1)].r;
	int two_at = moved_before(at, 2);
	struct governor_reading zero = {0};
	const struct governor_reading *two =
		two_at == moved_before(at, 1) ? &zero : &past[two_at].r;

	if (full_polls(at) >= 2 ||
	    (full_polls(at) == 1 && !past[at - 1].fixed && full_polls(at - 1) > 0))
		return true;
	if (r->ring >= 64 && r->ring > one->ring && one->ring > two->ring)
		return true;
	return r->backlog >= 64 && r->backlog > one->backlog && one->backlog > two->backlog &&
	       load(at) >= 50;
}

static uint32_t next_state(uint64_t khz) {
	for (unsigned i = 0; i < 6; i++) {
		if (kit_states[i] >= khz)
			return kit_states[i];
	}
	return 1800000;
}

/* The time of the last change of the frequency before the step. */
static uint64_t changed_at(int at) {
	while (at > 0 && past[at].khz == past[at - 1].khz)
		at--;
	return at > 0 ? past[at].now : 0;
}

static uint32_t model_wish(int at, const struct governor_policy *p, uint32_t floor_khz) {
	int before = moved_before(at, 1);
	uint32_t khz;

	if (!past[at].moved)
		return grows(at) || past[at].now - past[before].now >= GOVERNOR_STUCK_NS ? ALL : 0;
	if (grows(at) || (saturated(at, p) && saturated(before, p)))
		return ALL;
	if (changed_at(at - 1) != 0 &&
	    past[at].now < changed_at(at - 1) + kit_range.transition_ns + g.look_ns)
		return 0;
	khz = next_state((uint64_t)past[at - 1].khz * load(at) / p->target);
	return khz > floor_khz ? khz : floor_khz;
}

/* The highest wish since the frequency was last asked for or changed, once that is long ago. */
static uint32_t model_khz(int at, const struct governor_policy *p) {
	uint32_t now = past[at - 1].khz, wish = past[at].wish, peak = wish;
	int i = at - 1;

	if (wish == 0)
		return now;
	if (wish == ALL || wish >= now)
		return wish == ALL ? 1800000 : wish;
	for (; i > 0 && past[i].khz == past[i - 1].khz && past[i].wish < past[i - 1].khz; i--)
		peak = past[i].wish > peak ? past[i].wish : peak;
	return past[at].now - past[i].now >= p->hold_ns ? peak : now;
}

/* Readings as no worker would have them: each way of the algorithm is gone often. */
static void any_reading(struct random *r, struct governor_reading *reading) {
	if (random_below(r, 10) > 0) {
		kit_work(reading, g.look_ns,
			 random_below(r, 80) == 0 ? random_below(r, 101) : random_below(r, 30));
		reading->paused = reading->idle / 2;
		if (random_below(r, 10) == 0) /* of few packets each */
			reading->busy_rounds += g.look_ns / KIT_EMPTY;
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

static void check_step(int at, uint32_t floor_khz, const struct governor_policy *p) {
	const struct governor_domain *d = &g.domains[0];

	assert_int_equal(d->khz, past[at].khz);
	assert_true(d->khz >= floor_khz && d->khz <= 1800000);
	if (past[at].wish == ALL)
		assert_int_equal(d->khz, 1800000);
	if (past[at].khz < past[at - 1].khz && changed_at(at - 1) != 0)
		assert_true(past[at].now - changed_at(at - 1) >= p->hold_ns);
}

static void run_random(uint64_t seed, const struct governor_policy *p, uint64_t latency) {
	static const unsigned domain_of[] = {0};
	struct random r = {seed};
	struct governor_reading reading = {0};
	uint32_t floor_khz;

	memset(&g, 0, sizeof(g));
	g.domains[0].range = kit_range;
	governor_start(&g, p, latency, domain_of, 1, 1);
	floor_khz = g.domains[0].floor_khz;
	past[0] = (struct past){.now = MS, .moved = true, .khz = 1800000};
	governor_step(&g, MS, &reading);
	for (int at = 1; at <= STEPS; at++) {
		struct past *step = &past[at];

		any_reading(&r, &reading);
		*step = (struct past){.now = past[at - 1].now + g.look_ns, .r = reading};
		if (random_below(&r, 200) == 0) /* the thread was kept from its core */
			step->now += random_below(&r, 120) * MS;
		step->moved = up(reading.busy, past[at - 1].r.busy) +
				      up(reading.idle, past[at - 1].r.idle) >
			      0;
		step->wish = model_wish(at, p, floor_khz);
		step->khz = model_khz(at, p);
		governor_step(&g, step->now, &reading);
		check_step(at, floor_khz, p);
	}
	jumps += g.domains[0].jumps;
	transitions += g.domains[0].transitions;
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
	double queue, work; /* packets */
	uint32_t khz, coming;
	uint64_t comes_at;
	struct governor_reading r;
} plant;

static void plant_run(uint64_t now, double rate) {
	double speed;

	if (plant.comes_at != 0 && now >= plant.comes_at) {
		plant.khz = plant.coming;
		plant.comes_at = 0;
	}
	speed = (double)plant.khz / kit_range.max_khz;
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

static void plant_look(uint64_t now) {
	governor_step(&g, now, &plant.r);
	if (g.domains[0].khz != (plant.comes_at != 0 ? plant.coming : plant.khz)) {
		plant.coming = g.domains[0].khz;
		plant.comes_at = now + kit_range.transition_ns;
	}
}

/* From idle at the slowest to `rate` at `offset` within a look: what waits longest, ns. The queue in front of a packet
 * drains at the speeds of the time: how much came until now has gone when as much has gone. */
static uint64_t longest_wait(double rate, uint64_t latency, uint64_t offset) {
	static const unsigned domain_of[] = {0};
	uint64_t now = 0, next = 0, step_at, longest = 0;
	static double came[4000];
	double sum = 0, gone;
	unsigned oldest = 0, count = 0;

	memset(&plant, 0, sizeof(plant));
	plant.khz = kit_range.max_khz;
	memset(&g, 0, sizeof(g));
	g.domains[0].range = kit_range;
	governor_start(&g, &governor_saving, latency, domain_of, 1, 1);
	for (; now < 50 * MS || now < next - g.look_ns + offset; now += US) {
		if (now >= next) {
			plant_look(now);
			next = now + g.look_ns;
		}
		plant_run(now, 0);
	}
	assert_int_equal(plant.khz, g.domains[0].floor_khz);
	for (step_at = now; now < step_at + 4 * MS; now += US) {
		if (now >= next) {
			plant_look(now);
			next = now + g.look_ns;
		}
		sum += rate;
		came[count++] = sum;
		plant_run(now, rate);
		gone = sum - plant.queue;
		while (oldest < count && came[oldest] <= gone + 1e-6)
			oldest++;
		if ((count - oldest) * US > longest)
			longest = (count - oldest) * US;
	}
	assert_int_equal(plant.khz, kit_range.max_khz);
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
