/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds the CRC and encrypts as a modem does, with the crypto direction of the CMTS' downstream. */
#include "modems/uplink_encrypt.h"

#include <rte_common.h>

bool uplink_encryptor_create(struct uplink_encryptor *e, struct crypto_provider *provider) {
	e->queue = crypto_queue_open(provider, CRYPTO_DOWNLINK);
	return e->queue != NULL;
}

void uplink_encryptor_free(struct uplink_encryptor *e) {
	if (e->queue != NULL)
		crypto_queue_close(e->queue);
	e->queue = NULL;
}

void uplink_encrypt_add(struct uplink_encryptor *e, const struct uplink_piece *piece) {
	struct rte_mbuf *m = &e->views[e->count];

	m->buf_addr = piece->data;
	m->data_len = piece->size;
	m->pkt_len = piece->size;
	m->nb_segs = 1;
	e->frames[e->count++] = (struct crypto_frame){
		.m = m,
		.key = piece->key,
		.clear = piece->clear,
		.parts = piece->has_crc ? CRYPTO_CIPHER | CRYPTO_CRC : CRYPTO_CIPHER,
	};
}

/* Returns the number of frames that left the queue. */
static unsigned encrypt_collect(struct uplink_encryptor *e) {
	struct rte_mbuf *good[CRYPTO_BURST];
	struct crypto_failed failed[CRYPTO_BURST];
	uint16_t failures, n = crypto_collect(e->queue, good, failed, &failures);

	e->errors += failures;
	return (unsigned)n + failures;
}

void uplink_encrypt(struct uplink_encryptor *e) {
	unsigned submitted = 0, collected = 0;

	while (collected < e->count) {
		uint16_t n = (uint16_t)RTE_MIN(e->count - submitted, (unsigned)CRYPTO_BURST);

		submitted += crypto_submit(e->queue, e->frames + submitted, n);
		if (submitted == collected) { /* refused into an empty queue */
			e->errors += e->count - submitted;
			break;
		}
		collected += encrypt_collect(e);
	}
	e->count = 0;
}
