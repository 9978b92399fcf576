/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/live/power.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log/log.h"
#include "power/live/parts.h"
#include "power/live/thread.h"

static const char *const faults[POWER_FAULTS] = {
	[POWER_NO_DRIVER] = "no_driver",	 [POWER_NOT_KEPT] = "not_kept",
	[POWER_CONTRADICTION] = "contradiction", [POWER_CLOCK] = "clock",
	[POWER_WORKER] = "worker",
};

const char *power_fault_name(enum power_fault fault) {
	return faults[fault];
}

void power_note(struct power *p, enum power_fault fault) {
	p->counts[fault]++;
}

bool power_is_busy_hour(const struct power_config *config, unsigned hour) {
	const struct hours *h = &config->busy_hours;

	if (!config->has_busy_hours)
		return false;
	return h->from < h->to ? hour >= h->from && hour < h->to
			       : hour >= h->from || hour < h->to;
}

static unsigned hour_now(void) {
	time_t now = time(NULL);
	struct tm local;

	return localtime_r(&now, &local) != NULL ? (unsigned)local.tm_hour : 0;
}

static enum power_policy policy_now(const struct power *p) {
	unsigned hour = p->place.hour != NULL ? p->place.hour() : hour_now();

	return power_is_busy_hour(&p->config, hour) ? POWER_PERFORMANCE : p->config.policy;
}

static const struct governor_policy *policy_row(enum power_policy policy) {
	switch (policy) {
	case POWER_BALANCED: return &governor_balanced;
	case POWER_SAVING: return &governor_saving;
	case POWER_PERFORMANCE:
	case POWER_NONE: break;
	}
	return &governor_performance;
}

struct power *power_create(struct server *server, const struct power_place *place) {
	struct power *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		log_error("memory", LOG_NO_FIELDS, "no memory for the governor of frequencies");
		return NULL;
	}
	p->server = server;
	p->place = *place;
	p->core_count = server->worker_count;
	p->transition_ns = POWER_TRANSITION_NS;
	p->config = power_config_default();
	pthread_mutex_init(&p->lock, NULL);
	if (place->files != NULL)
		p->files = *place->files;
	else
		cpu_files_open(&p->files, place->root != NULL ? place->root : CPU_FILES_ROOT);
	return p;
}

const struct power_config *power_config_of(const struct power *p) {
	return &p->config;
}

/* What a domain can have: as much as the best of its cores, and as little as all of them. */
static void set_ranges(struct power *p) {
	for (unsigned w = 0; w < p->core_count; w++) {
		struct governor_range *r = &p->governor.domains[p->domain_of[w]].range;
		const struct cpufreq *c = &p->cores[w].c;
		uint64_t transition = c->transition_us * UINT64_C(1000);

		if (!p->cores[w].governed)
			continue;
		if (transition == 0 || transition > POWER_TRANSITION_MOST_NS)
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
	p->in_force = policy_now(p);
	governor_start(g, policy_row(p->in_force), p->config.latency, p->domain_of, p->core_count,
		       domains);
	g->blind = p->blind;
	memset(p->applied_khz, 0, sizeof(p->applied_khz));
	p->low = false;
	p->checked = p->next_look = 0;
}

/* The rules of the wish itself. */
static void check_wish(struct power *p) {
	if (p->config.policy == POWER_NONE && p->config.has_busy_hours) {
		power_note(p, POWER_CONTRADICTION);
		log_warning("power", LOG_NO_FIELDS,
			    "power.busy_hours without a policy: frequencies are left alone at all hours");
	}
}

static void open_driver(struct power *p) {
	p->driver = p->config.driver == POWER_DRIVER_SIMULATED ? &power_simulated
							       : &power_by_cpufreq;
	if (p->driver->open(p) == 0) {
		start_governor(p);
		log_notice("power",
			   LOG_FIELDS(LOG_STRING("policy", power_policy_name(p->config.policy)),
				      LOG_STRING("driver", p->driver->name),
				      LOG_NUMBER("look_us", p->governor.look_ns / 1000)),
			   "policy %s by %s: %u cores in %u clock domains, a look each %u us",
			   power_policy_name(p->config.policy), p->driver->name, p->core_count,
			   p->governor.domain_count, (unsigned)(p->governor.look_ns / 1000));
		return;
	}
	p->driver = NULL;
	power_note(p, POWER_NO_DRIVER);
	log_warning("power", LOG_FIELDS(LOG_STRING("policy", power_policy_name(p->config.policy))),
		    "policy %s: nothing to change frequencies by: they are left alone",
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

static bool needs_new_start(const struct power *p, const struct power_config *next) {
	return p->driver == NULL || next->policy == POWER_NONE || p->config.driver != next->driver;
}

void power_set(struct power *p, const struct power_config *config) {
	bool again = needs_new_start(p, config);

	if (p->driver != NULL && config->policy == POWER_NONE)
		log_notice("power", LOG_FIELDS(LOG_STRING("policy", "none")),
			   "policy none: frequencies are left alone");
	if (again)
		power_stop(p);
	pthread_mutex_lock(&p->lock);
	p->config = *config;
	check_wish(p);
	if (config->policy != POWER_NONE && again) {
		open_driver(p);
	} else if (p->driver != NULL) {
		p->in_force = policy_now(p);
		governor_change(&p->governor, policy_row(p->in_force), config->latency);
		log_notice("power", LOG_FIELDS(LOG_STRING("policy", power_policy_name(config->policy))),
			   "policy %s, latency %u us", power_policy_name(config->policy),
			   (unsigned)(config->latency / 1000));
	}
	pthread_mutex_unlock(&p->lock);
	if (p->driver != NULL && !p->place.by_hand)
		power_thread_start(p);
}

void power_set_transition(struct power *p, uint64_t ns) {
	pthread_mutex_lock(&p->lock);
	p->transition_ns = ns < POWER_TRANSITION_MOST_NS ? ns : POWER_TRANSITION_MOST_NS;
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
	if (p->place.files == NULL)
		cpu_files_close(&p->files);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* The hour may have begun another policy; a line says so. */
static void check_hour(struct power *p) {
	enum power_policy policy = policy_now(p);

	if (policy == p->in_force)
		return;
	p->in_force = policy;
	governor_change(&p->governor, policy_row(policy), p->config.latency);
	log_notice("power", LOG_FIELDS(LOG_STRING("policy", power_policy_name(policy))),
		   "the hour has it: policy %s", power_policy_name(policy));
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

/* Cores first: those of a domain that changed. */
static void apply(struct power *p, uint64_t now) {
	const struct governor *g = &p->governor;
	bool low = p->in_force == POWER_SAVING;

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

uint64_t power_look(struct power *p, uint64_t now) {
	struct governor *g = &p->governor;
	uint64_t stopped = g->stopped, stuck = g->stuck, pending;

	if (p->next_look > 0 && now > p->next_look + POWER_LATE_NS)
		p->late_ns += now - p->next_look;
	if (now >= p->next_look || !g->began || now < g->now) {
		power_readings(p->server, p->readings);
		governor_step(g, now, p->readings);
		p->counts[POWER_CLOCK] += g->stopped - stopped;
		p->counts[POWER_WORKER] += g->stuck - stuck;
		apply(p, now);
		check(p, now);
		p->next_look = now + g->look_ns;
	}
	pending = p->driver->pending(p, now);
	return pending < p->next_look ? pending : p->next_look;
}
