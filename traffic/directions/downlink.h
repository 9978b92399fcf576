/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The downstream: the core network sends, the R-PHY device receives, and the cable modems decrypt and
 * check.
 *
 *     generator, pacing --> network port  ==> CMTS ==>  R-PHY port --> receiver --> modem, decrypt
 *                                                                                        |
 *                                          account <-- resequencer <-- verifier <--------+
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/generator.h"
#include "core/pacing.h"
#include "directions/run_groups.h"
#include "directions/traffic.h"
#include "modems/decrypt.h"
#include "modems/modem.h"
#include "proof/account.h"
#include "proof/resequencer.h"
#include "qos/meters.h"
#include "refused/downlink_refused.h"
#include "rphy/receiver.h"

#define DOWNLINK_BURST 32

struct downlink_follow;

struct downlink {
	uint16_t network_port;
	uint16_t rphy_port;
	uint16_t vlan; /* of the group on the network port; 0: none */
	uint64_t tsc_hz;
	/* sender */
	struct generator *generator;
	/* capture that the generator sends; NULL: generated packets */
	const struct capture_replay *replay;
	struct pacing pacing;
	struct rte_mbuf *pending[GENERATOR_BURST]; /* made, not accepted by the port yet */
	unsigned pending_count;
	unsigned lose_every; /* counts one packet in so many as sent and discards it; 0: none */
	unsigned lose_at; /* packets since the start, to find the next one to lose */
	bool drop; /* as in struct traffic_load */
	struct downlink_refused *refused; /* packets that the CMTS must drop; NULL: none */
	uint64_t dropped; /* packets dropped by the sender, which cannot arrive */
	uint64_t backpressure;
	uint64_t first_tsc;
	uint64_t last_tsc;
	/* receiver */
	struct receiver *receiver;
	struct key_store keys;
	struct modems modems;
	struct decryptor decryptor;
	uint32_t prove_every; /* as in struct traffic_load */
	/* received frames, in order of arrival; from verdict_batch() on, those that a modem accepts */
	struct rte_mbuf *batch[DECRYPT_BURST];
	unsigned batch_count;
	struct resequencers resequencers;
	struct account account;
	struct meters *meters; /* of the proven packets, or NULL */
	struct witness *witness; /* of the received packets, or NULL */
	struct traffic_cycles cycles; /* of the downstream */
	const struct run_groups *run_groups; /* NULL: no other groups */
	bool messages; /* a scheduler sends messages in the sessions of channels */
	struct downlink_follow *follow; /* NULL: the service group does not change */
	struct rte_mempool *packets; /* own pool of the generator; NULL: shared by all groups */
	struct rte_mempool *frames; /* own pool of the receiver's DOCSIS frames; NULL: shared */
};

/* Create pools for struct traffic_options, for any number of groups. Return NULL after a message. */
struct rte_mempool *downlink_packets_pool(void);
struct rte_mempool *downlink_frames_pool(void);

/* `sg` and `o->crypto` must outlive the result. Returns NULL after a message. The caller frees it
 * with downlink_free(). */
struct downlink *downlink_create(const struct service_group *sg, const struct traffic_options *o);

void downlink_free(struct downlink *d);

/*
 * Restarts after downlink_stop() and downlink_finish(), with the mix and rate of `load`, at TSC `now`. If
 * `load` sends no downstream, only resets the counts. Returns 0, or -1 after a message with nothing
 * changed.
 */
int downlink_restart(struct downlink *d, const struct traffic_load *load, uint64_t now);

/* Sends what pacing allows at TSC `now`, at most a burst. Returns the number of packets sent. */
unsigned downlink_send(struct downlink *d, uint64_t now);

/* Takes back packets made but not sent. downlink_send() must not follow. */
void downlink_stop(struct downlink *d);

/* Polls the R-PHY port, decrypts and verifies. Returns the number of frames processed. */
unsigned downlink_receive(struct downlink *d);

/* Processes `n` frames, at most DOWNLINK_BURST, that the caller received from TSC `start` on. Frees
 * them. */
void downlink_process(struct downlink *d, struct rte_mbuf **depi, unsigned n, uint64_t start);

/* Expires the modems' reorder timers and the generations before changes. Must be called in rounds without
 * downlink_receive(). */
void downlink_expire(struct downlink *d);

/* Number of packets sent and not accounted for yet. */
uint64_t downlink_in_flight(const struct downlink *d);

/* Gives unresolved frames their verdict, and flushes the modems' resequencing. */
void downlink_finish(struct downlink *d);

/* Gets the current counts. */
void downlink_result(const struct downlink *d, struct traffic_result *out);
