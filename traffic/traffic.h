/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything around the CMTS: the core network that sends, the R-PHY device that receives, and the
 * cable modems that decrypt and check.
 *
 *     generator, pacing --> network port  ==> CMTS ==>  R-PHY port --> receiver --> modem, decrypt
 *                                                                                        |
 *                                          account <-- resequencer <-- verifier <--------+
 *
 * One thread calls all of it. A packet that was sent is proven, corrupted or lost, and counts once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "account.h"
#include "candidates.h"
#include "mix.h"
#include "model/service_group.h"
#include "platform/crypto.h"

struct traffic_options {
	uint16_t network_port; /* opened; packets for the modems go out here */
	uint16_t rphy_port; /* opened; DEPI comes in here */
	struct docsis_crypto *crypto; /* with a session to spare for each modem, and one more */
	uint16_t crypto_queue; /* used by nobody else */
	struct mix mix;
	uint64_t rate; /* bits of Ethernet frames without CRC per second; 0 = max */
	uint32_t permit_permille; /* share of packets that a filter rule permits */
	uint32_t classify_permille; /* share of packets that meet a classifier */
	uint64_t seed;
};

/* All counts are of packets unless said otherwise. */
struct traffic_result {
	uint64_t sent; /* = proven + lost + corrupted when nothing is in flight */
	uint64_t sent_bytes;
	uint64_t proven;
	uint64_t proven_bytes;
	uint64_t lost;
	uint64_t duplicated;
	uint64_t reordered; /* of the proven ones */
	uint64_t corrupted;
	uint64_t corrupted_by[CORRUPTIONS];
	uint64_t unexpected[UNEXPECTEDS];
	uint64_t violations[VIOLATIONS];
	uint64_t sent_by_class[CLASS_COUNT];
	uint64_t depi_frames;
	uint64_t depi_bytes;
	uint64_t resequenced;
	uint64_t resequencing_given_up; /* numbers of DSIDs that never came */
	uint32_t resequencing_deepest; /* numbers that one window spanned */
	uint64_t transmit_backpressure; /* bursts that the network port did not take whole */
	uint64_t no_buffers; /* packets not made as no mbuf was free */
	uint64_t descheduled; /* rounds of the loop longer than 1 ms */
	double descheduled_longest_us;
	double seconds; /* from the first packet sent to the last sent or proven */
	double gbps; /* proven, Ethernet frames without CRC */
	struct {
		double mean, p50, p99, p99_9, max;
	} latency_us; /* from when a packet is made to its delivery in order */
};

struct traffic;

/* `sg` and `crypto` must live on. Returns NULL after a message. To be freed by traffic_free(). */
struct traffic *traffic_create(const struct service_group *sg,
			       const struct traffic_options *options);

void traffic_free(struct traffic *t);

/* Discards what stands in the R-PHY port from before. Returns how many frames that were. */
unsigned traffic_drain(struct traffic *t);

/* Sends what pacing allows at TSC `now`, at most a burst of 32. Returns packets sent. */
unsigned traffic_send(struct traffic *t, uint64_t now);

/* Takes back what was made but not sent. No traffic_send() may follow. */
void traffic_stop(struct traffic *t);

/* Polls the R-PHY port, decrypts and verifies. Returns frames handled; 0 when nothing happened. */
unsigned traffic_receive(struct traffic *t);

/* Packets sent of which nothing was heard yet. */
uint64_t traffic_in_flight(const struct traffic *t);

/* Waits for the crypto device and gives up what the modems' resequencing waits for. */
void traffic_finish(struct traffic *t);

/* The counts as they are now; `lost` is what is missing now. */
void traffic_result(const struct traffic *t, struct traffic_result *out);

/* Whether every packet is proven, in order, once, and nothing was wrong with the DEPI frames. */
bool traffic_result_good(const struct traffic_result *r);
