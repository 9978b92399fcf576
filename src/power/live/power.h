/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frequency governor of a server's workers. Its thread samples the workers every 0.1 to 1 ms and sets the
 * frequencies of their cores. Without a policy there is no thread, and nothing is read or written, except
 * that power_create() restores the settings that killed processes left. The driver cpufreq restores them again when it opens. The
 * control thread calls all functions, unless stated otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/server_config.h"
#include "power/cpufreq.h"
#include "server/server.h"

struct power;

/* Faults of the machine or configuration as a whole; faults of a core are in cpufreq.h. */
enum power_fault {
	POWER_NO_DRIVER, /* no driver can change frequencies here */
	POWER_NOT_SAVED, /* the initial settings could not be saved: nothing was changed */
	/* busy hours without a policy; a clock domain with cores that have no worker */
	POWER_CONTRADICTION,
	POWER_CLOCK, /* the monotonic clock did not advance between two samples */
	POWER_WORKER, /* a worker's counters did not change for 100 ms */
	POWER_FAULTS,
};
const char *power_fault_name(enum power_fault fault);

struct power_setup {
	/* of state files; NULL: the driver cpufreq is refused (POWER_NOT_SAVED) */
	const char *folder;
	const char *root; /* NULL: CPU_FILES_ROOT */
	/* for tests: */
	const struct cpu_files *files; /* instead of those of `root`; copied */
	bool by_hand; /* no thread: the test calls power_step() */
	unsigned (*hour)(void); /* of the day; NULL: local time */
};

/* Restores the settings of killed processes by their state files, but does not govern yet. Copies `setup`;
 * `server`, `folder` and the context of `files` must outlive the governor. Returns NULL without memory, after a
 * message. Free with power_free(). */
struct power *power_create(struct server *server, const struct power_setup *setup);

/* Applies a copy of the configuration. May be called repeatedly, also while the governor runs and after
 * power_stop(). Failures are logged and counted; traffic continues. */
void power_set(struct power *p, const struct power_config *config);
/* The configuration of the last power_set(); before it, the defaults. */
const struct power_config *power_config_of(const struct power *p);

/* Settings for benchmarks: the duration of a change by the simulated driver, at most 10 ms, which
 * restarts its governor; and whether the governor ignores growing queues. */
void power_set_transition(struct power *p, uint64_t ns);
void power_set_blind(struct power *p, bool blind);

/* One step of the thread, or of a test with `by_hand`, at the time `now` (ns, monotonic). A policy must be set
 * and its driver open. Returns the time of the next step. */
uint64_t power_step(struct power *p, uint64_t now);

/* Ends the thread and restores the initial settings, like the policy `none`. Then transitions and jumps
 * read 0. Fault counts of cores stay until the next driver opens; those of enum power_fault never reset. */
void power_stop(struct power *p);

/* Stops and frees the governor. `p` may be NULL. */
void power_free(struct power *p);

/* State of a worker's core. Any thread may read it by power_get_report(). */
struct power_core_report {
	unsigned core;
	uint32_t khz, requested_khz, min_khz, max_khz; /* all 0: not governed */
	unsigned load; /* percent */
	unsigned domain; /* number of its clock domain; its cores have one frequency */
	/* of the domain: all changes of its frequency; those that raised it to max_khz for a sudden load */
	uint64_t transitions, jumps;
	uint64_t counts[CPUFREQ_REASONS];
};
struct power_report {
	/* the effective policy: POWER_PERFORMANCE within busy hours; without a driver, the configured policy */
	enum power_policy policy;
	const char *driver; /* "none", "cpufreq" or "simulated" */
	uint64_t sample_ns; /* sampling interval */
	uint64_t transition_ns; /* of the simulated driver, set by power_set_transition() */
	uint64_t late_ns; /* sum of the delays of samples that were late by more than 1 ms */
	bool blind;
	uint64_t counts[POWER_FAULTS];
	unsigned core_count; /* equals the number of workers */
	struct power_core_report cores[PLATFORM_MAX_WORKERS];
};
void power_get_report(struct power *p, struct power_report *report);
