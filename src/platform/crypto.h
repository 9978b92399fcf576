/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DPDK crypto device that does DOCSIS BPI+ and the Ethernet CRC in one pass (rte_security,
 * RTE_SECURITY_PROTOCOL_DOCSIS).
 */
#pragma once

#include <stdint.h>

#include <rte_crypto.h>
#include <rte_mempool.h>

#define DOCSIS_IV_OFFSET (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define DOCSIS_IV_SIZE 16
#define CRYPTO_OPS_MIN 512

enum crypto_direction {
	CRYPTO_DOWNLINK, /* CRC generated, then encrypted: the CMTS sends, a modem receives */
	CRYPTO_UPLINK, /* decrypted, then CRC verified */
};

struct docsis_crypto {
	uint8_t device;
	void *security; /* the device's rte_security context */
	struct rte_mempool *ops; /* rte_crypto_op with room for the IV at DOCSIS_IV_OFFSET */
	struct rte_mempool *sessions;
};

/*
 * Creates an aesni_mb device `name` with `queue_pairs` queues and room for `sessions` sessions and
 * `ops` operations in flight, at least CRYPTO_OPS_MIN. Returns 0, or -1 after a message.
 */
int crypto_open(struct docsis_crypto *c, const char *name, unsigned queue_pairs, unsigned sessions,
		unsigned ops);

/* A session for AES-128; NULL when none is left or the device refuses. To be given to
 * crypto_session_free() before crypto_close(). */
void *crypto_session(struct docsis_crypto *c, enum crypto_direction direction,
		     const uint8_t key[16]);

void crypto_session_free(struct docsis_crypto *c, void *session);

/* Frees device and pools; sessions must have been freed. */
void crypto_close(struct docsis_crypto *c);
