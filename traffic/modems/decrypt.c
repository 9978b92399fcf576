/* SPDX-License-Identifier: BSD-3-Clause */
/* Decrypts and verifies the CRC as a modem does. Uses the crypto direction of CMTS upstream. */
#include "modems/decrypt.h"

#include <string.h>

#include "wire/docsis_mac.h"

bool decryptor_create(struct decryptor *d, struct crypto_provider *provider, bool verifies_crc) {
	d->verifies_crc = verifies_crc;
	d->queue = crypto_queue_open(provider, CRYPTO_UPLINK);
	return d->queue != NULL;
}

void decryptor_free(struct decryptor *d) {
	if (d->queue != NULL)
		crypto_queue_close(d->queue);
	d->queue = NULL;
}

static void frame_fill(const struct decryptor *d, struct crypto_frame *f, struct rte_mbuf *m) {
	const struct frame_info *info = frame_info(m);

	*f = (struct crypto_frame){
		.m = m,
		.key = info->key,
		.pdu = info->header_size,
		.clear = (uint16_t)(info->header_size + DOCSIS_CLEAR_SIZE),
		.parts = (d->verifies_crc ? CRYPTO_CRC : 0) |
			 (info->key->cipher == CIPHER_NONE ? 0 : CRYPTO_CIPHER),
	};
}

/* Returns the number of frames that left the queue. */
static unsigned decrypt_collect(struct decryptor *d) {
	struct rte_mbuf *good[CRYPTO_BURST];
	struct crypto_failed failed[CRYPTO_BURST];
	uint16_t failures, n = crypto_collect(d->queue, good, failed, &failures);

	for (unsigned i = 0; i < n; i++)
		frame_info(good[i])->decrypted = DECRYPTED_GOOD;
	for (unsigned i = 0; i < failures; i++)
		frame_info(failed[i].m)->decrypted =
			failed[i].why == CRYPTO_FAILED_CRC ? DECRYPTED_BAD_CRC : DECRYPTED_ERROR;
	return (unsigned)n + failures;
}

void decrypt(struct decryptor *d, struct rte_mbuf **frames, unsigned n) {
	struct crypto_frame wanted[DECRYPT_BURST];
	unsigned submitted = 0, collected = 0;

	for (unsigned i = 0; i < n; i++) {
		frame_info(frames[i])->decrypted = DECRYPTED_ERROR;
		frame_fill(d, &wanted[i], frames[i]);
	}
	while (collected < n) {
		submitted += crypto_submit(d->queue, wanted + submitted, (uint16_t)(n - submitted));
		/* The empty queue accepts no frame: the rest keeps DECRYPTED_ERROR. */
		if (submitted == collected)
			return;
		collected += decrypt_collect(d);
	}
}
