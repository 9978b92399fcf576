/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sending half of the upstream: cable modems that fill their grants, and the R-PHY device that
 * packs their bursts for the CMTS.
 *
 *     packets --> MAC frames, BPI+ --> streams of service flows --> grants: segments, bursts
 *                                                                      |
 *                 R-PHY port <== L2TPv3, PSP <== UEPI header, payload, trailer
 *
 * Grants of 2 kB (at low rates less, uplink_grant.h) go to the SIDs in turn, so that each modem gets the
 * same. A packet is made when a
 * grant has room for its first byte; it counts as sent when the burst with its last byte was handed to
 * the port.
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
	uint16_t rphy_port; /* opened; UEPI goes out here */
	struct witness *witness; /* of it; must live on. NULL: none */
	struct rte_mempool *packets; /* of uplink_output_pool(); NULL: it makes its own */
	unsigned group; /* its place among several, which are in one process */
	struct crypto_provider *crypto;
	struct mix mix;
	uint64_t rate; /* bits of Ethernet frames without CRC per second; 0 = max */
	const struct shape *shape; /* of the rate over time; must live on; NULL: constant */
	uint32_t grant; /* bytes of burst payload in a grant, 256..4096; 0: by the rate */
	uint64_t seed;
	uint32_t
		refuse_every; /* as in struct traffic_options; with grants that come of themselves */
	uint32_t reorder_every; /* likewise, but with impairments */
	bool rphy_by_session; /* groups with the same VLAN share the R-PHY port */
	struct impair_shares impair;
	/* Modems wait for the grants of MAPs (grants/grants.h); not with `grant`, `streams`, max or other impairments than
	 * those of MAPs, requests and modems. */
	bool scheduled;
	uint32_t streams; /* room for as many, as the service group may change; 0: it does not */
};

struct uplink;
struct rte_mbuf;

/*
 * `sg` and `crypto` must live on. Returns NULL after a message, also where no modem has an upstream
 * service flow. To be freed by uplink_free().
 */
struct uplink *uplink_create(const struct service_group *sg, const struct uplink_options *options);

void uplink_free(struct uplink *u);

/*
 * When it is empty after uplink_stop(): packets are made again, of another mix at another rate (as in
 * struct uplink_options) from TSC `now` on. All counts and the packets' numbers begin with 0; what the
 * CMTS sees, PSP and segment numbers, goes on. Without a mix (NULL) only the counts begin anew, and
 * nothing is made. Not with impairments. Returns 0, or -1 after a message with nothing changed.
 */
int uplink_restart(struct uplink *u, const struct service_group *sg, const struct mix *mix,
		   uint64_t rate, uint64_t now);

/*
 * From TSC `now` on the rate follows `shape`, which must live on (NULL: it is constant), and with `drop` packets
 * that the port does not take are lost, as on a wire that does not wait: they count as sent.
 */
void uplink_wire(struct uplink *u, const struct shape *shape, bool drop, uint64_t now);

/* Whether the tag is one of this uplink's packets, since the last uplink_restart(). */
bool uplink_has_made(const struct uplink *u, const struct packet_tag *tag);

/* Whether its packet was made before the last change of the service group. */
bool uplink_made_earlier(const struct uplink *u, const struct packet_tag *tag);

/* Whether the tag is that of a packet of before the last uplink_restart(). */
bool uplink_is_earlier(const struct uplink *u, const struct packet_tag *tag);

/* Frames and packets that were sent and have to be dropped. */
struct refused_counts uplink_refused_sent(const struct uplink *u);

/* The rate begins anew at TSC `now`, at its shape's start. */
void uplink_begin(struct uplink *u, uint64_t now);

/* Sends what pacing allows at TSC `now`, at most a burst. Returns L2TPv3 packets sent. */
unsigned uplink_send(struct uplink *u, uint64_t now);

/*
 * Makes no more packets; uplink_send() goes on with grants until every frame begun is complete. Where
 * impairments were asked for, packets are made a little longer: something must follow what is missing.
 */
void uplink_stop(struct uplink *u);

/* After uplink_stop(): whether everything that was made is sent. */
bool uplink_empty(const struct uplink *u);

/*
 * Streams: one a SID cluster of an upstream service flow, as the packets of two clusters may overtake
 * each other. `stream` is below their count.
 */
uint32_t uplink_stream_count(const struct uplink *u);

/* Packets made so far for a stream: its sequence numbers are 0 .. this - 1. */
uint32_t uplink_made(const struct uplink *u, uint32_t stream);

/* Of these, those whose last byte lies in a burst. */
uint32_t uplink_ended(const struct uplink *u, uint32_t stream);

/* Packets sent, and their bytes (Ethernet frames without CRC). */
uint64_t uplink_sent(const struct uplink *u);
uint64_t uplink_sent_bytes(const struct uplink *u);

/*
 * Compares a frame of `size` bytes, as it came out of the network port, with the packet that was made
 * for stream and sequence of its tag: every byte but the tag's TSC. Returns whether it is the same.
 */
bool uplink_matches(const struct uplink *u, const struct packet_tag *tag, const uint8_t *frame,
		    uint32_t size);

/* TSC at which the last byte of the packet was handed to the port; 0 where that is forgotten: each
 * stream remembers the latest 256. */
uint64_t uplink_sent_at(const struct uplink *u, uint32_t stream, uint32_t sequence);

/* Whether modems wait for their grants: then packets are made at times of their own. */
bool uplink_waits(const struct uplink *u);

/* Where so: takes MAPs and the like out of `n` frames that came at the R-PHY port, and frees them. Returns how many
 * are left, in front; else all. */
unsigned uplink_hear(struct uplink *u, struct rte_mbuf **frames, unsigned n);

/* Where so: what the modems have done. */
void uplink_grants(const struct uplink *u, struct grants_result *out);

struct expected;

/* Whether impairments were asked for, and are kept accounts of. */
bool uplink_impaired(const struct uplink *u);

/*
 * Where so: how often each was put to work, by kind, and what the CMTS must make of what was sent, which
 * holds when all is sent. NULL where memory was too short to keep the account.
 */
const uint64_t *uplink_hits(const struct uplink *u);
const struct expected *uplink_expected(const struct uplink *u);

/* Whether the packet is to come out as it was made: always, without impairments. */
bool uplink_comes(const struct uplink *u, uint32_t stream, uint32_t sequence);

/* What was sent beside packets, for the summary. */
struct uplink_counts {
	double asked_bps; /* bits per second of Ethernet frames, in the mean over a shape; 0 = max */
	uint64_t packets; /* L2TPv3 packets handed to the port */
	uint64_t bytes; /* of these, Ethernet header included */
	uint64_t reordered; /* of these, behind a later one */
	uint64_t psp_segments; /* in these */
	uint64_t bursts;
	uint64_t segments; /* bursts with a segment header */
	uint64_t request_records;
	uint64_t requests; /* in bursts: segment headers, piggybacks, request frames */
	uint64_t management; /* messages */
	uint64_t fragments;
	uint64_t concatenations;
	uint64_t backpressure; /* bursts of packets that the port did not take whole */
	uint64_t crypto_errors; /* frames that the crypto provider refused or failed */
	uint64_t descheduled; /* rounds longer than 1 ms */
	double descheduled_longest_us;
};
void uplink_counts(const struct uplink *u, struct uplink_counts *out);
