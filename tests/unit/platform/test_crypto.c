/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crypto device itself: DPDK's vectors in both directions, those too that the stages have no
 * use for (no CRC, encryption from elsewhere on), wrong CRCs, and sessions that run out.
 */
#include "test.h"

#include <rte_cryptodev.h>
#include <rte_security.h>

#include "platform/crypto.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#include "fixture.h"
#include "random.h"
#include "sessions.h"
#include "vectors.h"

#define OPS 512
#define SESSIONS 4

static struct docsis_crypto crypto;
static struct rte_mempool *packets;

static int open_all(void **state) {
	fixture_start(state);
	assert_int_equal(crypto_open(&crypto, "crypto", 1, SESSIONS, OPS), 0);
	packets = fixture_pool("packets", 64, FIXTURE_ROOM);
	return 0;
}

/* A test and no end of the group: a failure there would not count. */
static void nothing_is_left(void **state) {
	(void)state;
	assert_int_equal(rte_mempool_in_use_count(crypto.ops), 0);
	assert_int_equal(sessions_in_use(&crypto), 0);
	crypto_close(&crypto);
	fixture_pool_end(packets);
}

/* Where CRC and encryption are to be. */
struct work {
	uint32_t crc_offset, crc_length; /* 0: none */
	uint32_t cipher_offset, cipher_length; /* 0: none */
};

/* One operation in place. Returns its status. */
static enum rte_crypto_op_status run(void *session, const uint8_t iv[16], struct rte_mbuf *m,
				     const struct work *w) {
	struct rte_crypto_op *op = rte_crypto_op_alloc(crypto.ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	struct rte_crypto_op *done = NULL;
	enum rte_crypto_op_status status;

	assert_non_null(op);
	rte_security_attach_session(op, session);
	op->sym->m_src = m;
	op->sym->auth.data.offset = w->crc_offset;
	op->sym->auth.data.length = w->crc_length;
	op->sym->cipher.data.offset = w->cipher_offset;
	op->sym->cipher.data.length = w->cipher_length;
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, DOCSIS_IV_OFFSET), iv, DOCSIS_IV_SIZE);
	assert_int_equal(rte_cryptodev_enqueue_burst(crypto.device, 0, &op, 1), 1);
	for (int tries = 0; done == NULL && tries < 1000; tries++)
		rte_cryptodev_dequeue_burst(crypto.device, 0, &done, 1);
	assert_ptr_equal(done, op);
	status = (enum rte_crypto_op_status)op->status;
	rte_crypto_op_free(op);
	return status;
}

static void get(const char *set, const char *part, struct vector *out) {
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", set, part);
	vector_get("bpi.txt", name, out);
}

struct vector_case {
	const char *name;
	uint32_t cipher_offset;
	bool crc, cipher;
};

static const struct vector_case cases[] = {
	{"dpdk_1", 18, true, true},    {"dpdk_2", 18, true, true},   {"dpdk_3", 18, true, true},
	{"dpdk_4", 18, true, true},    {"dpdk_5", 18, true, true},   {"dpdk_6", 18, true, true},
	{"dpdk_7", 40, true, true},    {"dpdk_8", 18, false, true},  {"dpdk_9", 40, false, true},
	{"dpdk_10", 18, true, false},  {"dpdk_11", 40, true, false}, {"dpdk_12", 18, false, false},
	{"dpdk_13", 40, false, false}, {"sec_19", 18, true, true},   {"sec_31", 18, true, true},
};

static struct work work_of(const struct vector_case *c, size_t size) {
	uint32_t bytes = (uint32_t)size;

	return (struct work){
		.crc_offset = DOCSIS_MAC_HEADER,
		.crc_length = c->crc ? bytes - DOCSIS_MAC_HEADER - ETHERNET_CRC_SIZE : 0,
		.cipher_offset = c->cipher_offset,
		.cipher_length = c->cipher ? bytes - c->cipher_offset : 0,
	};
}

static void *session_of(const char *name, enum crypto_direction direction, struct vector *iv) {
	char set[8];
	struct vector key;
	void *session;

	snprintf(set, sizeof(set), "%.*s", (int)strcspn(name, "_"), name);
	get(set, "key", &key);
	get(set, "iv", iv);
	session = crypto_session(&crypto, direction, key.bytes);
	assert_non_null(session);
	return session;
}

static void downlink_vectors(void **state) {
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct vector iv, clear, sent;
		void *session = session_of(cases[i].name, CRYPTO_DOWNLINK, &iv);
		struct rte_mbuf *m;
		struct work w;

		get(cases[i].name, "clear", &clear);
		get(cases[i].name, "sent", &sent);
		assert_int_equal(clear.size, sent.size);
		m = fixture_packet(packets, clear.bytes, clear.size);
		w = work_of(&cases[i], clear.size);
		assert_int_equal(run(session, iv.bytes, m, &w), RTE_CRYPTO_OP_STATUS_SUCCESS);
		if (memcmp(rte_pktmbuf_mtod(m, void *), sent.bytes, sent.size) != 0)
			fail_msg("%s: wrong result", cases[i].name);
		rte_pktmbuf_free(m);
		crypto_session_free(&crypto, session);
	}
}

/* The way back, as a modem does it. Its CRC field then holds what was sent, not the vector's FF. */
static void uplink_vectors(void **state) {
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct vector iv, clear, sent;
		void *session = session_of(cases[i].name, CRYPTO_UPLINK, &iv);
		struct rte_mbuf *m;
		struct work w;
		size_t same;

		get(cases[i].name, "clear", &clear);
		get(cases[i].name, "sent", &sent);
		same = clear.size - (cases[i].crc ? ETHERNET_CRC_SIZE : 0);
		m = fixture_packet(packets, sent.bytes, sent.size);
		w = work_of(&cases[i], sent.size);
		assert_int_equal(run(session, iv.bytes, m, &w), RTE_CRYPTO_OP_STATUS_SUCCESS);
		if (memcmp(rte_pktmbuf_mtod(m, void *), clear.bytes, same) != 0)
			fail_msg("%s: wrong result", cases[i].name);
		rte_pktmbuf_free(m);
		crypto_session_free(&crypto, session);
	}
}

/* One bit wrong anywhere behind the addresses, or in them: the CRC tells. */
static void uplink_finds_damage(void **state) {
	struct vector iv, sent;
	void *session = session_of("dpdk_6", CRYPTO_UPLINK, &iv);

	(void)state;
	get("dpdk_6", "sent", &sent);
	for (size_t byte = DOCSIS_MAC_HEADER; byte < sent.size; byte++) {
		const struct work w = work_of(&cases[5], sent.size);
		struct rte_mbuf *m;

		sent.bytes[byte] ^= (uint8_t)(1u << byte % 8);
		m = fixture_packet(packets, sent.bytes, sent.size);
		assert_int_equal(run(session, iv.bytes, m, &w), RTE_CRYPTO_OP_STATUS_AUTH_FAILED);
		rte_pktmbuf_free(m);
		sent.bytes[byte] ^= (uint8_t)(1u << byte % 8);
	}
	crypto_session_free(&crypto, session);
}

/* NIST's plain CBC vector is DOCSIS without a last block. */
static void whole_blocks_are_plain_cbc(void **state) {
	struct vector iv, clear, sent;
	void *session = session_of("nist", CRYPTO_DOWNLINK, &iv);
	const struct work w = {.crc_offset = 0, .cipher_offset = 12, .cipher_length = 64};
	uint8_t frame[12 + 64] = {0};
	struct rte_mbuf *m;

	(void)state;
	get("nist", "clear", &clear);
	get("nist", "sent", &sent);
	memcpy(frame + 12, clear.bytes, 64);
	m = fixture_packet(packets, frame, sizeof(frame));
	assert_int_equal(run(session, iv.bytes, m, &w), RTE_CRYPTO_OP_STATUS_SUCCESS);
	assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 12), sent.bytes, 64);
	rte_pktmbuf_free(m);
	crypto_session_free(&crypto, session);
}

/* As many sessions as were asked for, then no more, and again after one is freed. */
static void sessions_are_counted(void **state) {
	const uint8_t key[16] = {0};
	void *sessions[SESSIONS];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < SESSIONS; i++) {
			sessions[i] = crypto_session(&crypto, CRYPTO_DOWNLINK, key);
			assert_non_null(sessions[i]);
		}
		assert_null(crypto_session(&crypto, CRYPTO_DOWNLINK, key));
		for (int i = 0; i < SESSIONS; i++)
			crypto_session_free(&crypto, sessions[i]);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(downlink_vectors),
		cmocka_unit_test(uplink_vectors),
		cmocka_unit_test(uplink_finds_damage),
		cmocka_unit_test(whole_blocks_are_plain_cbc),
		cmocka_unit_test(sessions_are_counted),
		cmocka_unit_test(nothing_is_left),
	};

	return cmocka_run_group_tests(tests, open_all, fixture_stop);
}
