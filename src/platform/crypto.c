/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/crypto.h"

#include <stdio.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_security.h>

#include "platform/large_pages.h"

#define DRIVER "crypto_aesni_mb"
#define CRYPTO_DEPTH_MAX 4096u /* descriptors of a queue pair, 8 bytes each */

#define SESSIONS_A_POOL 64 /* at least */

/* What a pool element holds beside the driver's own session data: its head, a cache line. */
#define SESSION_OVERHEAD RTE_CACHE_LINE_SIZE

static int device_create(struct docsis_crypto *c, const char *name, unsigned queue_pairs) {
	char device[RTE_CRYPTODEV_NAME_MAX_LEN], args[64];
	int id;

	snprintf(device, sizeof(device), "%s_%.20s", DRIVER, name);
	snprintf(args, sizeof(args), "max_nb_queue_pairs=%u", queue_pairs);
	if (rte_eal_hotplug_add("vdev", device, args) != 0 ||
	    (id = rte_cryptodev_get_dev_id(device)) < 0) {
		fprintf(stderr,
			"crypto device %s: cannot be made; is DPDK's ipsec_mb driver there?\n",
			device);
		return -1;
	}
	c->device = (uint8_t)id;
	c->security = rte_cryptodev_get_sec_ctx(c->device);
	if (c->security == NULL) {
		fprintf(stderr, "crypto device %s: has no DOCSIS security context\n", device);
		rte_eal_hotplug_remove("vdev", device);
		return -1;
	}
	return 0;
}

static int pools_create(struct docsis_crypto *c, const char *name, unsigned sessions,
			unsigned ops) {
	char text[RTE_MEMPOOL_NAMESIZE];

	snprintf(c->name, sizeof(c->name), "%.12s", name);
	c->sessions_left = sessions;
	c->sessions_a_pool = RTE_MAX(1 + sessions / CRYPTO_SESSION_POOLS, SESSIONS_A_POOL);
	snprintf(text, sizeof(text), "%s_ops", c->name);
	c->ops = rte_crypto_op_pool_create(text, RTE_CRYPTO_OP_TYPE_SYMMETRIC, ops, 256,
					   DOCSIS_IV_SIZE, large_pages_socket());
	if (c->ops != NULL)
		return 0;
	fprintf(stderr, "crypto device %s: no memory for %u operations: %s\n", name, ops,
		rte_strerror(rte_errno));
	return -1;
}

static struct rte_mempool *session_pool_add(struct docsis_crypto *c) {
	unsigned size = rte_security_session_get_size(c->security) + SESSION_OVERHEAD;
	unsigned count = RTE_MIN(c->sessions_left, c->sessions_a_pool);
	struct rte_mempool *pool;
	char text[RTE_MEMPOOL_NAMESIZE];

	if (count == 0)
		return NULL;
	snprintf(text, sizeof(text), "%s_sess%u", c->name, c->session_pools);
	pool = rte_mempool_create(text, count, size, 0, 0, NULL, NULL, NULL, NULL,
				  large_pages_socket(), 0);
	if (pool == NULL) {
		fprintf(stderr, "crypto device %s: no memory for %u sessions: %s\n", c->name, count,
			rte_strerror(rte_errno));
		return NULL;
	}
	c->sessions_left -= count;
	c->sessions[c->session_pools++] = pool;
	return pool;
}

/* One with a free place; NULL where there is none, and none can be made. */
static struct rte_mempool *session_pool(struct docsis_crypto *c) {
	for (unsigned p = 0; p < c->session_pools; p++) {
		if (!rte_mempool_empty(c->sessions[p]))
			return c->sessions[p];
	}
	return session_pool_add(c);
}

static int device_start(struct docsis_crypto *c, unsigned queue_pairs, unsigned depth) {
	struct rte_cryptodev_config config = {
		.socket_id = SOCKET_ID_ANY,
		.nb_queue_pairs = (uint16_t)queue_pairs,
		.ff_disable = RTE_CRYPTODEV_FF_ASYMMETRIC_CRYPTO,
	};
	struct rte_cryptodev_qp_conf queue = {.nb_descriptors = depth}; /* no session-less work */
	int ret = rte_cryptodev_configure(c->device, &config);

	for (unsigned q = 0; ret == 0 && q < queue_pairs; q++)
		ret = rte_cryptodev_queue_pair_setup(c->device, (uint16_t)q, &queue, SOCKET_ID_ANY);
	if (ret == 0)
		ret = rte_cryptodev_start(c->device);
	if (ret != 0)
		fprintf(stderr, "crypto device: cannot be started: %s\n", rte_strerror(-ret));
	c->runs = ret == 0;
	return ret;
}

int crypto_open(struct docsis_crypto *c, const char *name, unsigned queue_pairs, unsigned sessions,
		unsigned ops) {
	memset(c, 0, sizeof(*c));
	if (device_create(c, name, queue_pairs) != 0)
		return -1;
	if (pools_create(c, name, sessions, ops) == 0 &&
	    device_start(c, queue_pairs, RTE_MIN(rte_align32pow2(ops), CRYPTO_DEPTH_MAX)) == 0)
		return 0;
	crypto_close(c);
	return -1;
}

void *crypto_session(struct docsis_crypto *c, enum crypto_direction direction,
		     const uint8_t key[16]) {
	bool down = direction == CRYPTO_DOWNLINK;
	struct rte_crypto_sym_xform cipher = {
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.cipher =
			{
				.op = down ? RTE_CRYPTO_CIPHER_OP_ENCRYPT
					   : RTE_CRYPTO_CIPHER_OP_DECRYPT,
				.algo = RTE_CRYPTO_CIPHER_AES_DOCSISBPI,
				.key = {.data = key, .length = 16},
				.iv = {.offset = DOCSIS_IV_OFFSET, .length = DOCSIS_IV_SIZE},
			},
	};
	struct rte_security_session_conf conf = {
		.action_type = RTE_SECURITY_ACTION_TYPE_LOOKASIDE_PROTOCOL,
		.protocol = RTE_SECURITY_PROTOCOL_DOCSIS,
		.docsis = {.direction = down ? RTE_SECURITY_DOCSIS_DOWNLINK
					     : RTE_SECURITY_DOCSIS_UPLINK},
		.crypto_xform = &cipher,
	};

	struct rte_mempool *pool = session_pool(c);

	return pool != NULL ? rte_security_session_create(c->security, &conf, pool) : NULL;
}

void crypto_session_free(struct docsis_crypto *c, void *session) {
	rte_security_session_destroy(c->security, session);
}

void crypto_stop(struct docsis_crypto *c) {
	if (c->runs)
		rte_cryptodev_stop(c->device);
	c->runs = false;
}

void crypto_close(struct docsis_crypto *c) {
	char name[RTE_CRYPTODEV_NAME_MAX_LEN];

	snprintf(name, sizeof(name), "%s", rte_cryptodev_name_get(c->device));
	crypto_stop(c);
	rte_cryptodev_close(c->device);
	rte_eal_hotplug_remove("vdev", name);
	rte_mempool_free(c->ops);
	for (unsigned p = 0; p < c->session_pools; p++)
		rte_mempool_free(c->sessions[p]);
	memset(c, 0, sizeof(*c));
}
