/* SPDX-License-Identifier: BSD-3-Clause */
/* Opportunities that MAPs give to single flows: data, polls and station maintenance. */
#pragma once

#include "access/access_parts.h"

/* An opportunity of one flow, from an element of a MAP. */
struct grants_element {
	uint16_t sid;
	uint8_t iuc;
	uint64_t minislot;
	uint32_t minislots;
};

/* Records an opportunity if the modem of its flow received the MAP in time. */
void grants_add(struct access *a, const struct access_line *l,
		const struct access_map_reception *map, const struct grants_element *e);

/* Uses opportunity `grant`, an index in access.grants, when it is time to fill it. Writes the transmission to
 * `out`. Returns the flow, or NULL if it sends nothing; `out` is then undefined. */
struct access_queue *grants_run(struct access *a, uint32_t grant, struct access_event *out);

/* Processes a grant pending in a MAP with ack time `ack`: the CMTS has received the flow's request. */
void grants_pending(struct access *a, const struct access_line *l,
		    const struct access_map_reception *map, uint16_t sid, uint64_t ack);
