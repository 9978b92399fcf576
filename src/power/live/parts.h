/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this room have in common. */
#pragma once

#include <pthread.h>

#include "power/found.h"
#include "power/governor.h"
#include "power/leftovers.h"
#include "power/live/power.h"

#define POWER_SECOND UINT64_C(1000000000) /* ns */
#define POWER_LATE_NS 1000000u /* a look that is so late was kept from its core */
#define POWER_READ_NS 1000000u /* from when on what is read back of a limit is what came of it */
#define POWER_TRANSITION_NS 50000u /* where it is not told */
#define POWER_TRANSITION_MOST_NS 10000000u
#define POWER_RETAKES 3 /* times that a governor is changed back that others change */
#define POWER_UNCORE_MOST 64

/* The core of a worker. */
struct power_core {
	struct cpufreq c;
	bool governed;
	bool at_maximum; /* something went wrong: it has the maximum until the next check */
	unsigned retakes;
	uint64_t asked; /* ns: the look at which it was asked for a frequency */
	/* simulated: */
	uint32_t coming_khz;
	uint64_t comes_at; /* ns; 0: nothing comes */
};

/* A limit of the uncore, which goes down to the middle while all cores are at their slowest. */
struct power_uncore {
	char name[CPU_FILES_NAME];
	uint32_t full_khz, low_khz;
	bool refused; /* it was not what had been written */
};

struct power;

/* By what frequencies are changed. Cores are those of workers, by their numbers. */
struct frequency_driver {
	const char *name;
	int (*open)(struct power *p); /* 0, or -1: nothing is governed */
	void (*set)(struct power *p, unsigned core, uint32_t khz, uint64_t now);
	void (*check)(struct power *p, unsigned core); /* once a second */
	uint64_t (*pending)(struct power *p, uint64_t now); /* does what is due; when more is */
	void (*low)(struct power *p, bool low); /* all are at their slowest, or no more */
	void (*close)(struct power *p);
};
extern const struct frequency_driver power_by_cpufreq, power_simulated;

struct power {
	struct server *server;
	struct power_place place;
	struct power_config config;
	const struct frequency_driver *driver; /* NULL: it is off */
	unsigned core_count;
	struct power_core cores[PLATFORM_MAX_WORKERS];
	unsigned domain_of[PLATFORM_MAX_WORKERS];
	uint32_t applied_khz[GOVERNOR_MOST]; /* of domains */
	bool low;
	struct governor governor;
	enum power_policy in_force;
	struct governor_reading readings[GOVERNOR_MOST];
	uint64_t checked; /* ns: the last check */
	uint64_t next_look; /* ns */
	uint64_t late_ns; /* by which looks came too late, all together */
	uint64_t transition_ns; /* of simulated changes */
	bool blind;
	uint64_t counts[POWER_FAULTS];
	/* cpufreq: */
	struct cpu_files files;
	struct found found;
	char state[LEFTOVERS_PATH]; /* "": nothing is kept */
	unsigned uncore_count;
	struct power_uncore uncore[POWER_UNCORE_MOST];
	/* the thread */
	pthread_mutex_t lock; /* of all above, while it runs */
	pthread_t thread;
	bool runs;
	bool stop;
};

/* Counts it. */
void power_note(struct power *p, enum power_fault fault);

/* What the workers counted so far. */
void power_readings(struct server *s, struct governor_reading *readings);

/* The policy that is in force at this hour, and its numbers. */
enum power_policy power_policy_now(const struct power *p);
const struct governor_policy *power_policy_row(enum power_policy policy);

/* Whether the policy has its busy hours at that hour. */
bool power_is_busy_hour(const struct power_config *config, unsigned hour);
