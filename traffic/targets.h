/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where packets go: for each address of each modem one packet template a class that the
 * configuration allows. A stream is what keeps its order: one service flow of one modem.
 */
#pragma once

#include <stdint.h>

#include <rte_common.h>

#include "candidates.h"
#include "model/service_group.h"
#include "packet.h"

struct target {
	struct packet_template template;
	uint32_t modem; /* index in the service group */
	uint32_t stream; /* first stream of the modem plus index of its service flow */
	uint16_t min_size; /* of a frame that holds headers and tag */
	uint8_t class; /* enum traffic_class */
} __rte_cache_aligned;

/* The targets of one class in the order in which they get packets, again and again. */
struct target_list {
	uint32_t *targets;
	uint32_t count;
	uint32_t next;
};

struct targets {
	struct target *all;
	uint32_t count;
	uint32_t *first_stream; /* by modem */
	uint32_t stream_count;
	struct target_list any[CLASS_COUNT];
	struct target_list small[CLASS_COUNT]; /* of these, the ones that take MIX_MIN_SIZE bytes */
};

/*
 * Finds the targets of a service group. A modem gets packets for as many of its addresses as its CPE
 * limit admits, the first ones. Returns 0, or -1 when memory is short. To be freed by
 * targets_free().
 */
int targets_create(struct targets *t, const struct service_group *sg, uint64_t seed);

void targets_free(struct targets *t);

/*
 * The next target of `class` for a frame of `size` bytes, or where there is none the next one of
 * another class, unmatched first. NULL where nothing can take such a frame.
 */
const struct target *targets_next(struct targets *t, enum traffic_class class, uint32_t size);
