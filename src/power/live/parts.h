/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared definitions of the files of this folder. */
#pragma once

#include <pthread.h>

#include "power/governor.h"
#include "power/initial_settings.h"
#include "power/leftovers.h"
#include "power/live/power.h"

#define POWER_SECOND UINT64_C(1000000000) /* ns */
#define POWER_LATE_NS 1000000u /* a sample that is later than this counts as late */
#define POWER_READ_NS 1000000u /* time after a write from which the limit read back is final */
#define POWER_TRANSITION_NS 50000u /* transition time of a driver that reports none */
#define POWER_TRANSITION_MAX_NS 10000000u
#define POWER_ATTEMPTS 3 /* attempts to restore the governor that another process changes */
#define POWER_UNCORE_MAX 64

/* The core of a worker. */
struct power_core {
	struct cpufreq c;
	bool governed;
	bool at_maximum; /* after a failure, until the next check */
	unsigned attempts;
	uint64_t request_ns; /* ns: time of the last request */
	/* for the simulated driver: */
	uint32_t pending_khz;
	uint64_t pending_at; /* ns; 0: no change pending */
};

/* An uncore limit. With policy `saving`, it is lowered to half of its range while all domains are
 * at their floor. */
struct power_uncore {
	char name[CPU_FILES_NAME];
	uint32_t full_khz, low_khz;
	bool refused; /* the value read back differed */
};

struct power;

/* A driver that changes frequencies. Cores are numbered like their workers. */
struct frequency_driver {
	const char *name;
	int (*open)(struct power *p); /* 0, or -1: no core is governed */
	void (*set)(struct power *p, unsigned core, uint32_t khz, uint64_t now);
	void (*check)(struct power *p, unsigned core); /* once per second */
	/* runs due steps; returns the next due time */
	uint64_t (*pending)(struct power *p, uint64_t now);
	void (*low)(struct power *p, bool low); /* lowers the uncore limits, or restores them */
	void (*close)(struct power *p);
};
extern const struct frequency_driver power_by_cpufreq, power_simulated;

struct power {
	struct server *server;
	struct power_setup setup;
	struct power_config config;
	const struct frequency_driver *driver; /* NULL: off */
	unsigned core_count;
	struct power_core cores[PLATFORM_MAX_WORKERS];
	unsigned domain_of[PLATFORM_MAX_WORKERS];
	uint32_t applied_khz[GOVERNOR_MAX]; /* by domain */
	bool low;
	struct governor governor;
	enum power_policy effective_policy;
	struct governor_reading readings[GOVERNOR_MAX];
	uint64_t checked; /* ns: the last check */
	uint64_t next_sample; /* ns */
	uint64_t late_ns; /* sum of the delays of late samples */
	uint64_t transition_ns; /* duration of a simulated change */
	bool blind;
	uint64_t counts[POWER_FAULTS];
	/* for the cpufreq driver: */
	struct cpu_files files;
	struct initial_settings initial;
	char state[LEFTOVERS_PATH]; /* path of the state file; "": nothing is saved */
	unsigned uncore_count;
	struct power_uncore uncore[POWER_UNCORE_MAX];
	/* the thread */
	pthread_mutex_t lock; /* protects all members above while it runs */
	pthread_t thread;
	bool runs;
	bool stop;
};

/* Counts a fault. */
void power_count_fault(struct power *p, enum power_fault fault);

/* Reads the workers' counters. */
void power_readings(struct server *s, struct governor_reading *readings);

/* The policy at this hour, and its parameters. */
enum power_policy power_policy_now(const struct power *p);
const struct governor_policy *power_policy_params(enum power_policy policy);

/* Whether the hour is within the busy hours of the policy. */
bool power_is_busy_hour(const struct power_config *config, unsigned hour);
