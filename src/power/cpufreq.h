/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets the frequency of a core by Linux's cpufreq. docs/power.md lists what each driver needs; in short:
 *
 *     scaling_setspeed        with the governor `userspace`: acpi-cpufreq, intel_cpufreq, cppc_cpufreq,
 *                             amd-pstate
 *     scaling_max_freq, _min  without it: intel_pstate and amd-pstate-epp in active mode, and other
 *                             drivers where the governor is not loaded or the permission is missing
 *
 * Values are read back after each write, as drivers round, clamp and refuse. Differences are counted, and
 * logged once per core and reason. The governor's thread makes the system calls, never a worker.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "power/cpu_files.h"

#define CPUFREQ_WORD 32 /* bytes of the name of a driver or governor */
#define CPUFREQ_STATES 64 /* entries of a frequency table, at most */

/* Why a core does not have the requested frequency. */
enum cpufreq_reason {
	CPUFREQ_DENIED, /* no permission */
	CPUFREQ_VANISHED, /* the file is missing, as the core is offline */
	CPUFREQ_REFUSED, /* the driver refused the value */
	CPUFREQ_ROUNDED, /* the value read back differs, within the limits */
	CPUFREQ_CLAMPED, /* the value read back is a limit, or another process set a limit */
	CPUFREQ_GOVERNOR_CHANGED, /* another process changed the governor */
	CPUFREQ_REASONS,
};
const char *cpufreq_reason_name(enum cpufreq_reason reason);

enum cpufreq_mode { CPUFREQ_SETSPEED, CPUFREQ_LIMITS };
const char *cpufreq_mode_name(enum cpufreq_mode mode);

struct cpufreq {
	unsigned core;
	char driver[CPUFREQ_WORD];
	char initial_governor[CPUFREQ_WORD]; /* its governor before any change */
	char governor[CPUFREQ_WORD]; /* the governor that this process set */
	/* the driver controls the frequency within the limits, and has only two governors */
	bool active;
	bool has_userspace, has_performance;
	bool keeps_min; /* scaling_min_freq is not writable: only the upper limit is set */
	enum cpufreq_mode mode;
	/* Allowed range: the initial limits, within those of the hardware. */
	uint32_t min_khz, max_khz;
	uint32_t base_khz; /* 0: unknown */
	/* frequency table within the range, ascending; empty: any frequency */
	uint32_t states[CPUFREQ_STATES];
	unsigned state_count;
	uint32_t transition_us; /* duration of a change; 0: unknown */
	/* The last request, and the last value read back. Other threads may read them (relaxed). */
	uint32_t requested_khz, khz;
	bool unread; /* the last request was not read back yet */
	uint64_t counts[CPUFREQ_REASONS];
	unsigned logged; /* reasons that were logged, one bit each */
};

/* Reads the core's properties; writes nothing. Returns 0, or a negative errno if the core cannot be governed. */
int cpufreq_find(const struct cpu_files *f, unsigned core, struct cpufreq *c);

/* SST-BF: if base frequencies differ between cores, caps each core at its own. Returns whether they differ. */
bool cpufreq_honour_base(struct cpufreq *cores, unsigned count);

/*
 * Sets the governor that the core needs, or falls back to limits. The caller has saved the initial values
 * (power/initial_settings.h). Returns 0, or a negative errno after a message if nothing can be written.
 */
int cpufreq_acquire(const struct cpu_files *f, struct cpufreq *c);

/*
 * Requests a frequency within the range. The kernel applies a limit asynchronously and reports the
 * former limit for a while, so the request stays `unread` and the result is true. The value of
 * scaling_setspeed is read back at once.
 */
bool cpufreq_request(const struct cpu_files *f, struct cpufreq *c, uint32_t khz);

/* Reads back an unread request. If the value differs, the request stays unread, unless `last` is
 * set. Returns false if the core finally has a lower frequency. */
bool cpufreq_verify(const struct cpu_files *f, struct cpufreq *c, bool last);

/* Requests and reads back; blocks for about 1 ms at most. Returns whether the core has the frequency or a
 * higher one. */
bool cpufreq_set(const struct cpu_files *f, struct cpufreq *c, uint32_t khz);

/* Whether the core still has the governor that this process set. If not, counts the reason: another
 * process changed it, or the core is offline. */
bool cpufreq_governor_is_kept(const struct cpu_files *f, struct cpufreq *c);

/* Counts a reason and logs it the first time. `what`: the attempted operation. */
void cpufreq_count_reason(struct cpufreq *c, enum cpufreq_reason reason, const char *what);

/* The current frequency in kHz, as the system reports it; otherwise the last value read back. */
uint32_t cpufreq_now(const struct cpu_files *f, const struct cpufreq *c);
