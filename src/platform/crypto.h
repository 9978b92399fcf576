/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DPDK crypto device that does DOCSIS BPI+ and the Ethernet CRC in one pass (rte_security,
 * RTE_SECURITY_PROTOCOL_DOCSIS).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_crypto.h>
#include <rte_cryptodev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>
#include <rte_security.h>

#include "wire/docsis_mac.h"

#define DOCSIS_IV_OFFSET (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define DOCSIS_IV_SIZE 16
#define CRYPTO_OPS_MIN 512
#define CRYPTO_SESSION_POOLS 32

enum crypto_direction {
	CRYPTO_DOWNLINK, /* CRC generated, then encrypted: the CMTS sends, a modem receives */
	CRYPTO_UPLINK, /* decrypted, then CRC verified */
};

struct docsis_crypto {
	char name[16]; /* as pools begin with */
	uint8_t device;
	bool runs;
	void *security; /* the device's rte_security context */
	struct rte_mempool *ops; /* rte_crypto_op with room for the IV at DOCSIS_IV_OFFSET */
	/* Made when they are needed, as most of what there may be is for changes that never come. */
	struct rte_mempool *sessions[CRYPTO_SESSION_POOLS];
	unsigned session_pools;
	unsigned sessions_left; /* that these pools have no place for */
	unsigned sessions_a_pool;
};

/*
 * Creates an aesni_mb device `name` with `queue_pairs` queues and room for `sessions` sessions and
 * `ops` operations in flight, at least CRYPTO_OPS_MIN, of which a queue takes up to 4096. Returns 0, or -1 after a message: then nothing is left of it.
 */
int crypto_open(struct docsis_crypto *c, const char *name, unsigned queue_pairs, unsigned sessions,
		unsigned ops);

/* A session for AES-128; NULL when none is left, memory is short or the device refuses. To be given to
 * crypto_session_free() before crypto_close(). By one thread at a time. */
void *crypto_session(struct docsis_crypto *c, enum crypto_direction direction,
		     const uint8_t key[16]);

void crypto_session_free(struct docsis_crypto *c, void *session);

/* From now on the device touches nothing: what it has may be freed. */
void crypto_stop(struct docsis_crypto *c);

/* Frees device and pools; sessions must have been freed. */
void crypto_close(struct docsis_crypto *c);

/*
 * Fetches into the cache what the driver reads of a session: cipher and key schedule, hash, size of the
 * digest. With many modems each packet has another session, and the driver would wait for these lines.
 * They stand there in DPDK 22.11; elsewhere this costs time, no more.
 */
static inline void crypto_prefetch(const void *session) {
	static const unsigned lines[] = {0x40, 0x80, 0xc0, 0x100, 0x440, 0x580};

	for (size_t i = 0; i < RTE_DIM(lines); i++)
		rte_prefetch0((const uint8_t *)session + lines[i]);
}

/*
 * Fills an operation on the frame `m`, whose DOCSIS header has `header` bytes: the CRC covers the PDU
 * up to its last four bytes, which are the CRC's; the cipher, where there is one, covers the PDU
 * without the two MAC addresses (SEC). `iv` has DOCSIS_IV_SIZE bytes.
 */
static inline void crypto_fill(struct rte_crypto_op *op, struct rte_mbuf *m, uint32_t header,
			       void *session, const uint8_t *iv, bool encrypted) {
	uint32_t pdu = rte_pktmbuf_data_len(m) - header;
	struct rte_crypto_sym_op *sym = op->sym;

	crypto_prefetch(session);
	rte_security_attach_session(op, session);
	sym->m_src = m;
	sym->m_dst = NULL;
	sym->auth.data.offset = header;
	sym->auth.data.length = pdu - 4;
	sym->cipher.data.offset = header + DOCSIS_CLEAR_SIZE;
	sym->cipher.data.length = encrypted ? pdu - DOCSIS_CLEAR_SIZE : 0;
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, DOCSIS_IV_OFFSET), iv, DOCSIS_IV_SIZE);
}
