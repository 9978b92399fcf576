/* SPDX-License-Identifier: BSD-3-Clause */
/* Which cores there are, and which of them this process may use. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define CPUS_TEXT 4096 /* bytes of any set as text */

struct cpus {
	cpu_set_t present;
	cpu_set_t online;
	cpu_set_t usable; /* online, and allowed */
};

/*
 * The machine's, as far as the system tells. Allowed are those of the process's affinity, which a cpuset limits.
 * Isolated cores (isolcpus) are in nobody's affinity unless asked for: they are allowed where the cpuset has
 * them. The affinity of the calling thread is what it was afterwards.
 */
void cpus_here(struct cpus *cpus);

/* Adds to `allowed` those of `isolated` that the calling thread may ask for. */
void cpus_allow_isolated(const cpu_set_t *isolated, cpu_set_t *allowed);

enum cpu_fault {
	CPU_IS_MISSING,
	CPU_IS_OFFLINE,
	CPU_IS_NOT_ALLOWED,
	CPU_FAULTS,
	CPU_IS_USABLE = CPU_FAULTS,
};

/* Whether the core may be polled on. */
enum cpu_fault cpus_fault(const struct cpus *cpus, unsigned core);

/* For people, behind the list of those that are allowed: which these are. */
const char *cpus_fault_text(enum cpu_fault fault);

/* From "0-3,8" as the system writes it; "" is none. False, with anything in `set`, where it is something
 * else. */
bool cpus_parse(const char *text, cpu_set_t *set);

/* The same back, cut where `size` bytes are too few; "none" of none. */
void cpus_format(const cpu_set_t *set, char *text, size_t size);
