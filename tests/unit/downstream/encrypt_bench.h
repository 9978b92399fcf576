/* SPDX-License-Identifier: BSD-3-Clause */
/* The encrypt stages on their own: a crypto provider, four flows, packets. */
#pragma once

#include <rte_mempool.h>

#include "crypto/providers.h"
#include "downstream/downstream.h"

#include "random.h"

#define ENCRYPT_FLOWS 4
#define ENCRYPT_CLEAR_FLOW 3 /* not encrypted, CRC only */
#define ENCRYPT_PACKETS 512

struct encrypt_bench {
	struct crypto_provider *crypto;
	struct rte_mempool *packets;
	struct ds_tables tables;
	struct ds_flow flows[ENCRYPT_FLOWS];
	uint8_t keys[ENCRYPT_FLOWS][16];
	struct ds_lower lower;
	struct random random;
};

extern struct encrypt_bench encrypt_bench;

/* EAL and the bench, in the form that cmocka_run_group_tests() takes. */
int encrypt_bench_open(void **state);

/* The last test of the group (a failure in the end of a group would not count): fails where a
 * packet or key is missing. */
void encrypt_bench_end(void **state);

/* Gives the flow a key and a header of so many bytes. */
void encrypt_flow_make(unsigned flow, const uint8_t *key, const uint8_t *iv, uint8_t header_size);

/* Flows of different keys, IVs and header sizes. */
void encrypt_flows_make(void);

/* A DOCSIS frame of the flow, room for its CRC included. */
struct rte_mbuf *encrypt_frame(const uint8_t *bytes, size_t size, uint32_t flow);

/* All that the provider has, in order. */
unsigned encrypt_collect(struct rte_mbuf **out);
