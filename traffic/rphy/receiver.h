/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The R-PHY device: takes DEPI frames apart into DOCSIS frames. Checks addresses, MTU, session and
 * PSP sequence, and puts the segments of each session together again.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "model/service_group.h"
#include "proof/account.h"
#include "proof/window.h"
#include "wire/psp.h"

/* DOCSIS frames that one DEPI frame can complete: one a segment. */
#define RECEIVER_FRAMES_MAX PSP_COUNT_MAX

struct modem_state;
struct crypto_key;
struct meters;
struct modems;

/* What the device knows of a DOCSIS frame, and what the modem adds: in the mbuf's private area. */
struct frame_info {
	uint32_t channel; /* index */
	/* Set with it: the modem, those of which it is one, and the generation of its key. */
	const struct modem_state *modem;
	const struct modems *modems;
	const struct crypto_key *key;
	uint32_t stream; /* by the DSID; FRAME_NO_STREAM where the header has none */
	uint16_t number; /* packet sequence number of the DSID */
	uint16_t header_size;
	uint8_t priority;
	uint8_t ds; /* enum docsis_ds_ehdr */
	uint8_t decrypted; /* enum decrypted */
	bool head_only; /* the mbuf has RECEIVER_HEAD bytes of the frame, the rest was not wanted */
	uint32_t size; /* bytes of the frame */
	uint32_t told_size; /* by its header */
};

#define FRAME_NO_STREAM UINT32_MAX

static inline struct frame_info *frame_info(struct rte_mbuf *m) {
	return (struct frame_info *)rte_mbuf_to_priv(m);
}

/* The private area that the mbufs of the receiver's pool must have. */
#define FRAME_PRIVATE_SIZE RTE_ALIGN(sizeof(struct frame_info), RTE_MBUF_PRIV_ALIGN)

struct receiver;

/*
 * `frames` is the pool for DOCSIS frames, with FRAME_PRIVATE_SIZE and room for 2,017 bytes. `meters` of the channels,
 * or NULL, must live on. Returns NULL when memory is short. To be freed by receiver_free().
 */
struct receiver *receiver_create(const struct service_group *sg, struct rte_mempool *frames,
				 struct account *account, struct meters *meters);

/* Adds what is not there of the channels of a group that has changed, and knows the others by what they are
 * now; what went is known on. More than three in four of its places are not taken. */
void receiver_set_channels(struct receiver *r, const struct channel *channels, uint32_t count);

/* Whether a channel has, or had, this session. */
bool receiver_has_session(struct receiver *r, uint32_t id);

/* Whether DEPI frames of sessions that no channel has are left alone, as these may be about to come. */
void receiver_hold_unknown(struct receiver *r, bool hold);

/* Frees also the frames that are not complete. */
void receiver_free(struct receiver *r);

/* The bytes of a frame by which it is decided whether the rest is wanted. */
#define RECEIVER_HEAD 64

/* Whether the rest of a frame is wanted, of which RECEIVER_HEAD bytes have come. */
typedef bool (*receiver_wants_fn)(void *ctx, struct rte_mbuf *head);

/*
 * Sessions start with their next DEPI frame, whatever its number, and no frame is open. From now on the
 * bytes of frames are left where they are that `wants` does not want; NULL: all are wanted.
 */
void receiver_restart(struct receiver *r, receiver_wants_fn wants, void *ctx);

/*
 * Takes one DEPI frame, which remains the caller's and may be a chain, and puts out the DOCSIS
 * frames that it completes, channel, head_only and size in their info set: at most
 * RECEIVER_FRAMES_MAX. Returns how many, or RECEIVER_UNKNOWN with nothing counted.
 */
#define RECEIVER_UNKNOWN UINT_MAX
unsigned receiver_take(struct receiver *r, struct rte_mbuf *depi, struct rte_mbuf **frames);
