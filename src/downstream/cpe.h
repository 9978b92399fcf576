/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPE limits (MULPI, subscriber management, TLV 35 and 63): a modem forwards for at most cpe_limit
 * IPv4 and cpe_limit_ipv6 IPv6 addresses at a time. An address is active in the period in which it
 * was seen and in the next one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "downstream/downstream.h"

/* Active addresses, and the modems that have them. */
struct cpe_activity {
	uint32_t modems, addresses;
};

/* May be called by any thread while the worker runs; the worker never waits for it. The caller
 * ensures that the group exists. */
struct cpe_activity cpe_activity(const struct ds_upper *u);

/* The same for the modem with this index alone. */
unsigned cpe_active_addresses(const struct ds_upper *u, size_t modem);

/* Whether one more address of the family may become active. */
static inline bool cpe_below_limit(const struct ds_modem *modem, uint64_t active, bool ipv6) {
	uint64_t same = ipv6 ? active & modem->cpe_ipv6 : active & ~modem->cpe_ipv6;

	return __builtin_popcountll(same) < (ipv6 ? modem->cpe_limit_ipv6 : modem->cpe_limit);
}

/* Whether a packet may be sent to the address with this index. Makes the address active. */
static inline bool cpe_admit(struct ds_modem *modem, uint8_t address, bool ipv6, uint32_t period) {
	uint64_t active, bit = 1ULL << address;

	if (modem->cpe_period != period) {
		modem->cpe_before = modem->cpe_period + 1 == period ? modem->cpe_recent : 0;
		modem->cpe_recent = 0;
		modem->cpe_period = period;
	}
	active = modem->cpe_recent | modem->cpe_before;
	if (!(active & bit)) {
		if (!cpe_below_limit(modem, active, ipv6))
			return false;
		modem->cpe_ipv6 = ipv6 ? modem->cpe_ipv6 | bit : modem->cpe_ipv6 & ~bit;
	}
	modem->cpe_recent |= bit;
	return true;
}

/* The number of the current period. Divides only when a period has ended. */
static inline uint64_t cpe_period(struct ds_upper *u) {
	if (u->clock->now >= u->cpe_period_end) {
		uint64_t passed = (u->clock->now - u->cpe_since) / u->cpe_period_ns;

		u->cpe_period = u->cpe_first + passed;
		u->cpe_period_end = u->cpe_since + (passed + 1) * u->cpe_period_ns;
	}
	return u->cpe_period;
}

/* Sets the length of periods and restarts the current one. Active addresses stay active. */
static inline void cpe_period_set(struct ds_upper *u, uint64_t ns) {
	u->cpe_first = cpe_period(u);
	u->cpe_since = u->clock->now;
	u->cpe_period_ns = ns;
	u->cpe_period_end = u->clock->now + ns;
}
