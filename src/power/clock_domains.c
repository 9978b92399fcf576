/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/clock_domains.h"

#include <stdio.h>

#include "platform/cpus.h"

/* Adds a list as the kernel writes it: "0-3,8", or numbers separated by spaces. */
static void add_list(const struct cpu_files *f, unsigned core, const char *key, cpu_set_t *cpus) {
	char name[CPU_FILES_NAME], text[CPU_FILES_TEXT];
	cpu_set_t set;

	snprintf(name, sizeof(name), "cpu%u/%s", core, key);
	if (f->read(f->ctx, name, text, sizeof(text)) != 0)
		return;
	for (char *c = text; *c != '\0'; c++)
		*c = *c == ' ' ? ',' : *c;
	if (cpus_parse(text, &set))
		CPU_OR(cpus, cpus, &set);
}

void clock_domain_bound(const struct cpu_files *f, unsigned core, cpu_set_t *cpus) {
	CPU_ZERO(cpus);
	if (core >= CPU_SETSIZE)
		return;
	CPU_SET(core, cpus);
	add_list(f, core, "cpufreq/related_cpus", cpus);
	add_list(f, core, "cpufreq/freqdomain_cpus", cpus);
}

void clock_domain_cpus(const struct cpu_files *f, unsigned core, cpu_set_t *cpus) {
	clock_domain_bound(f, core, cpus);
	add_list(f, core, "topology/thread_siblings_list", cpus);
}

/* Merges the domain `from` into `into`. */
static void join(unsigned *domain_of, unsigned count, unsigned from, unsigned into) {
	for (unsigned i = 0; i < count; i++) {
		if (domain_of[i] == from)
			domain_of[i] = into;
	}
}

/* Numbers the domains from 0. Initially, each core has the index of its domain's first core, plus
 * `count`. */
static unsigned number(unsigned *domain_of, unsigned count) {
	unsigned domains = 0;

	for (unsigned i = 0; i < count; i++) {
		if (domain_of[i] < domains)
			continue; /* same domain as an earlier core: already numbered */
		join(domain_of, count, domain_of[i], domains);
		domains++;
	}
	return domains;
}

unsigned clock_domains(const struct cpu_files *f, const unsigned *cores, unsigned count,
		       unsigned *domain_of) {
	/* Initial values exceed all final numbers, so that number() can distinguish them. */
	for (unsigned i = 0; i < count; i++)
		domain_of[i] = count + i;
	for (unsigned i = 0; i < count; i++) {
		cpu_set_t cpus;

		clock_domain_cpus(f, cores[i], &cpus);
		for (unsigned j = 0; j < count; j++) {
			if (domain_of[j] != domain_of[i] && cores[j] < CPU_SETSIZE &&
			    CPU_ISSET(cores[j], &cpus))
				join(domain_of, count, domain_of[j], domain_of[i]);
		}
	}
	return number(domain_of, count);
}
