/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/providers.h"

#include <stdio.h>
#include <string.h>

#include "crypto/cryptodev.h"
#include "crypto/ipsec_mb.h"

void crypto_providers_init(struct crypto_providers *ps,
			   const struct crypto_providers_options *options) {
	*ps = (struct crypto_providers){.options = *options};
}

static struct crypto_provider *provider_open(const struct crypto_providers_options *o,
					     const char *device) {
	const struct cryptodev_options options = {
		.queues = o->queues,
		.in_flight = o->in_flight,
		.patience_ms = o->patience_ms,
		.socket = o->socket,
	};

	return strcmp(device, CRYPTO_LIBRARY) == 0 ? ipsec_mb_open_isa(o->isa, o->socket)
						   : cryptodev_open(device, &options);
}

struct crypto_provider *crypto_providers_find(struct crypto_providers *ps, const char *device) {
	size_t length;
	struct crypto_provider *p;

	if (device == NULL)
		device = CRYPTO_LIBRARY;
	length = strcspn(device, ",");
	for (unsigned i = 0; i < ps->count; i++) {
		if (strlen(ps->open[i]->name) == length &&
		    strncmp(ps->open[i]->name, device, length) == 0)
			return ps->open[i];
	}
	if (ps->count == CRYPTO_PROVIDERS_MOST) {
		fprintf(stderr, "crypto device %s: a server has at most %u\n", device,
			CRYPTO_PROVIDERS_MOST);
		return NULL;
	}
	p = provider_open(&ps->options, device);
	if (p != NULL)
		ps->open[ps->count++] = p;
	return p;
}

/* The last one first: a scheduler goes before the devices that it works with. */
void crypto_providers_close(struct crypto_providers *ps) {
	while (ps->count > 0) {
		struct crypto_provider *p = ps->open[--ps->count];

		p->functions->close(p);
	}
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
