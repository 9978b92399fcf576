/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulates frequencies if no driver can change them. A worker wastes part of the time of busy
 * rounds, so that its queues are those of a slower core. A change takes effect after the transition
 * time.
 */
#include "power/live/parts.h"

/* The frequencies at which the reference was measured. */
static const uint32_t states[] = {800000, 1000000, 1200000, 1400000, 1600000, 1800000};
#define STATES (sizeof(states) / sizeof(states[0]))
#define SLOWDOWN_WHOLE 256u /* wastes as much time as the round took, which halves the speed */

static int simulated_open(struct power *p) {
	for (unsigned w = 0; w < p->core_count; w++) {
		struct cpufreq *c = &p->cores[w].c;

		p->cores[w] = (struct power_core){.governed = true};
		*c = (struct cpufreq){
			.core = p->server->layout.cores[w],
			.driver = "simulated",
			.min_khz = states[0],
			.max_khz = states[STATES - 1],
			.state_count = STATES,
			.transition_us = (uint32_t)(p->transition_ns / 1000),
		};
		c->khz = c->requested_khz = c->max_khz;
		for (unsigned i = 0; i < STATES; i++)
			c->states[i] = states[i];
		p->domain_of[w] = w;
	}
	return 0;
}

static void slow_down(struct power *p, unsigned w, uint32_t khz) {
	struct cpufreq *c = &p->cores[w].c;
	uint32_t slowdown = (uint32_t)((uint64_t)SLOWDOWN_WHOLE * (c->max_khz - khz) / khz);

	__atomic_store_n(&c->khz, khz, __ATOMIC_RELAXED);
	__atomic_store_n(&p->server->workers[w].slowdown, slowdown, __ATOMIC_RELAXED);
}

static void simulated_set(struct power *p, unsigned w, uint32_t khz, uint64_t now) {
	struct power_core *core = &p->cores[w];

	khz = khz < core->c.min_khz ? core->c.min_khz : khz;
	khz = khz > core->c.max_khz ? core->c.max_khz : khz;
	__atomic_store_n(&core->c.requested_khz, khz, __ATOMIC_RELAXED);
	core->pending_khz = khz;
	core->pending_at = now + p->transition_ns;
}

static void simulated_check(struct power *p, unsigned w) {
	(void)p;
	(void)w;
}

static uint64_t simulated_pending(struct power *p, uint64_t now) {
	uint64_t next = UINT64_MAX;

	for (unsigned w = 0; w < p->core_count; w++) {
		struct power_core *core = &p->cores[w];

		if (core->pending_at == 0)
			continue;
		if (core->pending_at <= now) {
			slow_down(p, w, core->pending_khz);
			core->pending_at = 0;
		} else if (core->pending_at < next) {
			next = core->pending_at;
		}
	}
	return next;
}

static void simulated_low(struct power *p, bool low) {
	(void)p;
	(void)low;
}

static void simulated_close(struct power *p) {
	for (unsigned w = 0; w < p->core_count; w++)
		slow_down(p, w, p->cores[w].c.max_khz);
}

const struct frequency_driver power_simulated = {
	.name = "simulated",
	.open = simulated_open,
	.set = simulated_set,
	.check = simulated_check,
	.pending = simulated_pending,
	.low = simulated_low,
	.close = simulated_close,
};
