/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which cores have one clock: hyper-thread siblings, and those that the driver or the hardware changes together
 * (cpufreq/related_cpus, freqdomain_cpus). The highest wish of a domain is what all of it gets.
 */
#pragma once

#include <sched.h>

#include "power/cpu_files.h"

/* The CPUs of one clock with `core`, itself included; what is not told or is nonsense adds none. */
void clock_domain_cpus(const struct cpu_files *f, unsigned core, cpu_set_t *cpus);

/* Of those the ones whose frequency is written with the core's, whether wanted or not: siblings may wish for more. */
void clock_domain_bound(const struct cpu_files *f, unsigned core, cpu_set_t *cpus);

/* Numbers the domains of `count` cores, from 0 in the order in which they come. Returns how many there are. */
unsigned clock_domains(const struct cpu_files *f, const unsigned *cores, unsigned count,
		       unsigned *domain_of);
