/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/host.h"

#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#define ADDITIONS 1000000u /* per run; a multiple of 8 */
#define RUNS 16
#define READINGS 1024 /* of the TSC, per run */

#if defined(__aarch64__)
#define ADD "add %0, %0, %1\n\t"
#else
#define ADD "add %1, %0\n\t"
#endif

/* Returns TSC cycles of ADDITIONS dependent additions, which take one core cycle each. The addend is
 * a register, as some cores add small constants at register renaming, several per cycle. */
static uint64_t additions_cycles(void) {
	uint64_t start = rte_rdtsc_precise(), sum = start, addend = start | 1;

	for (uint32_t i = 0; i < ADDITIONS / 8; i++) {
		__asm__ volatile(ADD ADD ADD ADD ADD ADD ADD ADD : "+r"(sum) : "r"(addend));
	}
	return rte_rdtsc_precise() - start;
}

/* Returns TSC cycles per read of the TSC. */
static uint64_t cycles_per_reading(void) {
	uint64_t start = rte_rdtsc_precise();

	for (int i = 0; i < READINGS; i++)
		(void)rte_rdtsc();
	return (rte_rdtsc_precise() - start) / READINGS;
}

/* "unknown" if the kernel gives no model name, as on Arm. */
static void cpu_name(char *out, size_t size) {
	char line[256];
	FILE *f = fopen("/proc/cpuinfo", "r");

	snprintf(out, size, "unknown");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) == 0 && colon != NULL && colon[1] == ' ') {
			snprintf(out, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
			break;
		}
	}
	if (f != NULL)
		fclose(f);
}

void host_measure(struct host *h) {
	uint64_t best = UINT64_MAX, reading = UINT64_MAX;

	/* The fastest run was not interrupted. */
	for (int i = 0; i < RUNS; i++) {
		best = RTE_MIN(best, additions_cycles());
		reading = RTE_MIN(reading, cycles_per_reading());
	}
	cpu_name(h->cpu, sizeof(h->cpu));
	h->tsc_hz = rte_get_tsc_hz();
	h->core_hz = (uint64_t)((unsigned __int128)ADDITIONS * h->tsc_hz / best);
	h->tsc_read_cycles = reading;
}
