/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/providers.h"

#include <stdio.h>
#include <string.h>

#include <rte_cryptodev.h>

#include "crypto/cryptodev.h"
#ifndef VCMTS_NO_IPSEC_MB
#include "crypto/ipsec_mb.h"
#include "platform/log/log.h"
#endif

#ifdef VCMTS_NO_IPSEC_MB
/* crypto_openssl keeps the rings of removed devices, and cannot create larger ones with the same
 * name. */
#define STANDALONE_QUEUES 64u
#define STANDALONE_IN_FLIGHT 256u
#endif

void crypto_providers_init(struct crypto_providers *ps,
			   const struct crypto_providers_options *options) {
	*ps = (struct crypto_providers){.options = *options};
}

#ifndef VCMTS_NO_IPSEC_MB
static struct crypto_provider *library_open(const struct crypto_providers_options *o) {
	return ipsec_mb_open_isa(o->isa, o->socket);
}

struct crypto_provider *crypto_standalone_open(int socket) {
	return ipsec_mb_open(socket);
}
#else
static struct crypto_provider *library_open(const struct crypto_providers_options *o) {
	(void)o;
	log_error("crypto", LOG_NO_FIELDS,
		  "crypto " CRYPTO_LIBRARY ": this build has no intel-ipsec-mb; use a DPDK "
		  "crypto device such as " CRYPTO_NO_LIBRARY);
	return NULL;
}

/* The device gets a unique name, as a server in this process may have a "crypto_openssl0". */
struct crypto_provider *crypto_standalone_open(int socket) {
	const struct cryptodev_options options = {
		.queues = STANDALONE_QUEUES,
		.in_flight = STANDALONE_IN_FLIGHT,
		.timeout_ms = CRYPTO_TIMEOUT_MS,
		.socket = socket,
	};
	char name[RTE_CRYPTODEV_NAME_MAX_LEN];
	unsigned n = 0;

	do
		snprintf(name, sizeof(name), "crypto_openssl_apart%u", n++);
	while (rte_cryptodev_get_dev_id(name) >= 0);
	return cryptodev_open(name, &options);
}
#endif

static struct crypto_provider *provider_open(const struct crypto_providers_options *o,
					     const char *device) {
	const struct cryptodev_options options = {
		.queues = o->queues,
		.in_flight = o->in_flight,
		.timeout_ms = o->timeout_ms,
		.socket = o->socket,
	};

	return strcmp(device, CRYPTO_LIBRARY) == 0 ? library_open(o)
						   : cryptodev_open(device, &options);
}

struct crypto_provider *crypto_providers_find(struct crypto_providers *ps, const char *device) {
	size_t length;
	struct crypto_provider *p;

	if (device == NULL)
		device = crypto_default_device();
	length = strcspn(device, ",");
	for (unsigned i = 0; i < ps->count; i++) {
		if (strlen(ps->open[i]->name) == length &&
		    strncmp(ps->open[i]->name, device, length) == 0)
			return ps->open[i];
	}
	if (ps->count == CRYPTO_PROVIDERS_MAX) {
		log_error("crypto", LOG_NO_FIELDS,
			  "crypto device %s: more than %u crypto "
			  "providers in one server",
			  device, CRYPTO_PROVIDERS_MAX);
		return NULL;
	}
	p = provider_open(&ps->options, device);
	if (p != NULL)
		ps->open[ps->count++] = p;
	return p;
}

/* In reverse order: a scheduler is closed before its workers. */
void crypto_providers_close_behind(struct crypto_providers *ps, unsigned count) {
	while (ps->count > count) {
		struct crypto_provider *p = ps->open[--ps->count];

		p->functions->close(p);
	}
}

void crypto_providers_close(struct crypto_providers *ps) {
	crypto_providers_close_behind(ps, 0);
}

const char *crypto_provider_text(const struct crypto_provider *p, char *text, size_t size) {
	static const char *const names[CIPHERS] = {
		[CIPHER_AES_128] = "AES-128", [CIPHER_AES_256] = "AES-256", [CIPHER_DES] = "DES"};
	const char *comma = "";
	size_t length;

	snprintf(text, size, "%s:", p->name);
	for (unsigned cipher = CIPHER_NONE + 1; cipher < CIPHERS; cipher++) {
		if (!crypto_can(p, cipher))
			continue;
		length = strlen(text);
		snprintf(text + length, size - length, "%s %s%s", comma, names[cipher],
			 p->crc_ciphers >> cipher & 1 ? " with CRC" : "");
		comma = ",";
	}
	return text;
}
