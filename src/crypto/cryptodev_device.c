/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a crypto device, reads its capabilities and starts it. */
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_security.h>

#include "crypto/cryptodev_parts.h"

#include "platform/log/log.h"

#define TEXT 512 /* of a device with its arguments */
#define SCHEDULER "crypto_scheduler"
#define QUEUES "max_nb_queue_pairs="

/* Finds a device by its name or by that of its parent, as the symmetric device of a PCI card is not
 * named by the address alone. */
static int device_id(const char *name) {
	int id = rte_cryptodev_get_dev_id(name);

	for (int i = 0; id < 0 && i < RTE_CRYPTO_MAX_DEVS; i++) {
		struct rte_cryptodev_info info;

		if (!rte_cryptodev_is_valid_dev((uint8_t)i))
			continue;
		rte_cryptodev_info_get((uint8_t)i, &info);
		if (info.device != NULL && strcmp(rte_dev_name(info.device), name) == 0 &&
		    (info.feature_flags & RTE_CRYPTODEV_FF_SYMMETRIC_CRYPTO))
			id = i;
	}
	return id;
}

static bool is_scheduler(const char *driver) {
	return strncmp(driver, SCHEDULER, strlen(SCHEDULER)) == 0;
}

/*
 * Creates a device. Virtual devices need the number of queues as an argument; PCI cards have a
 * fixed number.
 *
 * A scheduler without a mode cannot start, and removing it crashes DPDK 22.11.
 */
static int device_make(struct cryptodev *c, const char *name, const char *text, unsigned queues) {
	char whole[TEXT + 64];

	if (c->made_count == CRYPTODEV_MADE)
		return -1;
	snprintf(whole, sizeof(whole), "%s%s", text,
		 is_scheduler(name) && strstr(text, "mode=") == NULL ? ",mode=round-robin" : "");
	if (strstr(text, QUEUES) == NULL)
		snprintf(whole + strlen(whole), sizeof(whole) - strlen(whole), "," QUEUES "%u",
			 queues);
	if (rte_dev_probe(whole) != 0 && rte_dev_probe(text) != 0)
		return -1;
	snprintf(c->made[c->made_count++], sizeof(c->made[0]), "%s", name);
	return device_id(name);
}

/* Creates the workers of a scheduler. */
static bool workers_make(struct cryptodev *c, const char *text, unsigned queues) {
	static const char mark[] = "worker=";

	for (const char *at = strstr(text, mark); at != NULL; at = strstr(at, mark)) {
		char name[RTE_CRYPTODEV_NAME_MAX_LEN];

		at += strlen(mark);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
		if (device_id(name) < 0 && device_make(c, name, name, queues) < 0)
			return false;
	}
	return true;
}

static bool device_find(struct cryptodev *c, const char *device, unsigned queues) {
	int id;

	snprintf(c->name, sizeof(c->name), "%.*s", (int)strcspn(device, ","), device);
	id = device_id(c->name);
	if (id < 0 && strlen(device) < TEXT && workers_make(c, device, queues))
		id = device_make(c, c->name, device, queues);
	if (id < 0) {
		log_error("crypto", LOG_NO_FIELDS,
			  "crypto device %s: not found; allowed: the PCI address of an EAL "
			  "device, or a driver's name with a number, such as crypto_aesni_mb0",
			  device);
		return false;
	}
	c->id = (uint8_t)id;
	c->security = rte_cryptodev_get_sec_ctx(c->id);
	return true;
}

/* Whether the device lists the cipher for DOCSIS security in one direction. */
static bool direction_can(const struct cryptodev *c, enum cipher cipher,
			  enum rte_security_docsis_direction direction) {
	struct rte_security_capability_idx want = {
		.action = RTE_SECURITY_ACTION_TYPE_LOOKASIDE_PROTOCOL,
		.protocol = RTE_SECURITY_PROTOCOL_DOCSIS,
		.docsis = {.direction = direction},
	};
	const struct rte_security_capability *found =
		rte_security_capability_get(c->security, &want);
	const struct rte_cryptodev_capabilities *can =
		found == NULL ? NULL : found->crypto_capabilities;

	for (; can != NULL && can->op != RTE_CRYPTO_OP_TYPE_UNDEFINED; can++) {
		if (can->sym.xform_type == RTE_CRYPTO_SYM_XFORM_CIPHER &&
		    can->sym.cipher.algo == RTE_CRYPTO_CIPHER_AES_DOCSISBPI &&
		    rte_cryptodev_sym_capability_check_cipher(
			    &can->sym, (uint16_t)cipher_key_size(cipher), CRYPTO_IV_SIZE) == 0)
			return true;
	}
	return false;
}

static bool security_can(const struct cryptodev *c, enum cipher cipher) {
	return c->security != NULL && (cipher == CIPHER_AES_128 || cipher == CIPHER_AES_256) &&
	       direction_can(c, cipher, RTE_SECURITY_DOCSIS_DOWNLINK) &&
	       direction_can(c, cipher, RTE_SECURITY_DOCSIS_UPLINK);
}

static bool algorithm_can(const struct cryptodev *c, enum cipher cipher,
			  enum rte_crypto_cipher_algorithm algorithm) {
	struct rte_cryptodev_sym_capability_idx want = {
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.algo.cipher = algorithm,
	};
	const struct rte_cryptodev_symmetric_capability *found =
		rte_cryptodev_sym_capability_get(c->id, &want);

	return found != NULL &&
	       rte_cryptodev_sym_capability_check_cipher(found, (uint16_t)cipher_key_size(cipher),
							 cipher == CIPHER_DES ? 8 : 16) == 0;
}

static bool cipher_can(const struct cryptodev *c, enum cipher cipher) {
	return algorithm_can(c, cipher,
			     cipher == CIPHER_DES ? RTE_CRYPTO_CIPHER_DES_DOCSISBPI
						  : RTE_CRYPTO_CIPHER_AES_DOCSISBPI);
}

static bool steps_can(const struct cryptodev *c, enum cipher cipher) {
	return cipher != CIPHER_DES && algorithm_can(c, cipher, RTE_CRYPTO_CIPHER_AES_CBC) &&
	       algorithm_can(c, cipher, RTE_CRYPTO_CIPHER_AES_CTR);
}

bool cryptodev_find(struct cryptodev *c, const char *device, unsigned queues) {
	struct rte_cryptodev_info info;

	if (!device_find(c, device, queues))
		return false;
	rte_cryptodev_info_get(c->id, &info);
	c->provider.ciphers = 1u << CIPHER_NONE;
	/* A scheduler without workers has no capabilities. */
	for (unsigned cipher = CIPHER_NONE + 1; info.capabilities != NULL && cipher < CIPHERS;
	     cipher++) {
		if (security_can(c, cipher))
			c->provider.crc_ciphers |= 1u << cipher;
		else if (!cipher_can(c, cipher) && steps_can(c, cipher))
			c->stepwise |= 1u << cipher;
		if (cryptodev_crc_beside(c, cipher) || cryptodev_stepwise(c, cipher) ||
		    cipher_can(c, cipher))
			c->provider.ciphers |= 1u << cipher;
	}
	if (c->provider.ciphers != 1u << CIPHER_NONE)
		return true;
	log_error("crypto", LOG_NO_FIELDS,
		  "crypto device %s: supports neither DOCSIS security, nor a DOCSIS cipher, nor "
		  "AES in CBC and CTR; allowed: devices such as crypto_aesni_mb, crypto_qat or "
		  "crypto_openssl",
		  c->name);
	return false;
}

bool cryptodev_start(struct cryptodev *c) {
	struct rte_cryptodev_info info;
	struct rte_cryptodev_config config = {
		.socket_id = c->socket,
		.ff_disable = RTE_CRYPTODEV_FF_ASYMMETRIC_CRYPTO,
	};
	/*
	 * More descriptors than frames in flight, as a ring has one slot less than its size. With a
	 * full ring, crypto_openssl has already ciphered the frames that it rejects, and would
	 * cipher them again.
	 */
	struct rte_cryptodev_qp_conf queue = {.nb_descriptors = 2 * rte_align32pow2(c->in_flight)};
	int ret;

	rte_cryptodev_info_get(c->id, &info);
	/* A scheduler keeps sessions of its workers beside its own. */
	c->session_parts = is_scheduler(info.driver_name) ? CRYPTODEV_MADE : 1;
	c->queues = RTE_MIN(RTE_MIN(c->queues, info.max_nb_queue_pairs), CRYPTODEV_PAIRS);
	config.nb_queue_pairs = (uint16_t)c->queues;
	ret = rte_cryptodev_configure(c->id, &config);
	for (unsigned q = 0; ret == 0 && q < c->queues; q++)
		ret = rte_cryptodev_queue_pair_setup(c->id, (uint16_t)q, &queue, c->socket);
	if (ret == 0)
		ret = rte_cryptodev_start(c->id);
	c->runs = ret == 0;
	if (ret != 0)
		log_error("crypto", LOG_NO_FIELDS, "crypto device %s: cannot be started: %s",
			  c->name, rte_strerror(-ret));
	return ret == 0;
}

void cryptodev_remove(struct cryptodev *c) {
	while (c->made_count > 0) {
		const char *name = c->made[--c->made_count];
		int id = device_id(name);
		struct rte_cryptodev_info info;

		if (id < 0)
			continue;
		rte_cryptodev_info_get((uint8_t)id, &info);
		rte_dev_remove(info.device);
	}
}
