/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frequency of a core by Linux's cpufreq. What each driver needs is in docs/power.md; in short:
 *
 *     scaling_setspeed        where there is a governor `userspace`: acpi-cpufreq, intel_cpufreq, cppc_cpufreq, amd-pstate
 *     scaling_max_freq, _min  where there is none: intel_pstate and amd-pstate-epp in active mode, and the others where
 *                             nobody loaded that governor or the permission for it is missing
 *
 * What was written is read back, as drivers round, clamp and refuse. What differs is counted and, once a core and reason,
 * logged. Files are small, and system calls few: by the governor's thread, never by a worker.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "power/cpu_files.h"

#define CPUFREQ_WORD 32 /* bytes of the name of a driver or governor */
#define CPUFREQ_STATES 64 /* frequencies of a table, at most */

/* Why something is not as it was wanted. */
enum cpufreq_reason {
	CPUFREQ_DENIED, /* no permission */
	CPUFREQ_VANISHED, /* the file is gone: the core is offline */
	CPUFREQ_REFUSED, /* by the driver */
	CPUFREQ_ROUNDED, /* what was read back is another frequency, between the ends */
	CPUFREQ_CLAMPED, /* .. at one of them, or somebody else set a limit */
	CPUFREQ_TAKEN, /* somebody else changed the governor */
	CPUFREQ_REASONS,
};
const char *cpufreq_reason_name(enum cpufreq_reason reason);

enum cpufreq_way { CPUFREQ_SETSPEED, CPUFREQ_LIMITS };
const char *cpufreq_way_name(enum cpufreq_way way);

struct cpufreq {
	unsigned core;
	char driver[CPUFREQ_WORD];
	char found[CPUFREQ_WORD]; /* its governor, when it was found */
	char governor[CPUFREQ_WORD]; /* that it is to have */
	bool active; /* the driver chooses by itself within the limits: it has no governors but two */
	bool has_userspace, has_performance;
	bool keeps_min; /* scaling_min_freq may not be written: limits are upper ones only */
	enum cpufreq_way way;
	/* What may be asked for: the limits that were found, within those of the hardware. */
	uint32_t min_khz, max_khz;
	uint32_t base_khz; /* 0: not told */
	uint32_t
		states[CPUFREQ_STATES]; /* the table within these, ascending; none: any frequency */
	unsigned state_count;
	uint32_t transition_us; /* that a change takes; 0: not told */
	/* What was asked for last, and read back. Others may read these (relaxed). */
	uint32_t wished_khz, khz;
	bool unread; /* what came of the wish is not known yet */
	uint64_t counts[CPUFREQ_REASONS];
	unsigned told; /* reasons that were logged, a bit each */
};

/* What there is; nothing is written. Returns 0, or a negative errno where this core cannot be governed. */
int cpufreq_find(const struct cpu_files *f, unsigned core, struct cpufreq *c);

/* SST-BF: where the base frequencies of cores differ, none is asked for more than its own. Returns whether they do. */
bool cpufreq_honour_base(struct cpufreq *cores, unsigned count);

/*
 * Gives the core the governor that it needs, or chooses the way that goes without. What was found must have been kept
 * before (power/found.h). Returns 0, or a negative errno after a line where nothing can be written.
 */
int cpufreq_take(const struct cpu_files *f, struct cpufreq *c);

/*
 * Asks for a frequency, within the limits. A limit is taken over by a thread of the kernel: for some time the former one
 * is read. So it is left `unread`, and true is returned; a speed is read back at once.
 */
bool cpufreq_ask(const struct cpu_files *f, struct cpufreq *c, uint32_t khz);

/* Reads back what is unread. As long as it is not what was asked for it stays so, unless this is the `last` time. Returns
 * false where the core has less in the end. */
bool cpufreq_came(const struct cpu_files *f, struct cpufreq *c, bool last);

/* Both: it waits for a millisecond at most. Returns whether the core has it, or a higher one. */
bool cpufreq_set(const struct cpu_files *f, struct cpufreq *c, uint32_t khz);

/* Whether the governor is still the one that it is to have. False is counted, or that the core is gone. */
bool cpufreq_is_ours(const struct cpu_files *f, struct cpufreq *c);

/* Counts a reason, and logs it the first time: `what` was to be done. */
void cpufreq_note(struct cpufreq *c, enum cpufreq_reason reason, const char *what);

/* How fast it runs now, as the system tells, else what was read back last. kHz. */
uint32_t cpufreq_now(const struct cpu_files *f, const struct cpufreq *c);
