/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of subscribers: from the addresses of a modem to servers in the core network. Stream and sequence
 * number determine size, address and protocol, so the proof can compare a received packet with its original
 * without storing it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/mix.h"
#include "core/packet.h"
#include "model/service_group.h"
#include "proof/expected_rewrite.h"

/* The addresses of a modem. Each has two templates: UDP and TCP. */
struct uplink_source {
	uint32_t first; /* index of the first template */
	uint32_t addresses;
};

/* A generation: the sources between two changes of the service group. */
struct uplink_sources {
	struct packet_template *templates;
	struct uplink_source *modems; /* by index in the service group */
	uint32_t modem_count;
	uint32_t magic; /* of their packets; set when a later generation replaces them */
	const struct uplink_sources *older; /* the generation before, or NULL */
};

struct uplink_packets {
	struct pattern pattern;
	uint32_t magic; /* of packets sent now; uplink_restart() and uplink_packets_apply() add 1 */
	uint32_t first_magic; /* the initial value of `magic` */
	uint16_t *sizes; /* sizes of a whole deck; every stream repeats them */
	uint32_t deck_size;
	struct uplink_sources sources;
	struct rewrites rewrites; /* what the CMTS makes of the packets */
};

/* Returns 0, or -1 after a message: memory is short, or a modem has no address for packets of some
 * size. The caller frees it with uplink_packets_free() in either case. */
int uplink_packets_create(struct uplink_packets *p, const struct service_group *sg,
			  const struct mix *mix, uint64_t seed);

void uplink_packets_free(struct uplink_packets *p);

/* Sets another mix; the caller must then increase `magic`. Returns 0, or -1 after a message with nothing
 * changed. */
int uplink_packets_restart(struct uplink_packets *p, const struct service_group *sg,
			   const struct mix *mix);

/* Builds the sources of a changed group. Returns false if memory is short. The caller frees it with
 * uplink_sources_free() in either case. */
bool uplink_sources_create(struct uplink_sources *s, const struct service_group *sg);

void uplink_sources_free(struct uplink_sources *s);

/* Whether each size of the mix fits an address of the modem; true for a modem without addresses. */
bool uplink_sources_fit(const struct uplink_sources *s, const struct mix *mix, uint32_t modem);

/* Sends packets of the generation `next` from now on. `next` then holds the previous generation,
 * which is looked up until the caller removes it from the list `sources`. */
void uplink_packets_apply(struct uplink_packets *p, struct uplink_sources *next);

/* The sources of packets with this magic; NULL if there are none. */
const struct uplink_sources *uplink_packets_sources(const struct uplink_packets *p, uint32_t magic);

/* Bytes of the Ethernet frame without CRC of packet `sequence` of `stream`. */
static inline uint32_t uplink_packet_size(const struct uplink_packets *p, uint32_t stream,
					  uint32_t sequence) {
	return p->sizes[(sequence + stream * 37) % p->deck_size];
}

/* Writes the packet of `modem` that the tag identifies, by the current generation. The modem must have an
 * address for its size. `out` must have PACKET_START_MAX bytes more than the packet. Returns its size. */
uint32_t uplink_packet_write(const struct uplink_packets *p, uint32_t modem,
			     const struct packet_tag *tag, uint8_t *out);

/* Whether a frame of `size` bytes is the packet of `modem` that the tag names, after rewrites. */
bool uplink_packet_is(const struct uplink_packets *p, uint32_t modem, const struct packet_tag *tag,
		      const uint8_t *frame, uint32_t size);
