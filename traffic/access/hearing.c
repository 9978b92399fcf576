/* SPDX-License-Identifier: BSD-3-Clause */
#include "access/hearing.h"

#define MILLION 1000000

static bool lost(const struct access *a, uint32_t modem, const struct access_heard *map) {
	uint32_t loss = a->modems[modem].map_loss;
	struct random r = {map->number * a->modem_count + modem};

	if (loss == 0)
		return false;
	/* one more step, so that modems with successive numbers do not lose the same MAPs */
	random_next(&r);
	return random_below(&r, MILLION) < loss;
}

uint64_t hearing_known(const struct access *a, uint32_t modem, uint64_t heard) {
	const struct access_modem *m = &a->modems[modem];

	return heard + m->propagation + m->map_processing;
}

enum hearing hearing_of(const struct access *a, uint32_t modem, const struct access_heard *map) {
	int64_t fill = access_fill(&a->modems[modem], map->start);

	if (lost(a, modem, map))
		return HEARING_LOST;
	return (int64_t)hearing_known(a, modem, map->heard) > fill ? HEARING_LATE : HEARING_HEARD;
}
