/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The R-PHY device: takes DEPI frames apart into DOCSIS frames. Checks addresses, MTU, session and
 * PSP sequence, and puts the segments of each session together again.
 */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "account.h"
#include "model/service_group.h"
#include "window.h"
#include "wire/psp.h"

/* DOCSIS frames that one DEPI frame can complete: one a segment. */
#define RECEIVER_FRAMES_MAX PSP_COUNT_MAX

/* What the device knows of a DOCSIS frame, and what the modem adds: in the mbuf's private area. */
struct frame_info {
	uint32_t channel; /* index */
	uint32_t modem; /* index */
	uint32_t stream; /* by the DSID; FRAME_NO_STREAM where the header has none */
	uint16_t number; /* packet sequence number of the DSID */
	uint16_t header_size;
	uint8_t priority;
	uint8_t ds; /* enum docsis_ds_ehdr */
	uint8_t decrypted; /* enum decrypted */
};

#define FRAME_NO_STREAM UINT32_MAX

static inline struct frame_info *frame_info(struct rte_mbuf *m) {
	return (struct frame_info *)rte_mbuf_to_priv(m);
}

/* The private area that the mbufs of the receiver's pool must have. */
#define FRAME_PRIVATE_SIZE RTE_ALIGN(sizeof(struct frame_info), RTE_MBUF_PRIV_ALIGN)

struct receiver;

/*
 * `frames` is the pool for DOCSIS frames, with FRAME_PRIVATE_SIZE and room for 2,017 bytes. Returns
 * NULL when memory is short. To be freed by receiver_free().
 */
struct receiver *receiver_create(const struct service_group *sg, struct rte_mempool *frames,
				 struct account *account);

/* Frees also the frames that are not complete. */
void receiver_free(struct receiver *r);

/* Sessions start with their next DEPI frame, whatever its number, and no frame is open. */
void receiver_restart(struct receiver *r);

/*
 * Takes one DEPI frame, which remains the caller's and may be a chain, and puts out the DOCSIS
 * frames that it completes, `frame_info.channel` set: at most RECEIVER_FRAMES_MAX. Returns how many.
 */
unsigned receiver_take(struct receiver *r, struct rte_mbuf *depi, struct rte_mbuf **frames);
