/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encrypt: Ethernet CRC and BPI+ in one pass of the group's crypto provider. The CRC covers the
 * PDU. The cipher covers all but the two MAC addresses, CRC included (SEC). Two stages, as a
 * provider may work while the next burst is prepared.
 */
#include <rte_mbuf.h>

#include "crypto/crypto.h"
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define STOP_TRIES 1000

/* Without a CRC its field holds zeros. */
static void crc_clear(struct rte_mbuf *m) {
	memset(rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len - ETHERNET_CRC_SIZE), 0,
	       ETHERNET_CRC_SIZE);
}

static void encrypt_fill(const struct ds_lower *l, struct crypto_frame *f, struct rte_mbuf *m,
			 const struct ds_flow *flow) {
	*f = (struct crypto_frame){
		.m = m,
		.key = &flow->key,
		.pdu = flow->header_size,
		.clear = (uint16_t)(flow->header_size + DOCSIS_CLEAR_SIZE),
		.parts = l->crypto_parts[flow->key.cipher],
	};
	if (unlikely((f->parts & CRYPTO_CRC) == 0))
		crc_clear(m);
}

/* Counts frames by cipher, and those in the clear. */
static void frames_count(struct ds_lower *l, const uint32_t *by_cipher) {
	static const enum counter counters[CIPHERS] = {
		[CIPHER_NONE] = COUNTER_CLEAR,
		[CIPHER_AES_128] = COUNTER_ENCRYPTED_AES_128,
		[CIPHER_AES_256] = COUNTER_ENCRYPTED_AES_256,
		[CIPHER_DES] = COUNTER_ENCRYPTED_DES,
	};
	uint32_t all = 0, with_crc = 0;

	for (enum cipher cipher = CIPHER_NONE; cipher < CIPHERS; cipher++) {
		count(&l->counters, counters[cipher], by_cipher[cipher]);
		all += by_cipher[cipher];
		with_crc += (l->crypto_parts[cipher] & CRYPTO_CRC) != 0 ? by_cipher[cipher] : 0;
	}
	count(&l->counters, COUNTER_ENCRYPTED, all - by_cipher[CIPHER_NONE]);
	count(&l->counters, COUNTER_CRC_GENERATED, with_crc);
}

uint16_t ds_encrypt_submit(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;
	struct crypto_frame frames[PIPELINE_BURST];
	uint32_t by_cipher[CIPHERS] = {0};
	uint16_t accepted;

	for (uint16_t i = 0; i < n; i++)
		encrypt_fill(l, &frames[i], pkts[i], &l->tables->flows[packet_meta(pkts[i])->flow]);
	accepted = crypto_submit(l->crypto, frames, n);
	for (uint16_t i = 0; i < accepted; i++)
		by_cipher[frames[i].key->cipher]++;
	for (uint16_t i = accepted; i < n; i++)
		drop(&l->counters, pkts[i], DROP_CRYPTO_FULL);
	l->submitted += accepted;
	frames_count(l, by_cipher);
	return 0;
}

uint16_t ds_encrypt_collect(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;
	struct crypto_failed failed[CRYPTO_BURST];
	uint16_t failures;

	(void)n; /* the submit stage returns no packets */
	n = crypto_collect(l->crypto, pkts, failed, &failures);
	for (uint16_t i = 0; i < failures; i++)
		drop(&l->counters, failed[i].m,
		     failed[i].why == CRYPTO_LOST ? DROP_CRYPTO_LOST : DROP_CRYPTO_ERROR);
	return n;
}

uint64_t ds_encrypt_collect_pending(const void *downstream, enum unit unit) {
	const struct downstream *d = downstream;

	(void)unit;
	return d->lower.crypto->pending;
}

/* After STOP_TRIES, frames stay in the device, pending. crypto_queue_close() frees them. */
void ds_encrypt_collect_stop(void *downstream) {
	struct downstream *d = downstream;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	for (int tries = 0; d->lower.crypto->pending > 0 && tries < STOP_TRIES; tries++) {
		uint16_t n = ds_encrypt_collect(&d->lower, pkts, 0);

		for (uint16_t i = 0; i < n; i++)
			drop(&d->lower.counters, pkts[i], DROP_STOPPED);
	}
}
