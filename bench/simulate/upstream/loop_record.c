/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/loop_record.h"

#include <inttypes.h>

#define SID_FIRST 1 /* as in loop_setup.c */

void loop_record_map(struct loop *l, uint32_t channel, const struct map *map) {
	uint8_t body[MAP_BODY_MAX];
	size_t size;

	if (l->record == NULL)
		return;
	size = map_write(body, sizeof(body), map);
	fprintf(l->record, "{\"at\": %" PRIu64 ", \"channel\": %u, \"version\": %u, \"map\": \"",
		l->now, channel, map->version);
	for (size_t i = 0; i < size; i++)
		fprintf(l->record, "%02x", body[i]);
	fputs("\"}\n", l->record);
}

void loop_record_request(struct loop *l, const struct maps_request *request) {
	if (l->record == NULL)
		return;
	fprintf(l->record, "{\"at\": %" PRIu64 ", \"channel\": %u, \"sid\": %u, \"request\": %u}\n",
		l->now, request->channel, request->flow + SID_FIRST, request->bytes);
}
