/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's view of the tables: free slots, and the resources of each modem. No stage
 * reads it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/group/modems.h"

#define US_NONE UINT32_MAX /* no slot */

/* The key of a SID on a channel. */
static inline uint32_t us_sid_key(uint32_t channel, uint16_t sid) {
	return channel << 16 | sid;
}

/* The free slots of a table. */
struct us_free_slots {
	uint32_t *slots;
	uint32_t count;
};

/* A service flow of a modem. */
struct us_modem_data_flow {
	uint32_t id; /* SFID */
	uint32_t flow; /* slot; US_NONE: the change adds the flow, which has no slot yet */
	uint32_t first_sid; /* in `sids` of its modem */
	uint16_t sid_count;
	uint16_t former_sids; /* behind those: SIDs that the flow had before the change only */
	bool segment_header;
};

/*
 * The resources of a modem, in one allocation. The records of the modem and its flows point into
 * it.
 *
 * Former addresses and SIDs follow the present ones while earlier packets are still pending.
 */
struct us_modem_data {
	uint32_t flow_count;
	uint16_t ipv4_count, former_ipv4;
	uint16_t ipv6_count, former_ipv6;
	uint32_t *ipv4;
	uint32_t *sids;
	uint8_t (*ipv6)[16];
	void *schedules[2]; /* of the keys, by generation */
	struct us_modem_data_flow flows[];
};

struct us_change;

struct us_slots {
	struct us_free_slots flows, streams, sessions;
	struct us_modem_data **modem_data; /* by modem; NULL: no modem in the slot */
	bool *reserved; /* by modem: part of a change in progress, or being removed */
	uint32_t sids, sid_capacity; /* hash keys in use, and the capacity */
	struct us_change *unapplied; /* not confirmed as applied yet */
	uint32_t changes; /* so far */
	uint32_t pending_packets,
		pending_frames; /* most pending buffers, as the pools were sized */
	uint32_t frames_in_work; /* lower bound of the limit of pending frames */
};

/* Frees all `count` slots; us_slot_alloc() returns slot 0 first. Returns 0, or -1 without memory. */
int us_free_slots_create(struct us_free_slots *f, uint32_t count);

/* Returns US_NONE if no slot is free. */
uint32_t us_slot_alloc(struct us_free_slots *f);

/* `slot` must come from us_slot_alloc(). */
void us_slot_free(struct us_free_slots *f, uint32_t slot);

/*
 * The resources of `m`, with those of `before` that it lost after them; `before` may be NULL.
 *
 * A flow that remains keeps its slot. A flow with another framing counts as a new one. Returns NULL
 * without memory. The caller frees the result by free().
 */
struct us_modem_data *us_modem_data_create(const struct modem *m,
					   const struct us_modem_data *before);

/* Returns 0, or -1 without memory. The caller calls us_slots_free() in either case. */
int us_slots_create(struct us_slots *p, uint32_t modems);

void us_slots_free(struct us_slots *p, uint32_t modems);
