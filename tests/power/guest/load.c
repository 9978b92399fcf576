/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the governor with a simulated load and clock on the real driver. The frequency that the driver sets decides
 * how busy the simulated worker is at the next sample.
 */
#include "guest.h"

#include "power/clock_domains.h"
#include "power/cpu_files.h"
#include "power/cpufreq.h"
#include "power/governor.h"

#define MS UINT64_C(1000000) /* ns */
#define FASTEST 1800000u     /* kHz; loads are percentages of it */
#define LATENCY (1 * MS)     /* long enough for the slowest state */

static struct cpu_files files;
static struct cpufreq cores[GUEST_CPUS];
static struct governor governor;
static struct governor_reading readings[GUEST_CPUS];
static uint64_t now;

/* Simulates a worker for one sample: its packets need `percent` of the fastest frequency. The excess stays queued. */
static void work(uint32_t cpu, uint32_t percent) {
	struct governor_reading *r = &readings[cpu];
	uint64_t capacity = governor.sample_ns * cores[cpu].khz / FASTEST,
		 demand = governor.sample_ns * percent / 100;
	uint64_t busy = demand < capacity ? demand : capacity;

	r->busy += busy * FASTEST / cores[cpu].khz;
	r->idle += governor.sample_ns - busy * FASTEST / cores[cpu].khz;
	r->rounds += 100;
	r->busy_rounds += 100;
	r->full_polls += demand > capacity ? 50 : 0;
}

/* Runs the governor for `ms` at these loads. Returns after how many samples CPU 0 had its final frequency, 0: at once. */
static uint32_t run(uint64_t ms, uint32_t percent0, uint32_t percent1) {
	uint32_t samples = 0, reached = 0;

	for (uint64_t end = now + ms * MS; now < end; samples++) {
		uint32_t before = cores[0].khz;

		work(0, percent0);
		work(1, percent1);
		now += governor.sample_ns;
		governor_step(&governor, now, readings);
		for (uint32_t cpu = 0; cpu < GUEST_CPUS; cpu++) {
			uint32_t khz = governor.domains[cpu].khz;

			if (khz != cores[cpu].khz)
				guest_check(cpufreq_set(&files, &cores[cpu], khz),
					    "CPU %u to %u kHz", cpu, khz);
		}
		if (cores[0].khz != before)
			reached = samples + 1;
	}
	return reached;
}

static void start(const struct governor_policy *policy) {
	static const unsigned cpus[GUEST_CPUS] = {0, 1};
	unsigned domain_of[GUEST_CPUS];

	guest_check(cpu_files_open(&files, CPU_FILES_ROOT) == 0, "files are opened");
	guest_check(clock_domains(&files, cpus, GUEST_CPUS, domain_of) == GUEST_CPUS,
		    "each CPU has its own clock domain");
	for (uint32_t cpu = 0; cpu < GUEST_CPUS; cpu++) {
		guest_check(cpufreq_find(&files, cpu, &cores[cpu]) == 0, "CPU %u is found", cpu);
		guest_check(cpufreq_acquire(&files, &cores[cpu]) == 0, "CPU %u is acquired", cpu);
		governor.domains[cpu].range = (struct governor_range){
			.min_khz = cores[cpu].min_khz,
			.max_khz = cores[cpu].max_khz,
			.states = cores[cpu].states,
			.state_count = cores[cpu].state_count,
			.transition_ns = UINT64_C(1000) * cores[cpu].transition_us};
	}
	guest_check(cores[0].transition_us == 10, "a transition takes 10 us (%u)",
		    cores[0].transition_us);
	governor_start(&governor, policy, LATENCY, domain_of, GUEST_CPUS, GUEST_CPUS);
	governor_step(&governor, now, readings);
}

void guest_saving(void) {
	uint32_t samples;

	start(&governor_saving);
	run(100, 70, 0); /* 1.8 GHz x 70 % / 80 % */
	run(100, 10, 30);
	samples = run(100, 95, 0);
	guest_check(samples > 0 && samples <= GOVERNOR_SAMPLES,
		    "the governor follows the load after %u samples", samples);
	run(100, 10, 100);
	guest_check(governor.domains[0].transitions == 4, "four transitions (%u)",
		    (uint32_t)governor.domains[0].transitions);
	guest_check(cores[0].counts[CPUFREQ_ROUNDED] + cores[0].counts[CPUFREQ_CLAMPED] == 0,
		    "all requests were states of the driver");
	cpu_files_close(&files);
}

void guest_performance(void) {
	start(&governor_performance);
	run(100, 10, 0);
	run(100, 95, 100);
	cpu_files_close(&files);
}
