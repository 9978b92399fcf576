/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/cpe.h"

/* The period of the present time, even if no packet has arrived in it. */
static uint64_t present_period(const struct ds_upper *u) {
	uint64_t now = __atomic_load_n(&u->clock->now, __ATOMIC_RELAXED), since = u->cpe_since;

	return u->cpe_first + (now > since ? (now - since) / u->cpe_period_ns : 0);
}

/* Active addresses in the present period and the one before, as cpe_admit() counts them. */
static unsigned modem_addresses(const struct ds_modem *modem, uint32_t period) {
	uint32_t seen = modem->cpe_period;
	uint64_t active = 0;

	if (seen == period)
		active = modem->cpe_before | modem->cpe_recent;
	else if (seen + 1 == period)
		active = modem->cpe_recent;
	return (unsigned)__builtin_popcountll(active);
}

unsigned cpe_active_addresses(const struct ds_upper *u, size_t modem) {
	return modem_addresses(&u->tables->modems[modem], (uint32_t)present_period(u));
}

struct cpe_activity cpe_activity(const struct ds_upper *u) {
	uint32_t period = (uint32_t)present_period(u);
	struct cpe_activity a = {0};

	for (uint32_t m = 0; m < u->tables->capacity.modems; m++) {
		unsigned addresses = modem_addresses(&u->tables->modems[m], period);

		a.modems += addresses > 0;
		a.addresses += addresses;
	}
	return a;
}
