/* SPDX-License-Identifier: BSD-3-Clause */
/* One sample of the workers, and the changes that follow from it. */
#include <time.h>

#include "platform/log/log.h"
#include "power/live/parts.h"

void power_count_fault(struct power *p, enum power_fault fault) {
	p->counts[fault]++;
}

bool power_is_busy_hour(const struct power_config *config, unsigned hour) {
	const struct hours *h = &config->busy_hours;

	if (!config->has_busy_hours)
		return false;
	return h->from < h->to ? hour >= h->from && hour < h->to : hour >= h->from || hour < h->to;
}

static unsigned hour_now(void) {
	time_t now = time(NULL);
	struct tm local;

	return localtime_r(&now, &local) != NULL ? (unsigned)local.tm_hour : 0;
}

enum power_policy power_policy_now(const struct power *p) {
	unsigned hour = p->setup.hour != NULL ? p->setup.hour() : hour_now();

	return power_is_busy_hour(&p->config, hour) ? POWER_PERFORMANCE : p->config.policy;
}

const struct governor_policy *power_policy_params(enum power_policy policy) {
	switch (policy) {
	case POWER_BALANCED: return &governor_balanced;
	case POWER_SAVING: return &governor_saving;
	case POWER_PERFORMANCE:
	case POWER_NONE: break;
	}
	return &governor_performance;
}

/* Applies and logs a change of the policy at the start or end of busy hours. */
static void check_hour(struct power *p) {
	enum power_policy policy = power_policy_now(p);

	if (policy == p->effective_policy)
		return;
	p->effective_policy = policy;
	governor_change(&p->governor, power_policy_params(policy), p->config.latency);
	log_notice("power", LOG_FIELDS(LOG_STRING("policy", power_policy_name(policy))),
		   "by busy hours: policy %s", power_policy_name(policy));
}

static void check(struct power *p, uint64_t now) {
	if (now - p->checked < POWER_SECOND)
		return;
	p->checked = now;
	check_hour(p);
	for (unsigned w = 0; w < p->core_count; w++)
		p->driver->check(p, w);
}

static bool domain_is_slowest(const struct governor_domain *d) {
	return d->khz <= d->floor_khz && d->khz < d->range.max_khz;
}

/* Sets the cores of domains that changed, then the uncore. */
static void apply(struct power *p, uint64_t now) {
	const struct governor *g = &p->governor;
	bool low = p->effective_policy == POWER_SAVING;

	for (unsigned w = 0; w < p->core_count; w++) {
		unsigned d = p->domain_of[w];

		if (p->cores[w].governed && g->domains[d].khz != p->applied_khz[d])
			p->driver->set(p, w, g->domains[d].khz, now);
	}
	for (unsigned d = 0; d < g->domain_count; d++) {
		p->applied_khz[d] = g->domains[d].khz;
		low = low && domain_is_slowest(&g->domains[d]);
	}
	if (low != p->low)
		p->driver->low(p, low);
	p->low = low;
}

uint64_t power_step(struct power *p, uint64_t now) {
	struct governor *g = &p->governor;
	uint64_t stopped = g->stopped, stuck = g->stuck, pending;

	if (p->next_sample > 0 && now > p->next_sample + POWER_LATE_NS)
		p->late_ns += now - p->next_sample;
	if (now >= p->next_sample || !g->began || now < g->now) {
		power_readings(p->server, p->readings);
		governor_step(g, now, p->readings);
		p->counts[POWER_CLOCK] += g->stopped - stopped;
		p->counts[POWER_WORKER] += g->stuck - stuck;
		apply(p, now);
		check(p, now);
		p->next_sample = now + g->sample_ns;
	}
	pending = p->driver->pending(p, now);
	return pending < p->next_sample ? pending : p->next_sample;
}
