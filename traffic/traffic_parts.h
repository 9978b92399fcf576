/* SPDX-License-Identifier: BSD-3-Clause */
/* What a struct traffic is made of, for the files that implement it. */
#pragma once

#include "account.h"
#include "decrypt.h"
#include "generator.h"
#include "modem.h"
#include "pacing.h"
#include "receiver.h"
#include "resequencer.h"
#include "traffic.h"

#define RECEIVE_BURST 32

struct traffic {
	uint16_t network_port;
	uint16_t rphy_port;
	uint64_t tsc_hz;
	/* sent */
	struct generator *generator;
	struct pacing pacing;
	struct rte_mbuf *pending[GENERATOR_BURST]; /* made, and refused by the port so far */
	unsigned pending_count;
	uint64_t backpressure;
	uint64_t first_tsc;
	uint64_t last_tsc;
	/* received */
	struct receiver *receiver;
	struct modems modems;
	struct decryptor decryptor;
	struct rte_mbuf *batch[DECRYPT_BURST]; /* for the crypto device */
	unsigned batch_count;
	struct resequencers resequencers;
	struct account account;
	struct rte_mempool *packets; /* of the generator */
	struct rte_mempool *frames; /* DOCSIS frames of the receiver */
};
