/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/idle/idle.h"

#include <stddef.h>

#include "power/idle/cpu.h"
#include "power/idle/instructions.h"

#define NS_PER_S 1000000000u

bool idle_supported(enum idle_kind kind) {
	switch (kind) {
	case IDLE_TPAUSE_C01:
	case IDLE_TPAUSE_C02:
	case IDLE_UMWAIT: return cpu_has_waitpkg();
	case IDLE_MWAITX: return cpu_has_mwaitx();
	case IDLE_POLL:
	case IDLE_SPIN:
	case IDLE_SLEEP: return true;
	case IDLE_AUTO: break;
	}
	return false;
}

enum idle_kind idle_best(bool shared) {
	if (shared)
		return IDLE_SLEEP;
	if (idle_supported(IDLE_TPAUSE_C02))
		return IDLE_TPAUSE_C02;
	return idle_supported(IDLE_MWAITX) ? IDLE_MWAITX : IDLE_SPIN;
}

void idle_set(struct idle *i, const struct idle_config *config) {
	i->config = *config;
	i->ticks_per_ns_q32 = (uint64_t)(((unsigned __int128)config->tsc_hz << 32) / NS_PER_S);
	i->empty = 0;
	i->length = 0;
}

static uint64_t lesser(uint64_t a, uint64_t b) {
	return a < b ? a : b;
}

/* With IDLE_SLEEP, pauses become longer in each round, as other processes need the core. */
static bool length_elapsed(struct idle *i) {
	if (i->config.kind == IDLE_SLEEP && i->length > 0)
		return true;
	if (++i->empty < i->config.empty_rounds)
		return false;
	i->empty = 0;
	return true;
}

uint64_t idle_empty(struct idle *i, uint64_t busy_rounds, uint64_t now) {
	uint64_t longer = i->length == 0 ? IDLE_FIRST_NS : 2 * i->length;

	if (i->config.kind == IDLE_POLL)
		return 0;
	if (i->busy_rounds != busy_rounds) {
		i->busy_rounds = busy_rounds;
		i->since = now;
		i->empty = 0;
		i->length = 0;
		longer = IDLE_FIRST_NS;
	}
	if (i->length < i->config.longest && length_elapsed(i))
		i->length = lesser(longer, i->config.longest);
	return i->length;
}

uint64_t idle_sleep(const struct idle *i, uint64_t now, uint64_t due, bool woken) {
	uint64_t max = IDLE_SLEEP_NS;

	if (woken)
		max = IDLE_SLEEP_WOKEN_NS;
	else if (now - i->since >= IDLE_SLEEP_LATER_AFTER_NS)
		max = IDLE_SLEEP_LATER_NS;
	if (due <= now || due - now <= 2 * IDLE_SLEEP_EARLY_NS)
		return 0;
	return lesser(max, due - now - IDLE_SLEEP_EARLY_NS);
}

uint64_t idle_bound(struct idle *i, uint64_t length, uint64_t now, uint64_t due) {
	uint64_t left = due > now ? due - now : 0;

	if (left >= length)
		return length;
	i->bounded++;
	return left;
}

void idle_pause(struct idle *i, uint64_t now, uint64_t ticks) {
	uint64_t deadline = now + ticks;
	bool limited = false;

	switch (i->config.kind) {
	case IDLE_TPAUSE_C01: limited = power_tpause(deadline, TPAUSE_C01); break;
	case IDLE_UMWAIT:
	case IDLE_TPAUSE_C02: limited = power_tpause(deadline, TPAUSE_C02); break;
	case IDLE_MWAITX: power_mwaitx(i, ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX); break;
	case IDLE_POLL:
	case IDLE_SLEEP:
	case IDLE_AUTO:
	case IDLE_SPIN: power_spin(deadline); break;
	}
	i->limited += limited;
	idle_count(i, power_tsc() - now);
}
