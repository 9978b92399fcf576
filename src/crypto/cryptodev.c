/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DPDK crypto device.
 *
 * With DOCSIS security (rte_security) it processes CRC and cipher in one pass. With DOCSIS ciphers
 * only, the CRC is computed here. With other ciphers only, AES takes two operations
 * (cryptodev_steps.c).
 */
#define ALLOW_EXPERIMENTAL_API /* session pools of DPDK 22.11 */
#include "crypto/cryptodev.h"

#include <stdio.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_security.h>
#include <rte_version.h>

#include "crypto/cryptodev_parts.h"
#include "crypto/cryptodev_steps.h"
#include "crypto/isa.h"
#include "crypto/self_test.h"
#include "platform/log/log.h"

#define SESSIONS_FIRST 64 /* in the first pool */

static struct rte_crypto_sym_xform cipher_xform(enum crypto_direction direction, enum cipher cipher,
						enum rte_crypto_cipher_algorithm algorithm,
						const uint8_t *key) {
	return (struct rte_crypto_sym_xform){
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.cipher =
			{
				.op = direction == CRYPTO_DOWNLINK ? RTE_CRYPTO_CIPHER_OP_ENCRYPT
								   : RTE_CRYPTO_CIPHER_OP_DECRYPT,
				.algo = algorithm,
				.key = {.data = key, .length = (uint16_t)cipher_key_size(cipher)},
				.iv = {.offset = CRYPTODEV_IV_OFFSET,
				       .length = cipher == CIPHER_DES ? 8 : 16},
			},
	};
}

static void *session_make(struct cryptodev *c, enum crypto_direction direction, enum cipher cipher,
			  const uint8_t *key, struct rte_mempool *pool) {
	struct rte_crypto_sym_xform xform =
		cipher_xform(direction, cipher,
			     cipher == CIPHER_DES ? RTE_CRYPTO_CIPHER_DES_DOCSISBPI
						  : RTE_CRYPTO_CIPHER_AES_DOCSISBPI,
			     key);
	struct rte_security_session_conf conf = {
		.action_type = RTE_SECURITY_ACTION_TYPE_LOOKASIDE_PROTOCOL,
		.protocol = RTE_SECURITY_PROTOCOL_DOCSIS,
		.docsis = {.direction = direction == CRYPTO_DOWNLINK ? RTE_SECURITY_DOCSIS_DOWNLINK
								     : RTE_SECURITY_DOCSIS_UPLINK},
		.crypto_xform = &xform,
	};

	return cryptodev_crc_beside(c, cipher)
		       ? rte_security_session_create(c->security, &conf, pool)
		       : rte_cryptodev_sym_session_create(c->id, &xform, pool);
}

static struct rte_mempool *session_pool_add(struct cryptodev *c) {
	unsigned size = rte_cryptodev_sym_get_private_session_size(c->id);
	unsigned count = (SESSIONS_FIRST << c->session_pools) * c->session_parts;
	struct rte_mempool *pool;
	char name[RTE_MEMPOOL_NAMESIZE];

	if (c->session_pools == CRYPTODEV_SESSION_POOLS)
		return NULL;
	if (c->security != NULL)
		size = RTE_MAX(size, rte_security_session_get_size(c->security));
	snprintf(name, sizeof(name), "crypto%u_keys%u", c->id, c->session_pools);
	/* Both kinds of session begin with a header of less than two cache lines. */
	pool = rte_cryptodev_sym_session_pool_create(name, count, size + RTE_CACHE_LINE_SIZE, 0, 0,
						     c->socket);
	if (pool != NULL)
		c->sessions[c->session_pools++] = pool;
	return pool;
}

/* A pool with a free session, or a new pool. Pools grow on demand, as most of the possible keys
 * are never used. */
static struct rte_mempool *session_pool(struct cryptodev *c) {
	for (unsigned p = 0; p < c->session_pools; p++) {
		if (rte_mempool_avail_count(c->sessions[p]) >= c->session_parts)
			return c->sessions[p];
	}
	return session_pool_add(c);
}

static void *step_make(struct cryptodev *c, enum crypto_direction direction, enum cipher cipher,
		       enum rte_crypto_cipher_algorithm algorithm, const uint8_t *key) {
	struct rte_crypto_sym_xform xform = cipher_xform(direction, cipher, algorithm, key);
	struct rte_mempool *pool = session_pool(c);

	return pool == NULL ? NULL : rte_cryptodev_sym_session_create(c->id, &xform, pool);
}

static void *key_make(struct crypto_provider *p, enum crypto_direction direction,
		      enum cipher cipher, const uint8_t *key) {
	struct cryptodev *c = cryptodev_of(p);
	struct rte_mempool *pool;

	if (cryptodev_stepwise(c, cipher))
		return cryptodev_step_key_make(
			c, (struct step_key){
				   step_make(c, direction, cipher, RTE_CRYPTO_CIPHER_AES_CBC, key),
				   step_make(c, CRYPTO_DOWNLINK, cipher, RTE_CRYPTO_CIPHER_AES_CTR,
					     key)});
	pool = session_pool(c);
	return pool == NULL ? NULL : session_make(c, direction, cipher, key, pool);
}

static void key_free(struct crypto_provider *p, enum crypto_direction direction, enum cipher cipher,
		     void *schedule) {
	struct cryptodev *c = cryptodev_of(p);

	(void)direction;
	if (cryptodev_crc_beside(c, cipher)) {
		rte_security_session_destroy(c->security, schedule);
	} else if (cryptodev_stepwise(c, cipher)) {
		cryptodev_step_key_end(c, schedule);
		key_slots_release(&c->step_keys, schedule);
	} else {
		rte_cryptodev_sym_session_free(c->id, schedule);
	}
}

/* Operations that closed queues left may be freed only after the device has stopped. */
static void close_all(struct crypto_provider *p) {
	struct cryptodev *c = cryptodev_of(p);

	if (c->runs)
		rte_cryptodev_stop(c->id);
	rte_cryptodev_close(c->id);
	cryptodev_queues_end(c);
	cryptodev_remove(c);
	for (unsigned pool = 0; pool < c->session_pools; pool++)
		rte_mempool_free(c->sessions[pool]);
	key_slots_end(&c->step_keys);
	crypto_crc_close(c->crc);
	rte_free(c);
}

static struct cryptodev *cryptodev_alloc(const char *device, const struct cryptodev_options *o) {
	static const struct crypto_functions functions = {
		.key_make = key_make,
		.key_free = key_free,
		.queue_open = cryptodev_queue_open,
		.queue_close = cryptodev_queue_close,
		.submit = cryptodev_submit,
		.collect = cryptodev_collect,
		.close = close_all,
	};
	struct cryptodev *c = rte_zmalloc_socket("cryptodev", sizeof(*c), 0, o->socket);

	if (c != NULL)
		c->crc = crypto_crc_open();
	if (c == NULL || c->crc == NULL) {
		log_error("memory", LOG_NO_FIELDS, "crypto device %s: no memory left", device);
		rte_free(c);
		return NULL;
	}
	c->provider.functions = &functions;
	c->provider.name = c->name;
	c->socket = o->socket;
	key_slots_init(&c->step_keys, sizeof(struct step_key), o->socket);
	c->queues = o->queues;
	c->in_flight = o->in_flight;
	c->timeout = rte_get_tsc_hz() / 1000 * o->timeout_ms;
	return c;
}

struct crypto_provider *cryptodev_open(const char *device, const struct cryptodev_options *o) {
	struct cryptodev *c = cryptodev_alloc(device, o);
	char version[64];

	if (c == NULL)
		return NULL;
	if (!cryptodev_find(c, device, o->queues)) {
		cryptodev_remove(c);
		crypto_crc_close(c->crc);
		rte_free(c);
		return NULL;
	}
	/* crypto_aesni_mb uses intel-ipsec-mb. */
	snprintf(version, sizeof(version), "%s with intel-ipsec-mb %s", rte_version(),
		 crypto_library_version());
	if (cryptodev_start(c) &&
	    crypto_withdraw(&c->provider, crypto_self_test(&c->provider), version))
		return &c->provider;
	close_all(&c->provider);
	return NULL;
}
