/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests governor.h against a slow model, and the delay of packets after a load step. */
#include "test_main.h"

#include "pipeline/poll_stats.h"
#include "power/governor.h"
#include "random.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define STEPS 3000
#define WORKERS 3u
#define DOMAINS 2u
#define MAXIMUM UINT32_MAX
#define EMPTY_ROUND 100 /* cycles of a round without work; 1 cycle = 1 ns */
#define BUSY_ROUND 10000 /* cycles of a round with work */

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

/* State of a worker and its domain at a step of the history. */
struct history {
	uint64_t now;
	struct governor_reading r;
	const struct governor_policy *policy;
	uint64_t sample_ns; /* sampling interval after this step */
	bool changed; /* the worker's counters changed since the previous step */
	uint32_t request; /* the domain's, from its floor up; 0: none; or MAXIMUM */
	uint32_t khz; /* frequency after this step */
};
static struct history histories[WORKERS][STEPS + 1], *history; /* of the current worker */

static void governor_set_up(const struct governor_policy *p, uint64_t latency, unsigned workers,
			    unsigned domains) {
	memset(&g, 0, sizeof(g));
	for (unsigned d = 0; d < domains; d++)
		g.domains[d].range = range;
	governor_start(&g, p, latency, domain_of, workers, domains);
}

/* Computed by hand: at 0.8 of 1.8 GHz, 5/9 of the packets of T wait: 100 us allow T = 180 us. */
TEST(latency_and_range_set_floor_and_interval) {
	struct governor_range r = range;

	r.transition_ns = 30 * US;
	assert_int_equal(governor_sample_interval(&r, 1 * MS), (1800 - 30) * US / 3);
	/* a third of 150 us is below the shortest interval */
	assert_int_equal(governor_sample_interval(&r, 100 * US), 100 * US);
	assert_int_equal(governor_sample_interval(&r, 10 * MS), 1 * MS);
	/* T is 330 us: 1 - 100 / 330 of 1.8 GHz is 1.255, 1.4 the next state */
	assert_int_equal(governor_floor(&r, 100 * US, 100 * US), 1400000);
	assert_int_equal(governor_floor(&r, 200 * US, 100 * US), 800000);
	assert_int_equal(governor_floor(&r, 0, 100 * US), 1800000);
	assert_int_equal(governor_floor(&r, UINT64_MAX, 1 * MS), 800000);
	r.transition_ns = UINT64_MAX; /* invalid value of a driver */
	assert_int_equal(governor_floor(&r, 100 * US, 100 * US), 1800000);
	/* without states: steps of 100 MHz */
	r = (struct governor_range){.min_khz = 850000, .max_khz = 2550000};
	assert_int_equal(governor_round(&r, 1), 850000);
	assert_int_equal(governor_round(&r, 1000001), 1100000);
	assert_int_equal(governor_round(&r, 2500001), 2550000);
	/* minimum above maximum: the maximum applies */
	r = (struct governor_range){.min_khz = 2000000, .max_khz = 1000000};
	assert_int_equal(governor_floor(&r, 10 * MS, 1 * MS), 1000000);
	assert_int_equal(governor_round(&r, 1), 1000000);
}

static uint64_t delta(uint64_t now, uint64_t before) {
	return now > before ? now - before : 0;
}

/* The n-th step before `at` at which the counters had changed; step 0 counts as one. */
static int previous_change(int at, int n) {
	while (at > 0 && n > 0)
		n -= history[--at].changed;
	return at;
}

/* Differences of the counters at `at` to those of the previous step with a change. */
static struct governor_reading since_change(int at) {
	const struct governor_reading *r = &history[at].r, *l = &history[previous_change(at, 1)].r;

	return (struct governor_reading){delta(r->busy, l->busy), delta(r->idle, l->idle),
					 delta(r->paused, l->paused), delta(r->rounds, l->rounds),
					 delta(r->busy_rounds, l->busy_rounds)};
}

/* Cycles of an empty round, from the latest step that had some. */
static uint64_t empty_round_cycles(int at) {
	for (; at > 0; at--) {
		struct governor_reading d = since_change(at);

		if (history[at].changed && d.rounds > d.busy_rounds)
			return delta(d.idle, d.paused) / (d.rounds - d.busy_rounds);
	}
	return 0;
}

static unsigned load(int at) {
	struct governor_reading d;
	uint64_t around;

	if (!history[at].changed)
		at = previous_change(at, 1);
	if (at == 0)
		return 0;
	d = since_change(at);
	around = d.busy_rounds * empty_round_cycles(at);
	around = around < d.busy / 2 ? around : d.busy / 2;
	return (unsigned)((d.busy - around) * 100 / (d.busy + d.idle));
}

static bool saturated(int at) {
	const struct governor_policy *p = history[at].policy;
	struct governor_reading d = since_change(at);

	return at > 0 && d.busy > 0 && d.busy * 100 / (d.busy + d.idle) >= p->full &&
	       load(at) >= p->target;
}

static uint64_t full_polls(int at) {
	return at > 0 ? delta(history[at].r.full_polls, history[at - 1].r.full_polls) : 0;
}

static bool is_rising(uint64_t now, uint64_t before, uint64_t before_that) {
	return now >= 64 && now > before && before > before_that;
}

static bool queues_grow(int at) {
	int last = previous_change(at, 1);
	const struct governor_reading zero = {0}, *r = &history[at].r, *one = &history[last].r,
				      *two = last > 0 ? &history[previous_change(at, 2)].r : &zero;

	return full_polls(at) >= 2 || (full_polls(at) == 1 && full_polls(at - 1) > 0) ||
	       is_rising(r->ring, one->ring, two->ring) ||
	       (is_rising(r->backlog, one->backlog, two->backlog) && load(at) >= 50);
}

static uint32_t next_state(uint64_t khz) {
	for (unsigned i = 0; i < ARRAY_COUNT(states); i++) {
		if (states[i] >= khz)
			return states[i];
	}
	return 1800000;
}

/* The latest step up to `at` that changed the frequency; 0: none. */
static int latest_frequency_change(int at) {
	while (at > 0 && history[at].khz == history[at - 1].khz)
		at--;
	return at;
}

static uint32_t model_request(int at) {
	int before = previous_change(at, 1), change = latest_frequency_change(at - 1);
	bool full = history[at].changed && saturated(at) && saturated(before);
	uint64_t now = history[at].now;

	if (!g.blind && (queues_grow(at) || full))
		return MAXIMUM;
	if (!history[at].changed)
		return now - history[before].now >= GOVERNOR_STUCK_NS ? MAXIMUM : 0;
	if (change > 0 &&
	    now < history[change].now + range.transition_ns + history[change].sample_ns)
		return 0;
	return next_state((uint64_t)history[at - 1].khz * load(at) / history[at].policy->target);
}

/* The frequency after step `at`: after the hold time, it falls to the highest request of it. */
static uint32_t model_khz(int at) {
	const struct governor_policy *p = history[at].policy;
	uint32_t now = history[at - 1].khz, request = history[at].request, peak = request;
	int i = at - 1;

	if (request == 0)
		return p->highest ? 1800000 : now;
	if (request == MAXIMUM || request >= now)
		return request == MAXIMUM ? 1800000 : request;
	for (; i > 0 && history[i].khz == history[i - 1].khz &&
	       history[i].request < history[i - 1].khz;
	     i--)
		peak = history[i].request > peak ? history[i].request : peak;
	return history[at].now - history[i].now >= p->hold_ns ? peak : now;
}

/* Adds `ns` in which packets used `percent` of the time. */
static void add_work(struct governor_reading *r, uint64_t ns, unsigned percent) {
	uint64_t busy = ns * percent / 100, idle = ns - busy;

	r->busy += busy;
	r->busy_rounds += busy / BUSY_ROUND;
	r->idle += idle;
	r->rounds += busy / BUSY_ROUND + idle / EMPTY_ROUND;
}

/* Random readings that reach each branch of the algorithm often; real workers do not have such. */
static void random_reading(struct random *r, struct governor_reading *reading) {
	if (random_below(r, 10) > 0) {
		add_work(reading, g.sample_ns,
			 random_below(r, 80) == 0 ? random_below(r, 101) : random_below(r, 30));
		reading->paused = reading->idle / 2;
		if (random_below(r, 10) == 0) /* rounds with few packets */
			reading->busy_rounds += g.sample_ns / EMPTY_ROUND;
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

/* Runs the model for all workers. A domain's request is the highest of its workers. */
static void model_step(int at, uint64_t now, const struct governor_reading *readings) {
	uint32_t requests[DOMAINS] = {0};

	for (unsigned w = 0; w < WORKERS; w++) {
		uint32_t request, floor_khz = g.domains[domain_of[w]].floor_khz;

		history = histories[w];
		history[at] =
			(struct history){now, readings[w], g.policy, g.sample_ns, false, 0, 0};
		history[at].changed = since_change(at).busy + since_change(at).idle > 0;
		request = g.policy->highest ? 0 : model_request(at);
		request = request > 0 && request < floor_khz ? floor_khz : request;
		requests[domain_of[w]] =
			request > requests[domain_of[w]] ? request : requests[domain_of[w]];
	}
	for (unsigned w = 0; w < WORKERS; w++) {
		history = histories[w];
		history[at].request = requests[domain_of[w]];
		history[at].khz = model_khz(at);
	}
}

static void run_random(uint64_t seed, const struct governor_policy *p, uint64_t latency) {
	static const struct governor_policy *const policies[] = {
		&governor_saving, &governor_balanced, &governor_performance};
	struct governor_reading readings[WORKERS] = {{0}};
	struct random r = {seed};

	governor_set_up(p, latency, WORKERS, DOMAINS);
	g.blind = seed % 5 == 0;
	for (unsigned w = 0; w < WORKERS; w++)
		histories[w][0] =
			(struct history){MS, readings[w], p, g.sample_ns, true, 0, 1800000};
	governor_step(&g, MS, readings);
	for (int at = 1; at <= STEPS; at++) {
		uint64_t now = g.now + g.sample_ns;

		if (random_below(&r, 500) == 0)
			governor_change(&g, policies[random_below(&r, 3)], latency);
		for (unsigned w = 0; w < WORKERS; w++)
			random_reading(&r, &readings[w]);
		if (random_below(&r, 200) == 0) /* the governor's thread was preempted */
			now += random_below(&r, 120) * MS;
		model_step(at, now, readings);
		governor_step(&g, now, readings);
		for (unsigned w = 0; w < WORKERS; w++)
			assert_int_equal(g.domains[domain_of[w]].khz, histories[w][at].khz);
	}
	governor_step(&g, g.now, readings); /* the clock has stopped */
	assert_int_equal(g.stopped, 1);
	for (unsigned d = 0; d < DOMAINS; d++) {
		assert_int_equal(g.domains[d].khz, 1800000);
		jumps += g.domains[d].jumps;
		transitions += g.domains[d].transitions;
	}
}

TEST(governor_equals_model) {
	for (unsigned seed = 1; seed <= 20; seed++) {
		run_random(seed, &governor_saving, 200 * US);
		run_random(seed + 100, &governor_balanced, 1000 * US);
		run_random(seed + 200, &governor_saving, 100 * US);
	}
	assert_true(jumps > 100);
	assert_true(transitions > 2 * jumps);
}

/* A simulated worker in steps of 1 us. At the maximum frequency it handles a packet per step. */
static struct plant {
	bool was_full;
	double queue; /* packets */
	uint32_t khz, next_khz;
	uint64_t change_at, sample_at;
	struct governor_reading r;
} plant;

static void plant_sample(uint64_t now) {
	governor_step(&g, now, &plant.r);
	plant.sample_at = now + g.sample_ns;
	if (g.domains[0].khz != (plant.change_at != 0 ? plant.next_khz : plant.khz)) {
		plant.next_khz = g.domains[0].khz;
		plant.change_at = now + range.transition_ns;
	}
}

static void plant_run(uint64_t now, double rate) {
	double speed;

	if (now >= plant.sample_at)
		plant_sample(now);
	if (plant.change_at != 0 && now >= plant.change_at) {
		plant.khz = plant.next_khz;
		plant.change_at = 0;
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
		poll_stats_is_full(&plant.was_full, plant.queue < 64 ? (uint16_t)plant.queue : 64);
}

/* The load steps from 0 to `rate`, `offset` ns after a sample. Returns the longest delay of a
 * packet, ns: from its arrival until as many packets have left as had arrived up to it. */
static uint64_t longest_delay(double rate, uint64_t latency, uint64_t offset) {
	uint64_t now = 0, end, longest = 0;
	static double arrived[4000];
	double sum = 0, departed;
	unsigned oldest = 0, count = 0;

	memset(&plant, 0, sizeof(plant));
	plant.khz = range.max_khz;
	governor_set_up(&governor_saving, latency, 1, 1);
	for (; now < 50 * MS || now < plant.sample_at - g.sample_ns + offset; now += US)
		plant_run(now, 0);
	assert_int_equal(plant.khz, g.domains[0].floor_khz);
	for (end = now + 4 * MS; now < end; now += US) {
		plant_run(now, rate);
		sum += rate;
		arrived[count++] = sum;
		departed = sum - plant.queue;
		while (oldest < count && arrived[oldest] <= departed + 1e-6)
			oldest++;
		if ((count - oldest) * US > longest)
			longest = (count - oldest) * US;
	}
	assert_int_equal(plant.khz, range.max_khz);
	return longest;
}

/* The floor limits the delay to the allowed latency, up to the model's resolution of 1 us. */
TEST(load_step_delay_is_within_latency) {
	static const uint64_t latencies[] = {50, 100, 200, 400};

	for (unsigned l = 0; l < 4; l++) {
		uint64_t longest = 0;

		for (uint64_t offset = 0; offset < 100; offset += 9) {
			uint64_t delay = longest_delay(1.0, latencies[l] * US, offset * US);

			longest = delay > longest ? delay : longest;
			assert_true(longest_delay(0.9, latencies[l] * US, offset * US) <=
				    latencies[l] * US + US);
		}
		assert_true(longest <= latencies[l] * US + US);
		/* the floor is not needlessly high: the latency is used, up to a state's step */
		assert_true(l == 0 || longest > latencies[l] * US / 4);
	}
}
