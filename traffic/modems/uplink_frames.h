/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes consecutive MAC frames into a buffer:
 *
 *     +------------+-----------------+-----+    encrypted: the crypto provider adds CRC and BPI+
 *     | MAC header | Ethernet frame  | CRC |    to all frames of a round together;
 *     +------------+-----------------+-----+    not encrypted: the CRC is written at once
 */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>

#include "modems/key_store.h"
#include "modems/uplink_encrypt.h"
#include "modems/uplink_frame.h"
#include "modems/uplink_packets.h"
#include "wire/docsis_up.h"

/* frames that a modem encrypts with one key generation before it switches */
#define UPLINK_KEY_FRAMES 64

/* Bytes of the longest frame, and bytes after its end that writing a packet may touch. */
#define UPLINK_FRAME_MAX (DOCSIS_UP_HEADER_MAX + PACKET_SIZE_MAX + 4)
#define UPLINK_FRAME_SLACK PACKET_START_MAX

struct uplink_modem {
	uint32_t index; /* in the service group */
	uint8_t mac[6];
	uint8_t key_count; /* 0: not encrypted */
	bool newest; /* uses only its newest key, else the keys in alternation */
	bool same_key; /* the change that created the plan has kept the key */
	struct crypto_key keys[2];
	struct stored_key *stored[2];
	uint32_t encrypted; /* number of frames */
	uint32_t grants;
	uint32_t first_cluster, cluster_count; /* in `clusters` of the plan: its SID clusters */
};

struct uplink_frames {
	const struct frame_impairer *impairer; /* NULL: no impairments */
	struct impair *impair; /* context of `impairer` */
	const struct frame_refuser *refuser; /* NULL: no frames to drop */
	struct uplink_refused *refused; /* context of `refuser` */
	struct uplink_packets packets;
	struct uplink_encryptor encryptor;
	uint8_t cmts_mac[6];
	uint64_t management; /* messages */
	uint64_t requests; /* request frames, and requests in MAC headers */
	uint64_t fragments;
	uint64_t concatenations;
};

/* Gets the keys of modem `index` into `m`, which must be zeroed. Returns 0, or -1 after a message. The caller
 * frees it with uplink_modem_free() in either case. */
int uplink_modem_create(struct uplink_modem *m, const struct service_group *sg, uint32_t index,
			struct key_store *store);

void uplink_modem_free(struct uplink_modem *m, struct key_store *store);

/* Sets all counts to 0. */
void uplink_frames_restart(struct uplink_frames *f);

/* Whether both encrypt their next frame with the same key, if they use the newest. */
bool uplink_key_same(const struct uplink_modem *a, const struct uplink_modem *b);

/* Counts a modem's next frame. Returns its key; NULL: not encrypted. */
const struct crypto_key *uplink_key_next(struct uplink_modem *m);

/* Sets the privacy fields of a header; `key` may be NULL. */
void uplink_key_name(struct docsis_up_header *h, const struct crypto_key *key);

/* Bytes of the frame with this header and packet `sequence` of `stream`. */
uint32_t uplink_frame_size(const struct uplink_frames *f, const struct docsis_up_header *h,
			   uint32_t stream, uint32_t sequence);

/* These functions write a frame at offset `at` of a buffer and return its size. uplink_encrypt() encrypts it
 * with `key`; NULL: not encrypted. `modem` is the packet's, by index in the service group. A fragment has
 * `size` bytes of `payload`. */
uint32_t uplink_frame_packet(struct uplink_frames *f, const struct docsis_up_header *h,
			     uint32_t modem, const struct packet_tag *tag,
			     const struct crypto_key *key, struct rte_mbuf *buffer, uint32_t at);
uint32_t uplink_frame_fragment(struct uplink_frames *f, const struct docsis_up_header *h,
			       const uint8_t *payload, uint32_t size, const struct crypto_key *key,
			       struct rte_mbuf *buffer, uint32_t at);

/* Writes the unencrypted frame of a packet that will be fragmented. Returns its size. */
uint32_t uplink_frame_clear(struct uplink_frames *f, const struct docsis_up_header *h,
			    uint32_t modem, const struct packet_tag *tag, uint8_t *out);

/* Writes an RNG-REQ of station maintenance (MULPI). Returns its size, UPLINK_RANGING_SIZE. */
#define UPLINK_RANGING_SIZE 34
uint32_t uplink_frame_ranging(struct uplink_frames *f, const struct uplink_modem *m, uint16_t sid,
			      uint8_t *out);

/* Call the frame_impairer, if any, for both kinds of flows. */
static inline void impairer_choose(const struct uplink_frames *frames, const struct uplink_grant *g,
				   struct uplink_frame *f) {
	if (frames->impairer != NULL)
		frames->impairer->choose(frames->impair, g, f);
}

static inline void impairer_made(const struct uplink_frames *frames, struct uplink_grant *g,
				 const struct uplink_frame *f, uint32_t sequence, uint32_t at,
				 uint32_t size) {
	if (frames->impairer != NULL)
		frames->impairer->made(frames->impair, g, f, sequence, at, size);
}

static inline void impairer_plain_made(const struct uplink_frames *frames,
				       const struct uplink_grant *g, enum docsis_kind kind,
				       uint32_t size) {
	if (frames->impairer != NULL)
		frames->impairer->plain_made(frames->impair, g, kind, size);
}
