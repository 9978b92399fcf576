/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides whether a modem receives a MAP, and in time. */
#include "access/map_reception.h"

#define MILLION 1000000

static bool lost(const struct access *a, uint32_t modem, const struct access_map_reception *map) {
	uint32_t loss = a->modems[modem].map_loss;
	struct random r = {map->number * a->modem_count + modem};

	if (loss == 0)
		return false;
	/* one more step, so that modems with successive numbers do not lose the same MAPs */
	random_next(&r);
	return random_below(&r, MILLION) < loss;
}

uint64_t map_processed_at(const struct access *a, uint32_t modem, uint64_t received) {
	const struct access_modem *m = &a->modems[modem];

	return received + m->propagation + m->map_processing;
}

enum map_reception map_reception_of(const struct access *a, uint32_t modem,
				    const struct access_map_reception *map) {
	int64_t fill = access_fill(&a->modems[modem], map->start);

	if (lost(a, modem, map))
		return MAP_NOT_RECEIVED;
	return (int64_t)map_processed_at(a, modem, map->received) > fill ? MAP_RECEIVED_LATE
									 : MAP_RECEIVED;
}
