/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/live/power.h"

#include <stdlib.h>
#include <string.h>

#include "platform/log/log.h"
#include "power/leftovers.h"
#include "power/live/parts.h"
#include "power/live/thread.h"

static const char *const faults[POWER_FAULTS] = {
	[POWER_NO_DRIVER] = "no_driver",
	[POWER_NOT_SAVED] = "not_kept",
	[POWER_CONTRADICTION] = "contradiction",
	[POWER_CLOCK] = "clock",
	[POWER_WORKER] = "worker",
};

const char *power_fault_name(enum power_fault fault) {
	return faults[fault];
}

struct power *power_create(struct server *server, const struct power_setup *setup) {
	struct power *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		log_error("memory", LOG_NO_FIELDS, "no memory for the frequency governor");
		return NULL;
	}
	p->server = server;
	p->setup = *setup;
	p->core_count = server->worker_count;
	p->transition_ns = POWER_TRANSITION_NS;
	p->config = power_config_default();
	pthread_mutex_init(&p->lock, NULL);
	if (setup->files != NULL)
		p->files = *setup->files;
	else
		cpu_files_open(&p->files, setup->root != NULL ? setup->root : CPU_FILES_ROOT);
	/* Restores the state of killed processes, even if this process does not govern frequencies. */
	if (setup->folder != NULL && p->files.read != NULL)
		leftovers_restore(setup->folder, &p->files);
	return p;
}

const struct power_config *power_config_of(const struct power *p) {
	return &p->config;
}

/* Sets the range of each domain: from the highest minimum to the highest maximum of its cores. */
static void set_ranges(struct power *p) {
	for (unsigned w = 0; w < p->core_count; w++) {
		struct governor_range *r = &p->governor.domains[p->domain_of[w]].range;
		const struct cpufreq *c = &p->cores[w].c;
		uint64_t transition = c->transition_us * UINT64_C(1000);

		if (!p->cores[w].governed)
			continue;
		if (transition == 0 || transition > POWER_TRANSITION_MAX_NS)
			transition = POWER_TRANSITION_NS;
		if (p->driver == &power_simulated)
			transition = p->transition_ns;
		if (c->max_khz > r->max_khz) {
			r->max_khz = c->max_khz;
			r->states = c->state_count > 0 ? c->states : NULL;
			r->state_count = c->state_count;
		}
		r->min_khz = c->min_khz > r->min_khz ? c->min_khz : r->min_khz;
		r->transition_ns = transition > r->transition_ns ? transition : r->transition_ns;
	}
}

static void start_governor(struct power *p) {
	struct governor *g = &p->governor;
	unsigned domains = 0;

	memset(g->domains, 0, sizeof(g->domains));
	for (unsigned w = 0; w < p->core_count; w++)
		domains = p->domain_of[w] >= domains ? p->domain_of[w] + 1 : domains;
	set_ranges(p);
	p->effective_policy = power_policy_now(p);
	governor_start(g, power_policy_params(p->effective_policy), p->config.latency, p->domain_of,
		       p->core_count, domains);
	g->blind = p->blind;
	memset(p->applied_khz, 0, sizeof(p->applied_khz));
	p->low = false;
	p->checked = p->next_sample = 0;
}

/* Checks for contradictions in the configuration. */
static void check_config(struct power *p) {
	if (p->config.policy == POWER_NONE && p->config.has_busy_hours) {
		power_count_fault(p, POWER_CONTRADICTION);
		log_warning("power", LOG_NO_FIELDS,
			    "power.busy_hours without a policy: frequencies stay unchanged at "
			    "all hours");
	}
}

static void open_driver(struct power *p) {
	p->driver =
		p->config.driver == POWER_DRIVER_SIMULATED ? &power_simulated : &power_by_cpufreq;
	if (p->driver->open(p) == 0) {
		start_governor(p);
		log_notice("power",
			   LOG_FIELDS(LOG_STRING("policy", power_policy_name(p->config.policy)),
				      LOG_STRING("driver", p->driver->name),
				      LOG_NUMBER("look_us", p->governor.sample_ns / 1000)),
			   "policy %s by %s: %u cores in %u clock domains, a sample each %u us",
			   power_policy_name(p->config.policy), p->driver->name, p->core_count,
			   p->governor.domain_count, (unsigned)(p->governor.sample_ns / 1000));
		return;
	}
	p->driver = NULL;
	power_count_fault(p, POWER_NO_DRIVER);
	log_warning("power", LOG_FIELDS(LOG_STRING("policy", power_policy_name(p->config.policy))),
		    "policy %s: no usable frequency driver: frequencies stay unchanged",
		    power_policy_name(p->config.policy));
}

void power_stop(struct power *p) {
	power_thread_stop(p);
	pthread_mutex_lock(&p->lock);
	if (p->driver != NULL) {
		p->driver->low(p, false);
		p->driver->close(p);
		p->driver = NULL;
	}
	pthread_mutex_unlock(&p->lock);
}

static bool needs_restart(const struct power *p, const struct power_config *next) {
	return p->driver == NULL || next->policy == POWER_NONE || p->config.driver != next->driver;
}

void power_set(struct power *p, const struct power_config *config) {
	bool restart = needs_restart(p, config);

	if (p->driver != NULL && config->policy == POWER_NONE)
		log_notice("power", LOG_FIELDS(LOG_STRING("policy", "none")),
			   "policy none: frequencies stay unchanged");
	if (restart)
		power_stop(p);
	pthread_mutex_lock(&p->lock);
	p->config = *config;
	check_config(p);
	if (config->policy != POWER_NONE && restart) {
		open_driver(p);
	} else if (p->driver != NULL) {
		p->effective_policy = power_policy_now(p);
		governor_change(&p->governor, power_policy_params(p->effective_policy),
				config->latency);
		log_notice("power",
			   LOG_FIELDS(LOG_STRING("policy", power_policy_name(config->policy))),
			   "policy %s, latency %u us", power_policy_name(config->policy),
			   (unsigned)(config->latency / 1000));
	}
	pthread_mutex_unlock(&p->lock);
	if (p->driver != NULL && !p->setup.by_hand)
		power_thread_start(p);
}

void power_set_transition(struct power *p, uint64_t ns) {
	pthread_mutex_lock(&p->lock);
	p->transition_ns = ns < POWER_TRANSITION_MAX_NS ? ns : POWER_TRANSITION_MAX_NS;
	if (p->driver == &power_simulated)
		start_governor(p);
	pthread_mutex_unlock(&p->lock);
}

void power_set_blind(struct power *p, bool blind) {
	pthread_mutex_lock(&p->lock);
	p->blind = p->governor.blind = blind;
	pthread_mutex_unlock(&p->lock);
}

void power_free(struct power *p) {
	if (p == NULL)
		return;
	power_stop(p);
	if (p->setup.files == NULL)
		cpu_files_close(&p->files);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
