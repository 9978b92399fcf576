/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clock domains: hyper-thread siblings, and cores that the driver or the hardware changes together
 * (cpufreq/related_cpus, freqdomain_cpus). All cores of a domain get its highest requested frequency.
 */
#pragma once

#include <sched.h>

#include "power/cpu_files.h"

/* The CPUs that share a clock with `core`, including `core` itself. Files that cannot be read add
 * none. */
void clock_domain_cpus(const struct cpu_files *f, unsigned core, cpu_set_t *cpus);

/* Those of these CPUs whose frequency is written together with that of the core. Hyper-thread
 * siblings are excluded, as each has its own request. */
void clock_domain_bound(const struct cpu_files *f, unsigned core, cpu_set_t *cpus);

/* Numbers the domains of `count` cores from 0, in order of appearance. Returns the number of domains. */
unsigned clock_domains(const struct cpu_files *f, const unsigned *cores, unsigned count,
		       unsigned *domain_of);
