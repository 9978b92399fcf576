/* SPDX-License-Identifier: BSD-3-Clause */
/* intel-ipsec-mb called directly, beside AES and CRC spelled out. */
#include "test.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "crypto/ipsec_mb.h"
#include "crypto/cryptodev.h"
#include <stdlib.h>
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#include "fixture.h"
#include "plain_aes.h"
#include "random.h"

#define ROOM 16384
#define FRAMES 64

static struct crypto_provider *provider;

static int open_all(void **state) {
	fixture_start(state);
	provider = getenv("DEV") ? cryptodev_open(getenv("DEV"), &(struct cryptodev_options){4, 256, 1000, SOCKET_ID_ANY}) : ipsec_mb_open(SOCKET_ID_ANY);
	assert_non_null(provider);
	return 0;
}

static void nothing_is_left(void **state) {
	(void)state;
	provider->functions->close(provider);
}

struct burst {
	struct crypto_key keys[FRAMES];
	uint8_t key_bytes[FRAMES][16];
	struct rte_mbuf packets[FRAMES];
	struct crypto_frame frames[FRAMES];
	uint8_t bytes[FRAMES][ROOM], clear[FRAMES][ROOM];
	unsigned count;
};

static struct burst burst;

static void frame_make(struct random *r, unsigned f, unsigned header, unsigned pdu) {
	struct burst *b = &burst;
	unsigned at = (unsigned)random_below(r, 64);

	for (unsigned i = 0; i < 16; i++) {
		b->key_bytes[f][i] = (uint8_t)random_next(r);
		b->keys[f].iv[i] = (uint8_t)random_next(r);
	}
	for (unsigned i = 0; i < header + pdu; i++)
		b->clear[f][i] = (uint8_t)random_next(r);
	memcpy(b->bytes[f] + at, b->clear[f], header + pdu);
	b->keys[f].cipher = CIPHER_AES_128;
	b->keys[f].schedule = crypto_key_make(provider, CRYPTO_DOWNLINK, CIPHER_AES_128, b->key_bytes[f]);
	assert_non_null(b->keys[f].schedule);
	b->packets[f] = (struct rte_mbuf){.buf_addr = b->bytes[f], .data_off = (uint16_t)at, .data_len = (uint16_t)(header + pdu)};
	b->frames[f] = (struct crypto_frame){&b->packets[f], &b->keys[f], (uint16_t)header, (uint16_t)(header + DOCSIS_CLEAR_SIZE), CRYPTO_CRC | CRYPTO_CIPHER};
}

static void frame_right(unsigned f) {
	struct burst *b = &burst;
	unsigned size = b->packets[f].data_len, header = b->frames[f].pdu;

	ethernet_crc_write(b->clear[f] + header, size - header - 4);
	bpi_encrypt(b->key_bytes[f], b->keys[f].iv, b->clear[f] + header + DOCSIS_CLEAR_SIZE, size - header - DOCSIS_CLEAR_SIZE);
	assert_memory_equal(b->clear[f], rte_pktmbuf_mtod(&b->packets[f], uint8_t *), size);
	crypto_key_free(provider, CRYPTO_DOWNLINK, CIPHER_AES_128, b->keys[f].schedule);
}

static void frames_are_as_spelled_out(void **state) {
	struct crypto_queue *q = crypto_queue_open(provider, CRYPTO_DOWNLINK);
	struct random r = {.state = 5};
	struct rte_mbuf *good[CRYPTO_BURST];
	struct crypto_failed failed[CRYPTO_BURST];
	uint16_t failures;

	(void)state;
	for (unsigned turn = 0; turn < 60; turn++) {
		unsigned n = 1 + (unsigned)random_below(&r, FRAMES), came = 0;

		for (unsigned f = 0; f < n; f++)
			frame_make(&r, f, (unsigned)random_below(&r, 20), 16 + (unsigned)random_below(&r, turn % 10 == 0 ? 8000 : 300));
		assert_int_equal(crypto_submit(q, burst.frames, (uint16_t)n), n);
		while (q->held > 0) {
			uint16_t got = crypto_collect(q, good, failed, &failures);

			for (uint16_t i = 0; i < got; i++)
				assert_ptr_equal(good[i], &burst.packets[came++]);
			assert_int_equal(failures, 0);
		}
		assert_int_equal(came, n);
		for (unsigned f = 0; f < n; f++)
			frame_right(f);
	}
	crypto_queue_close(q);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_as_spelled_out),
		cmocka_unit_test(nothing_is_left),
	};

	return cmocka_run_group_tests(tests, open_all, fixture_stop);
}
