/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What subscribers send: packets from the addresses of a modem to servers in the core network. Size,
 * address and protocol follow from stream and sequence number alone, so that a packet that comes out
 * of the CMTS is compared with what it was although nobody kept it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/mix.h"
#include "core/packet.h"
#include "model/service_group.h"

/* The addresses of a modem, of each two templates: UDP and TCP. */
struct uplink_source {
	uint32_t first; /* index of the first template */
	uint32_t addresses;
};

/* The sources of before or after a change of the service group. */
struct uplink_sources {
	struct packet_template *templates;
	struct uplink_source *modems; /* by place in the group */
	uint32_t modem_count;
	uint32_t magic; /* of their packets, where they are of before */
	const struct uplink_sources *older; /* or NULL */
};

struct uplink_packets {
	struct pattern pattern;
	uint32_t magic; /* of what is sent now: one more with every restart and change */
	uint32_t first_magic;
	uint16_t *sizes; /* a deck that was drawn to its end: every stream goes round in it */
	uint32_t deck_size;
	struct uplink_sources sources;
};

/*
 * Returns 0, or -1 after a message: memory is short, or a modem has no address for a packet of some
 * size. To be freed by uplink_packets_free() in either case.
 */
int uplink_packets_create(struct uplink_packets *p, const struct service_group *sg,
			  const struct mix *mix, uint64_t seed);

void uplink_packets_free(struct uplink_packets *p);

/* Another mix. Returns 0, or -1 after a message with nothing changed. */
int uplink_packets_restart(struct uplink_packets *p, const struct service_group *sg,
			   const struct mix *mix);

/* The sources of a group that has changed. Returns whether there was memory. To be freed by
 * uplink_sources_free() in either case. */
bool uplink_sources_create(struct uplink_sources *s, const struct service_group *sg);

void uplink_sources_free(struct uplink_sources *s);

/* Whether a modem has an address for each size of a mix. */
bool uplink_sources_fit(const struct uplink_sources *s, const struct mix *mix, uint32_t modem);

/* Packets come from these from now on. `next` then has those of before, whose packets are known until it is
 * taken out of the list that begins with `sources`. */
void uplink_packets_take(struct uplink_packets *p, struct uplink_sources *next);

/* Those of packets with this magic; NULL where there are none. */
const struct uplink_sources *uplink_packets_sources(const struct uplink_packets *p, uint32_t magic);

/* Bytes of the Ethernet frame without CRC of packet `sequence` of `stream`. */
static inline uint32_t uplink_packet_size(const struct uplink_packets *p, uint32_t stream,
					  uint32_t sequence) {
	return p->sizes[(sequence + stream * 37) % p->deck_size];
}

/*
 * Writes the packet of `modem` that the tag names, with the TSC of the tag. `out` has room for it and
 * for PACKET_START_MAX bytes. Returns its size.
 */
uint32_t uplink_packet_write(const struct uplink_packets *p, uint32_t modem,
			     const struct packet_tag *tag, uint8_t *out);

/* Whether a frame of `size` bytes is the packet of `modem` that the tag names. */
bool uplink_packet_is(const struct uplink_packets *p, uint32_t modem, const struct packet_tag *tag,
		      const uint8_t *frame, uint32_t size);
