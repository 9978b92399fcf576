/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores of the machine, and those that this process may use. */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define CPUS_TEXT 4096 /* bytes of any set as text */

struct cpus {
	cpu_set_t present;
	cpu_set_t online;
	cpu_set_t usable; /* online and allowed */
};

/*
 * Reads the machine's cores. Allowed cores are those of the process's affinity, which a cpuset limits.
 * Isolated cores (isolcpus) are not in the affinity by default: they are allowed if the cpuset has them. The
 * affinity of the calling thread is restored.
 */
void cpus_read(struct cpus *cpus);

/* Adds to `allowed` the cores of `isolated` that the calling thread may request. */
void cpus_allow_isolated(const cpu_set_t *isolated, cpu_set_t *allowed);

enum cpu_fault {
	CPU_IS_MISSING,
	CPU_IS_OFFLINE,
	CPU_IS_NOT_ALLOWED,
	CPU_FAULTS,
	CPU_IS_USABLE = CPU_FAULTS,
};

/* Whether a worker may poll on the core. */
enum cpu_fault cpus_fault(const struct cpus *cpus, unsigned core);

/* Text after the list of allowed cores in a message, which describes them. */
const char *cpus_fault_text(enum cpu_fault fault);

/* Parses the kernel's format, such as "0-3,8"; "" is the empty set. Returns false for other text; `set` is
 * then undefined. */
bool cpus_parse(const char *text, cpu_set_t *set);

/* Formats a set, cut to `size` bytes; "none" if empty. */
void cpus_format(const cpu_set_t *set, char *text, size_t size);
