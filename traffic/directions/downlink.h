/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The downstream: the core network that sends, the R-PHY device that receives, and the cable modems
 * that decrypt and check.
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
#include "directions/neighbours.h"
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
	uint16_t vlan; /* of the group at the network port; 0: none */
	uint64_t tsc_hz;
	/* sent */
	struct generator *generator;
	const struct capture_replay *replay; /* what the generator sends; NULL: what it makes up */
	struct pacing pacing;
	struct rte_mbuf *pending[GENERATOR_BURST]; /* made, and refused by the port so far */
	unsigned pending_count;
	unsigned
		lose_every; /* of so many packets one is counted as sent and is not sent; 0: none */
	unsigned lose_at;
	bool drop; /* as in struct traffic_load */
	struct downlink_refused *refused; /* packets that have to be dropped; NULL: none */
	uint64_t dropped; /* packets; of them nothing will be heard */
	uint64_t backpressure;
	uint64_t first_tsc;
	uint64_t last_tsc;
	/* received */
	struct receiver *receiver;
	struct key_store keys;
	struct modems modems;
	struct decryptor decryptor;
	uint32_t prove_every; /* as in struct traffic_load */
	struct rte_mbuf *batch[DECRYPT_BURST]; /* frames that wait to be judged, in their order */
	unsigned batch_count;
	struct resequencers resequencers;
	struct account account;
	struct meters *meters; /* of the packets proven; NULL: none */
	struct witness *witness; /* of what comes; NULL: none */
	struct traffic_cycles cycles; /* of the downstream */
	const struct neighbours *neighbours; /* NULL: there is no other group */
	bool messages; /* a scheduler sends some in the sessions of channels */
	struct downlink_follow *follow; /* NULL: the service group does not change */
	struct rte_mempool *packets; /* of the generator; NULL: somebody else's */
	struct rte_mempool *frames; /* DOCSIS frames of the receiver; likewise */
};

/* Pools for struct traffic_options, for any number of groups. Return NULL after a message. */
struct rte_mempool *downlink_packets_pool(void);
struct rte_mempool *downlink_frames_pool(void);

/* `sg` and `o->crypto` must live on. Returns NULL after a message. To be freed by downlink_free(). */
struct downlink *downlink_create(const struct service_group *sg, const struct traffic_options *o);

void downlink_free(struct downlink *d);

/*
 * After downlink_stop() and downlink_finish(): begins anew with the mix and rate of `load`, at TSC
 * `now`; where that sends no downstream, only the counts do. Returns 0, or -1 after a message with
 * nothing changed.
 */
int downlink_restart(struct downlink *d, const struct traffic_load *load, uint64_t now);

/* Sends what pacing allows at TSC `now`, at most a burst. Returns packets sent. */
unsigned downlink_send(struct downlink *d, uint64_t now);

/* Takes back what was made but not sent. No downlink_send() may follow. */
void downlink_stop(struct downlink *d);

/* Polls the R-PHY port, decrypts and verifies. Returns frames handled; 0 when nothing happened. */
unsigned downlink_receive(struct downlink *d);

/* The same with `n` frames, at most DOWNLINK_BURST, that somebody else received from TSC `start` on. Frees
 * them. */
void downlink_take(struct downlink *d, struct rte_mbuf **depi, unsigned n, uint64_t start);

/* To be called at times where downlink_receive() is not: modems wait for what is missing no longer. */
void downlink_expire(struct downlink *d);

/* Packets sent of which nothing was heard yet. */
uint64_t downlink_in_flight(const struct downlink *d);

/* Gives up what the modems' resequencing waits for. */
void downlink_finish(struct downlink *d);

/* The counts as they are now. */
void downlink_result(const struct downlink *d, struct traffic_result *out);
