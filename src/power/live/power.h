/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The governor over the workers of a server: a thread of its own looks at what they did, once in a tenth of a
 * millisecond to one, and sets the frequencies of their cores. Without a policy there is no thread, and nothing is read
 * or written. By the control thread, but where it says otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/server_config.h"
#include "power/cpufreq.h"
#include "server/server.h"

struct power;

/* What is wrong with the machine or the wish as a whole; what is with a core is in cpufreq.h. */
enum power_fault {
	POWER_NO_DRIVER, /* there is nothing to change frequencies by */
	POWER_NOT_KEPT, /* what was found could not be kept in a file: nothing was changed */
	POWER_CONTRADICTION, /* busy hours without a policy; a clock with cores of others */
	POWER_CLOCK, /* did not move */
	POWER_WORKER, /* did not say for long what it does */
	POWER_FAULTS,
};
const char *power_fault_name(enum power_fault fault);

struct power_place {
	const char *folder; /* for what was found; NULL: there is none, and cpufreq is left alone */
	const char *root; /* NULL: CPU_FILES_ROOT */
	/* For tests: other files than those of `root`, no thread, and the hour of the day. */
	const struct cpu_files *files;
	bool by_hand;
	unsigned (*hour)(void);
};

/* Nothing is changed yet. `server` and what `place` points to live on. NULL after a message where memory is short. To be
 * freed by power_free(). */
struct power *power_create(struct server *server, const struct power_place *place);

/*
 * Restores what processes that ended left behind, if there is a policy, and does what the configuration says from now on:
 * also while it runs, and again and again. What cannot be is said and counted, and traffic goes on.
 */
void power_set(struct power *p, const struct power_config *config);
const struct power_config *power_config_of(const struct power *p);

/* Further settings of running governors, for benchmarks: how long a simulated change takes, and whether growing queues
 * count. */
void power_set_transition(struct power *p, uint64_t ns);
void power_set_blind(struct power *p, bool blind);

/* One look at the time `now` (ns): what the thread does. Returns the time of the next one. */
uint64_t power_look(struct power *p, uint64_t now);

/* Ends the thread and restores what was found, as a policy of none does; what was counted stays. */
void power_stop(struct power *p);

/* The same, and frees it. NULL is harmless. */
void power_free(struct power *p);

/* Of a worker's core. By any thread. */
struct power_core_report {
	unsigned core;
	uint32_t khz, wished_khz, min_khz, max_khz; /* 0: not governed */
	unsigned load; /* percent */
	unsigned domain;
	uint64_t transitions, jumps;
	uint64_t counts[CPUFREQ_REASONS];
};
struct power_report {
	enum power_policy policy; /* in force: that of busy hours in these */
	const char *driver; /* "none", "cpufreq" or "simulated" */
	uint64_t look_ns, transition_ns;
	uint64_t late_ns; /* by which looks came late, of those that the system kept from a core */
	bool blind;
	uint64_t counts[POWER_FAULTS];
	unsigned core_count; /* as many as workers */
	struct power_core_report cores[PLATFORM_MAX_WORKERS];
};
void power_tell(struct power *p, struct power_report *report);
