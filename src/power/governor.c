/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/governor.h"

#include <stddef.h>

#define STEP_KHZ 100000u /* step of drivers without a frequency table: the bus clock */
#define ALL UINT32_MAX /* a request for the maximum */
#define MS UINT64_C(1000000)

#define GOVERNOR_POLICY(name, target, full, hold_ms, highest)                                \
	const struct governor_policy governor_##name = {#name, target, full, (hold_ms) * MS, \
							highest};
#include "power/policies.def"
#undef GOVERNOR_POLICY

static uint64_t clamp(uint64_t value, uint64_t min, uint64_t max) {
	return value < min ? min : value > max ? max : value;
}

/* At speed min, work that arrives at speed max for a time t leaves a backlog. At speed max, the
 * backlog takes (1 - min / max) t. */
uint64_t governor_sample_interval(const struct governor_range *r, uint64_t latency_ns) {
	uint64_t t;

	if (r->min_khz >= r->max_khz)
		return GOVERNOR_SAMPLE_MAX_NS;
	t = clamp(latency_ns, 0, UINT32_MAX) * r->max_khz / (r->max_khz - r->min_khz);
	t = t > r->transition_ns ? t - r->transition_ns : 0;
	return clamp(t / GOVERNOR_SAMPLES, GOVERNOR_SAMPLE_MIN_NS, GOVERNOR_SAMPLE_MAX_NS);
}

uint32_t governor_floor(const struct governor_range *r, uint64_t latency_ns, uint64_t sample_ns) {
	uint64_t t = GOVERNOR_SAMPLES * sample_ns + clamp(r->transition_ns, 0, UINT32_MAX), khz;

	if (r->min_khz >= r->max_khz)
		return r->max_khz;
	khz = latency_ns < t ? (r->max_khz * (t - latency_ns) + t - 1) / t : 0;
	return governor_round(r, (uint32_t)clamp(khz, r->min_khz, r->max_khz));
}

uint32_t governor_round(const struct governor_range *r, uint32_t khz) {
	if (r->min_khz >= r->max_khz || khz >= r->max_khz)
		return r->max_khz;
	for (unsigned i = 0; i < r->state_count; i++) {
		if (r->states[i] >= khz)
			return r->states[i];
	}
	if (r->state_count > 0)
		return r->max_khz;
	khz = (khz + STEP_KHZ - 1) / STEP_KHZ * STEP_KHZ;
	return (uint32_t)clamp(khz, r->min_khz, r->max_khz);
}

/* All domains are sampled at the rate of the domain that needs the highest one. */
static void set_pace(struct governor *g, uint64_t latency_ns) {
	g->sample_ns = GOVERNOR_SAMPLE_MAX_NS;
	if (g->policy->highest)
		return;
	for (unsigned d = 0; d < g->domain_count; d++) {
		uint64_t look = governor_sample_interval(&g->domains[d].range, latency_ns);

		g->sample_ns = look < g->sample_ns ? look : g->sample_ns;
	}
	for (unsigned d = 0; d < g->domain_count; d++) {
		struct governor_domain *domain = &g->domains[d];

		domain->floor_khz = governor_floor(&domain->range, latency_ns, g->sample_ns);
	}
}

void governor_start(struct governor *g, const struct governor_policy *policy, uint64_t latency_ns,
		    const unsigned *domain_of, unsigned workers, unsigned domains) {
	g->policy = policy;
	g->began = false;
	g->stopped = g->stuck = 0;
	g->worker_count = workers;
	g->domain_count = domains;
	for (unsigned w = 0; w < workers; w++)
		g->workers[w] = (struct governor_worker){.domain = domain_of[w]};
	for (unsigned d = 0; d < domains; d++) {
		const struct governor_range range = g->domains[d].range;

		g->domains[d] = (struct governor_domain){
			.range = range, .khz = range.max_khz, .floor_khz = range.max_khz};
	}
	set_pace(g, latency_ns);
}

void governor_change(struct governor *g, const struct governor_policy *policy,
		     uint64_t latency_ns) {
	g->policy = policy;
	set_pace(g, latency_ns);
}

/* The increase since `before`. A sum over groups falls if a group is removed; then the increase is
 * 0. */
static uint64_t grown(uint64_t now, uint64_t before) {
	return now > before ? now - before : 0;
}

static unsigned percent(uint64_t part, uint64_t all) {
	return part >= all ? 100 : (unsigned)(part * 100 / all);
}

/*
 * Percent of the time that packets took. Many rounds with one or two packets make a worker busy,
 * but at higher load fewer rounds carry more packets. So the cost of an empty round does not count
 * as load.
 */
static unsigned load_of(struct governor_worker *w, const struct governor_reading *r, uint64_t busy,
			uint64_t all) {
	uint64_t rounds = grown(r->rounds, w->last.rounds);
	uint64_t busy_rounds = grown(r->busy_rounds, w->last.busy_rounds);
	uint64_t idle = grown(all - busy, grown(r->paused, w->last.paused)), around;

	if (rounds > busy_rounds)
		w->empty = idle / (rounds - busy_rounds);
	around = busy_rounds * w->empty;
	/* at most half, as the cost of an empty round is an estimate */
	around = around > busy / 2 ? busy / 2 : around;
	return percent(busy - around, all);
}

/* Whether a queue grows: two full polls in this sample, or one in this and one in the last; or a
 * ring or the backlog grew in two samples in a row. */
static bool queue_grows(struct governor_worker *w, const struct governor_reading *r) {
	uint64_t full = grown(r->full_polls, w->last.full_polls);
	bool polls = full >= 2 || (full == 1 && w->was_full);
	bool ring = r->ring >= GOVERNOR_BURST && r->ring > w->last.ring &&
		    w->last.ring > w->ring_before;
	/* The scheduler also delays packets to limit rates, so its backlog counts only if the
	 * worker is busy. */
	bool backlog = r->backlog >= GOVERNOR_BURST && r->backlog > w->last.backlog &&
		       w->last.backlog > w->backlog_before && w->load >= 50;

	w->was_full = full > 0;
	return polls || ring || backlog;
}

/* Returns the requested frequency, ALL, or 0: no request. */
static uint32_t worker_sample(struct governor *g, struct governor_worker *w,
			      const struct governor_reading *r) {
	const struct governor_policy *p = g->policy;
	const struct governor_domain *d = &g->domains[w->domain];
	uint64_t busy = grown(r->busy, w->last.busy);
	uint64_t all = busy + grown(r->idle, w->last.idle);
	bool grows, saturated, was_saturated = w->was_saturated;
	uint64_t request;

	if (all == 0) {
		grows = queue_grows(w, r) && !g->blind;
		w->last.full_polls = r->full_polls;
		if (!grows && g->now - w->moved_at < GOVERNOR_STUCK_NS)
			return 0;
		g->stuck += !grows;
		return ALL;
	}
	w->moved_at = g->now;
	__atomic_store_n(&w->load, load_of(w, r, busy, all), __ATOMIC_RELAXED);
	saturated = percent(busy, all) >= p->full && w->load >= p->target;
	w->was_saturated = saturated;
	grows = queue_grows(w, r);
	w->ring_before = w->last.ring;
	w->backlog_before = w->last.backlog;
	w->last = *r;
	if (!g->blind && (grows || (saturated && was_saturated)))
		return ALL;
	if (g->now < d->settled_at)
		return 0;
	request = (uint64_t)d->khz * w->load / p->target;
	return request < 1 ? 1 : request > ALL - 1 ? ALL - 1 : (uint32_t)request;
}

static void set(struct governor *g, struct governor_domain *d, uint32_t khz) {
	d->hold_start = g->now;
	d->peak_khz = 0;
	if (khz == d->khz)
		return;
	d->khz = khz;
	d->transitions++;
	d->settled_at = g->now + d->range.transition_ns + g->sample_ns;
}

/* `request` is the highest request of the domain's workers. */
static void decide(struct governor *g, struct governor_domain *d, uint32_t request) {
	uint32_t khz;

	if (g->policy->highest) {
		if (d->khz != d->range.max_khz)
			set(g, d, d->range.max_khz);
		return;
	}
	if (request == 0)
		return;
	if (request == ALL)
		d->jumps += d->khz != d->range.max_khz;
	khz = governor_round(&d->range, request);
	khz = khz < d->floor_khz ? d->floor_khz : khz;
	if (khz > d->peak_khz)
		d->peak_khz = khz;
	if (khz >= d->khz)
		set(g, d, khz);
	else if (g->now - d->hold_start >= g->policy->hold_ns)
		set(g, d, d->peak_khz);
}

/* If the clock stopped or went back, all recorded times are invalid. */
static void all_to_maximum(struct governor *g) {
	for (unsigned d = 0; d < g->domain_count; d++) {
		set(g, &g->domains[d], g->domains[d].range.max_khz);
		g->domains[d].settled_at = g->now;
	}
	for (unsigned w = 0; w < g->worker_count; w++)
		g->workers[w].moved_at = g->now;
}

/* The first sample is the reference of later ones. */
static void begin(struct governor *g, const struct governor_reading *readings) {
	g->began = true;
	for (unsigned w = 0; w < g->worker_count; w++)
		g->workers[w].last = readings[w];
	all_to_maximum(g);
}

void governor_step(struct governor *g, uint64_t now, const struct governor_reading *readings) {
	uint32_t requests[GOVERNOR_MAX] = {0};
	bool moved = now > g->now;

	g->now = now;
	if (!g->began) {
		begin(g, readings);
		return;
	}
	if (!moved) {
		g->stopped++;
		all_to_maximum(g);
		return;
	}
	for (unsigned w = 0; w < g->worker_count; w++) {
		struct governor_worker *worker = &g->workers[w];
		uint32_t request = worker_sample(g, worker, &readings[w]);

		if (request > requests[worker->domain])
			requests[worker->domain] = request;
	}
	for (unsigned d = 0; d < g->domain_count; d++)
		decide(g, &g->domains[d], requests[d]);
}
