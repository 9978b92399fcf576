/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving half of the R-PHY device: extracts DOCSIS frames from DEPI frames. Checks
 * addresses, MTU, session and PSP sequence, and reassembles the segments of each session. */
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

/* Maximum number of DOCSIS frames that one DEPI frame completes: one per segment. */
#define RECEIVER_FRAMES_MAX PSP_COUNT_MAX

struct modem_state;
struct crypto_key;
struct meters;
struct modems;

/* Metadata of a DOCSIS frame from the device and the modem, in the mbuf's private area. */
struct frame_info {
	uint32_t channel; /* channel index */
	/* Set together: the modem, the generation that contains it, and its key. */
	const struct modem_state *modem;
	const struct modems *modems;
	const struct crypto_key *key;
	uint32_t stream; /* from the DSID; FRAME_NO_STREAM if the header has none */
	uint16_t number; /* packet sequence number of the DSID */
	uint16_t header_size;
	uint8_t priority;
	uint8_t ds; /* enum docsis_ds_ehdr */
	uint8_t decrypted; /* enum decrypted */
	bool head_only; /* the mbuf has only the first RECEIVER_HEAD bytes of the frame */
	uint32_t size; /* bytes of the frame */
	uint32_t stated_size; /* frame size in its header */
};

#define FRAME_NO_STREAM UINT32_MAX

static inline struct frame_info *frame_info(struct rte_mbuf *m) {
	return (struct frame_info *)rte_mbuf_to_priv(m);
}

/* Size of the private area of mbufs in the receiver's pool. */
#define FRAME_PRIVATE_SIZE RTE_ALIGN(sizeof(struct frame_info), RTE_MBUF_PRIV_ALIGN)

struct receiver;

/*
 * `frames` is the pool for DOCSIS frames, with FRAME_PRIVATE_SIZE and 2,017 bytes of data room. `meters` has
 * the channels' meters, or is NULL. All arguments must outlive the receiver. Returns NULL if memory is short.
 * The caller frees the receiver with receiver_free().
 */
struct receiver *receiver_create(const struct service_group *sg, struct rte_mempool *frames,
				 struct account *account, struct meters *meters);

/* Adds the new channels of a changed group and updates the others. Sessions of removed channels
 * stay known. Adds no session when three quarters of the table are in use. */
void receiver_set_channels(struct receiver *r, const struct channel *channels, uint32_t count);

/* Whether a channel has or had this session. */
bool receiver_has_session(struct receiver *r, uint32_t id);

/* Whether DEPI frames of unknown sessions are left unresolved, because a change may be about to add
 * their channel. */
void receiver_keep_unknown(struct receiver *r, bool keep);

/* Also frees incomplete frames. */
void receiver_free(struct receiver *r);

/* Bytes of a frame that receiver_wants_fn needs. */
#define RECEIVER_HEAD 64

/* Whether the receiver shall copy the rest of a frame of which `head` has RECEIVER_HEAD bytes. */
typedef bool (*receiver_wants_fn)(void *ctx, struct rte_mbuf *head);

/*
 * Restarts: every session starts with its next DEPI frame, whatever its number, and incomplete frames are
 * dropped. The receiver does not copy the rest of frames for which `wants` returns false; NULL: copies all.
 */
void receiver_restart(struct receiver *r, receiver_wants_fn wants, void *ctx);

/*
 * Processes one DEPI frame, which may be a chain and remains the caller's. Writes the DOCSIS frames that it
 * completes, at most RECEIVER_FRAMES_MAX, to `frames`, with channel, head_only and size set in their info. The
 * caller owns them. Returns their number, or RECEIVER_UNKNOWN without counting the frame if its session is unresolved.
 */
#define RECEIVER_UNKNOWN UINT_MAX
unsigned receiver_process(struct receiver *r, struct rte_mbuf *depi, struct rte_mbuf **frames);
