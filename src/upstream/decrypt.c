/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decrypt: the key sequence number selects one of the modem's two keys (SEC), or a replaced key until
 * its change retires. The toggle must equal the lowest bit of the number. The crypto provider decrypts (BPI+)
 * and, if configured, verifies the Ethernet CRC in the same pass.
 *
 * There are two stages, so that a provider can work while the worker prepares the next burst.
 * Frames in the clear bypass the provider. Their modem has no key, so the order of a flow is kept.
 */
#include "upstream/decrypt.h"

#include "crypto/crypto.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"
#include "wire/docsis_up.h"

#define STOP_TRIES 1000

/* The key with the frame's sequence number among US_GENERATIONS `keys`, or NULL. */
static const struct crypto_key *key_in(const struct crypto_key *keys, const struct us_meta *meta) {
	for (unsigned k = 0; k < US_GENERATIONS; k++) {
		if (keys[k].schedule != NULL && keys[k].sequence == meta->frame.key_sequence)
			return &keys[k];
	}
	return NULL;
}

/* The frame's key, or NULL if none has its sequence number and toggle. */
static const struct crypto_key *key_of(const struct us_decrypt *stage, const struct us_flow *f,
				       const struct us_meta *meta) {
	const struct crypto_key *key, *retired;

	if (meta->frame.toggle != (meta->frame.key_sequence & 1))
		return NULL;
	key = key_in(f->keys, meta);
	if (key != NULL)
		return key;
	retired = stage->tables->modems[f->modem].retired;
	return retired != NULL ? key_in(retired, meta) : NULL;
}

/* Checks the privacy fields of a frame and sets `key`, to NULL if the frame is in the clear.
 * Returns the reason to drop the frame, or DROP_NONE. */
static enum drop_reason frame_privacy(const struct us_decrypt *stage, const struct us_flow *f,
				      const struct us_meta *meta, const struct crypto_key **key) {
	*key = NULL;
	if (meta->frame.privacy && !us_flow_has_sid(f, meta->frame.sid))
		return DROP_PRIVACY_SID;
	if (!meta->frame.encrypted)
		return f->has_key ? DROP_PRIVACY_MISSING : DROP_NONE;
	*key = key_of(stage, f, meta);
	return *key == NULL ? DROP_KEY_UNKNOWN : DROP_NONE;
}

/* A fragment has no addresses in the clear. Its CRC covers the fragment, and the stage defragment
 * checks it. */
static void decrypt_fill(const struct us_decrypt *stage, struct crypto_frame *f, struct rte_mbuf *m,
			 const struct crypto_key *key) {
	bool fragment = us_meta(m)->frame.fragment;

	*f = (struct crypto_frame){
		.m = m,
		.key = key,
		.clear = fragment ? DOCSIS_FRAGMENT_CLEAR : DOCSIS_CLEAR_SIZE,
		.parts =
			stage->verify_crc && !fragment ? CRYPTO_CIPHER | CRYPTO_CRC : CRYPTO_CIPHER,
	};
}

bool us_clear_frame_accept(const struct us_decrypt *stage, struct rte_mbuf *m) {
	count(stage->counters, COUNTER_CLEAR, 1);
	if (!stage->verify_crc || us_meta(m)->frame.fragment)
		return true;
	count(stage->counters, COUNTER_CRC_VERIFIED, 1);
	if (ethernet_crc_good(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len))
		return true;
	drop(stage->counters, m, DROP_FRAME_CRC);
	return false;
}

/* Submits frames to the crypto provider, and drops those that it does not accept. */
static void frames_submit(struct us_decrypt *stage, const struct crypto_frame *frames, uint16_t n) {
	static const enum counter counters[CIPHERS] = {
		[CIPHER_AES_128] = COUNTER_DECRYPTED_AES_128,
		[CIPHER_AES_256] = COUNTER_DECRYPTED_AES_256,
		[CIPHER_DES] = COUNTER_DECRYPTED_DES,
	};
	uint32_t by_cipher[CIPHERS] = {0};
	uint16_t accepted = crypto_submit(stage->r->crypto, frames, n), with_crc = 0;

	for (uint16_t i = 0; i < accepted; i++) {
		by_cipher[frames[i].key->cipher]++;
		with_crc += (frames[i].parts & CRYPTO_CRC) != 0;
	}
	count(stage->counters, COUNTER_CRC_VERIFIED, with_crc);
	for (uint16_t i = accepted; i < n; i++)
		drop(stage->counters, frames[i].m, DROP_CRYPTO_FULL);
	for (unsigned cipher = CIPHER_NONE + 1; cipher < CIPHERS; cipher++)
		count(stage->counters, counters[cipher], by_cipher[cipher]);
	count(stage->counters, COUNTER_DECRYPTED, accepted);
}

uint16_t us_decrypt_submit(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_decrypt *stage = ctx;
	struct crypto_frame encrypted[PIPELINE_BURST];
	uint16_t kept = 0, used = 0;

	for (uint16_t i = 0; i < n; i++) {
		const struct us_flow *f = &stage->tables->flows[us_meta(pkts[i])->frame.flow];
		const struct crypto_key *key;
		enum drop_reason reason = frame_privacy(stage, f, us_meta(pkts[i]), &key);

		if (reason != DROP_NONE)
			drop(stage->counters, pkts[i], reason);
		else if (key != NULL)
			decrypt_fill(stage, &encrypted[used++], pkts[i], key);
		else if (us_clear_frame_accept(stage, pkts[i]))
			pkts[kept++] = pkts[i];
	}
	if (used > 0)
		frames_submit(stage, encrypted, used);
	return kept;
}

static enum drop_reason failure_reason(enum crypto_failure why) {
	static const enum drop_reason reasons[] = {
		[CRYPTO_FAILED_CRC] = DROP_FRAME_CRC,
		[CRYPTO_FAILED] = DROP_CRYPTO_ERROR,
		[CRYPTO_LOST] = DROP_CRYPTO_LOST,
	};

	return reasons[why];
}

uint16_t us_decrypt_collect(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_decrypt *stage = ctx;
	struct crypto_failed failed[CRYPTO_BURST];
	uint16_t failures;

	n = (uint16_t)(n + crypto_collect(stage->r->crypto, pkts + n, failed, &failures));
	for (uint16_t i = 0; i < failures; i++)
		drop(stage->counters, failed[i].m, failure_reason(failed[i].why));
	return n;
}

uint64_t us_decrypt_collect_pending(const void *ctx, enum unit unit) {
	const struct us_decrypt *stage = ctx;

	return unit == UNIT_FRAME ? stage->r->crypto->pending : 0;
}

/* After STOP_TRIES, frames stay in the device, pending. crypto_queue_close() frees them. */
void us_decrypt_collect_stop(void *ctx) {
	struct us_decrypt *stage = ctx;
	struct rte_mbuf *pkts[PIPELINE_BURST];

	for (int tries = 0; stage->r->crypto->pending > 0 && tries < STOP_TRIES; tries++) {
		uint16_t n = us_decrypt_collect(stage, pkts, 0);

		for (uint16_t i = 0; i < n; i++)
			drop(stage->counters, pkts[i], DROP_STOPPED);
	}
}
