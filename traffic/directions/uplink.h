/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending half of the upstream: cable modems fill their grants, and the R-PHY device sends their bursts
 * to the CMTS.
 *
 *     packets --> MAC frames, BPI+ --> streams of service flows --> grants: segments, bursts
 *                                                                      |
 *                 R-PHY port <== L2TPv3, PSP <== UEPI header, payload, trailer
 *
 * Grants of 2 kB (less at low rates, uplink_grant.h) go to the SIDs in round robin, so that all modems get
 * the same. A packet is made when a grant has space for its first byte. It counts as sent when the burst
 * with its last byte was handed to the port.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/mix.h"
#include "core/packet.h"
#include "core/shape.h"
#include "crypto/crypto.h"
#include "grants/grants_result.h"
#include "impairments/impair_shares.h"
#include "model/service_group.h"
#include "modems/uplink_grant.h"
#include "refused/kinds.h"

struct uplink_options {
	uint16_t rphy_port; /* started port; sends UEPI */
	struct witness *witness; /* of the packets sent; must outlive the uplink. NULL: none */
	struct rte_mempool *packets; /* from uplink_output_pool(); NULL: creates its own */
	unsigned group; /* index of this group in the process */
	struct crypto_provider *crypto;
	struct mix mix;
	uint64_t rate; /* bits of Ethernet frames without CRC per second; 0 = max */
	/* of the rate over time; must outlive the uplink. NULL: constant */
	const struct shape *shape;
	uint32_t grant; /* bytes of burst payload in a grant, 256..4096; 0: by the rate */
	uint64_t seed;
	/* as in struct traffic_options; ignored with `scheduled` or `impair` */
	uint32_t refuse_every;
	uint32_t reorder_every; /* as in struct traffic_options; ignored with `impair` */
	bool rphy_by_session; /* groups with the same VLAN share the R-PHY port */
	struct impair_shares impair;
	/* Modems use the grants of MAPs (grants/grants.h). Not with `grant`, `streams`, rate max, or
	 * impairments other than those of MAPs, requests and modems. */
	bool scheduled;
	/* capacity of streams for a service group that changes; 0: it does not change */
	uint32_t streams;
};

struct uplink;
struct rte_mbuf;

/* `sg` and `crypto` must outlive the uplink. Returns NULL after a message, also if no modem has an
 * upstream service flow. The caller frees it with uplink_free(). */
struct uplink *uplink_create(const struct service_group *sg, const struct uplink_options *options);

void uplink_free(struct uplink *u);

/*
 * Restarts an uplink that is empty after uplink_stop(), with another mix and rate (as in struct
 * uplink_options), at TSC `now`. All counts and packet numbers are 0; PSP and segment numbers continue.
 * `mix` NULL: only resets the counts and sends nothing. Not with impairments. Returns 0, or -1 after a
 * message with nothing changed.
 */
int uplink_restart(struct uplink *u, const struct service_group *sg, const struct mix *mix,
		   uint64_t rate, uint64_t now);

/* Makes the rate follow `shape` from TSC `now` on (NULL: constant); `shape` must outlive the
 * uplink. With `drop`, packets that the port refuses count as sent and are lost, as on a wire. */
void uplink_wire(struct uplink *u, const struct shape *shape, bool drop, uint64_t now);

/* Whether the tag is that of a packet made since the last uplink_restart(). */
bool uplink_has_made(const struct uplink *u, const struct packet_tag *tag);

/* Whether the packet, for which uplink_has_made() is true, was made before the last change of the group. */
bool uplink_made_earlier(const struct uplink *u, const struct packet_tag *tag);

/* Whether the tag is that of a packet made before the last uplink_restart(), or in a generation that is not
 * kept any more. */
bool uplink_is_earlier(const struct uplink *u, const struct packet_tag *tag);

/* Frames and packets sent that the CMTS must drop, since the last uplink_restart(). */
struct refused_counts uplink_refused_sent(const struct uplink *u);

/* Restarts pacing at TSC `now`, at the shape's start. */
void uplink_begin(struct uplink *u, uint64_t now);

/* Sends what pacing allows at TSC `now`, at most a burst. Returns the number of L2TPv3 packets sent. */
unsigned uplink_send(struct uplink *u, uint64_t now);

/* Makes no more packets; uplink_send() continues until every unfinished frame is complete. With
 * impairments, a few more packets are made, as something must follow those that are missing. */
void uplink_stop(struct uplink *u);

/* After uplink_stop(): whether all that was made is sent. */
bool uplink_empty(const struct uplink *u);

/* Number of streams: one per SID cluster of an upstream service flow, as packets of two clusters
 * may overtake each other. `stream` below must be less. */
uint32_t uplink_stream_count(const struct uplink *u);

/* Number of packets made for a stream: its sequence numbers are 0 to this - 1. */
uint32_t uplink_made(const struct uplink *u, uint32_t stream);

/* Of these, the number of packets whose last byte is in a burst. */
uint32_t uplink_ended(const struct uplink *u, uint32_t stream);

/* Number of packets sent, and their bytes (Ethernet frames without CRC). */
uint64_t uplink_sent(const struct uplink *u);
uint64_t uplink_sent_bytes(const struct uplink *u);

/* Compares a frame of `size` bytes from the network port with the packet that the stream and
 * sequence of its tag identify: every byte but the tag's TSC. Returns whether they are equal. */
bool uplink_matches(const struct uplink *u, const struct packet_tag *tag, const uint8_t *frame,
		    uint32_t size);

/* Prefetches what uplink_matches() and uplink_sent_at() need for a tag with any values. */
void uplink_prefetch(const struct uplink *u, const struct packet_tag *tag);

/* TSC at which the last byte of the packet was handed to the port; 0: not kept. Each stream keeps
 * the latest 256. */
uint64_t uplink_sent_at(const struct uplink *u, uint32_t stream, uint32_t sequence);

/* Whether modems request bandwidth; packets then arrive independently of grants. */
bool uplink_scheduled(const struct uplink *u);

/* If so, removes and frees MAPs and other frames of MAP pseudowires among `n` frames received at
 * the R-PHY port. Returns the number of other frames, which move to the front. */
unsigned uplink_receive_maps(struct uplink *u, struct rte_mbuf **frames, unsigned n);

/* If so, gets the modems' counts. */
void uplink_grants(const struct uplink *u, struct grants_result *out);

struct expected;

/* Whether impairments are requested and predicted. */
bool uplink_impaired(const struct uplink *u);

/* If so, the number of hits by kind, and the prediction for the CMTS, which is valid when all is
 * sent. NULL if memory was short. */
const uint64_t *uplink_hits(const struct uplink *u);
const struct expected *uplink_expected(const struct uplink *u);

/* Whether the packet is to be delivered unchanged; always true without impairments. */
bool uplink_delivers(const struct uplink *u, uint32_t stream, uint32_t sequence);

/* Counts of the sender for the summary. */
struct uplink_counts {
	/* configured rate in bits per second of Ethernet frames, mean over a shape; 0 = max */
	double configured_bps;
	uint64_t packets; /* L2TPv3 packets handed to the port */
	uint64_t bytes; /* of these, Ethernet header included */
	uint64_t reordered; /* of these, sent after a later one */
	uint64_t psp_segments; /* in these */
	uint64_t bursts;
	uint64_t segments; /* bursts with a segment header */
	uint64_t request_records;
	uint64_t requests; /* in bursts: segment headers, piggybacks, request frames */
	uint64_t management; /* messages */
	uint64_t fragments;
	uint64_t concatenations;
	uint64_t backpressure; /* bursts of packets that the port accepted only in part */
	uint64_t crypto_errors; /* frames that the crypto provider refused or failed on */
	uint64_t descheduled; /* rounds longer than 1 ms */
	double descheduled_longest_us;
};
void uplink_counts(const struct uplink *u, struct uplink_counts *out);
