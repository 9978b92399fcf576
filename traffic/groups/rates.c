/* SPDX-License-Identifier: BSD-3-Clause */
/* Capacities of the channels of a group, and the division of a rate among groups. */
#include "groups/rates.h"

#include <rte_common.h>

uint64_t rates_downstream_capacity(const struct service_group *sg) {
	uint64_t capacity = 0;

	for (size_t c = 0; c < sg->channel_count; c++)
		capacity += sg->channels[c].rate;
	return sg->rate_limit != 0 && sg->rate_limit < capacity ? sg->rate_limit : capacity;
}

uint64_t rates_upstream_capacity(const struct service_group *sg) {
	uint64_t capacity = 0;
	size_t flows = 0;

	for (size_t m = 0; m < sg->modem_count; m++)
		flows += sg->modems[m].upstream_flow_count;
	for (size_t c = 0; flows > 0 && c < sg->upstream_channel_count; c++)
		capacity += sg->upstream_channels[c].rate;
	return capacity;
}

void rates_divide(uint64_t rate, const uint64_t *weights, unsigned count, uint64_t *parts) {
	unsigned __int128 sum = 0, before = 0;
	uint64_t given = 0;

	for (unsigned i = 0; i < count; i++)
		sum += weights[i];
	for (unsigned i = 0; i < count; i++) {
		uint64_t weight = sum == 0 ? 1 : weights[i];
		uint64_t upto;

		before += weight;
		upto = (uint64_t)(rate * before / (sum == 0 ? count : sum));
		parts[i] = upto - given;
		given = upto;
		if (rate != 0 && weight != 0 && parts[i] == 0)
			parts[i] = 1;
	}
}
