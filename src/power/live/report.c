/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/live/parts.h"

static void report_core(const struct power *p, unsigned w, struct power_core_report *out) {
	const struct cpufreq *c = &p->cores[w].c;
	const struct governor_domain *d = &p->governor.domains[p->domain_of[w]];

	*out = (struct power_core_report){.core = p->server->layout.cores[w]};
	if (p->driver == NULL || !p->cores[w].governed)
		return;
	out->khz = c->khz;
	out->requested_khz = c->requested_khz;
	out->min_khz = c->min_khz;
	out->max_khz = c->max_khz;
	out->load = p->governor.workers[w].load;
	out->domain = p->domain_of[w];
	out->transitions = d->transitions;
	out->jumps = d->jumps;
}

void power_get_report(struct power *p, struct power_report *r) {
	pthread_mutex_lock(&p->lock);
	r->policy = p->driver != NULL ? p->effective_policy : p->config.policy;
	r->driver = p->driver != NULL ? p->driver->name : "none";
	r->sample_ns = p->governor.sample_ns;
	r->transition_ns = p->transition_ns;
	r->late_ns = p->late_ns;
	r->blind = p->blind;
	for (unsigned f = 0; f < POWER_FAULTS; f++)
		r->counts[f] = p->counts[f];
	r->core_count = p->core_count;
	for (unsigned w = 0; w < p->core_count; w++) {
		report_core(p, w, &r->cores[w]);
		for (unsigned c = 0; c < CPUFREQ_REASONS; c++)
			r->cores[w].counts[c] = p->cores[w].c.counts[c];
	}
	pthread_mutex_unlock(&p->lock);
}
