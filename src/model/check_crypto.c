/* SPDX-License-Identifier: BSD-3-Clause */
/* What encrypts: keys as long as their cipher asks, and a provider with its device. */
#include "model/check.h"

#include <stdio.h>
#include <string.h>

#include "model/key_rows.h"

#define ALLOWED_SIZE 96

struct secret {
	const char *name;
	const char *beside; /* the next key or its vector, that goes with it; NULL: always needed */
	unsigned bytes;
};

static void report_missing(struct check *check, const struct node *map, const struct secret *s,
			   const struct path *path) {
	char allowed[ALLOWED_SIZE];

	snprintf(allowed, sizeof(allowed), "%u hexadecimal digits, %s%s", 2 * s->bytes,
		 s->beside != NULL ? "beside " : "or cipher: none",
		 s->beside != NULL ? s->beside : "");
	check_report(check, NULL, map->line, path, allowed);
}

/* A good key is not shown, nor is one of another cipher. */
static void check_secret(struct check *check, const struct node *map, const struct secret *s,
			 enum cipher cipher, const struct path *up) {
	const struct node *own = node_present(map, s->name), *value = node_field(map, s->name);
	struct path path = {.up = up, .key = s->name};
	char found[ALLOWED_SIZE], allowed[ALLOWED_SIZE];

	if (cipher == CIPHER_NONE) {
		if (s->beside != NULL && value != NULL)
			errors_add(check->errors, own->line, &path, "a value",
				   "nothing with cipher: none");
		return;
	}
	if (own == NULL) {
		if (s->beside == NULL || node_present(map, s->beside) != NULL)
			report_missing(check, map, s, &path);
		return;
	}
	if (value == NULL || value->length == 2 * s->bytes)
		return;
	snprintf(found, sizeof(found), "%u hexadecimal digits", value->length);
	snprintf(allowed, sizeof(allowed), "%u with cipher: %s", 2 * s->bytes, cipher_name(cipher));
	errors_add(check->errors, own->line, &path, found, allowed);
}

void check_security(struct check *check, const struct node *map,
		    const struct security_association *sa, const struct path *up) {
	const unsigned key = cipher_key_size(sa->cipher), iv = cipher_iv_size(sa->cipher);
	const struct secret secrets[] = {
		{"key", NULL, key},
		{"iv", NULL, iv},
		{"next_key", "next_iv", key},
		{"next_iv", "next_key", iv},
	};
	struct path security = {.up = up, .key = "security"};
	struct path use = {.up = &security, .key = "use_next_key"};

	if (map == NULL || !node_sound(map, "cipher"))
		return;
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		check_secret(check, map, &secrets[i], sa->cipher, &security);
	if (sa->use_next_key && !sa->has_next_key)
		check_report(check, node_present(map, use.key), map->line, &use,
			     "false, or next_key beside it");
}

void check_crypto(struct check *check, struct node *root) {
	struct crypto_config *crypto = &check->sg->crypto;
	const struct node *map = node_field(root, "crypto");
	const struct node *node = node_present(map, "device");
	struct path up = {.key = "crypto"}, path = {.up = &up, .key = "device"};

	if (crypto->device != NULL && strcmp(crypto->device, CRYPTO_NO_DEVICE) == 0)
		crypto->device = NULL;
	if (!node_sound(map, "provider") || !node_sound(map, "device"))
		return;
	if (crypto->provider == CRYPTO_CRYPTODEV && crypto->device == NULL)
		check_report(check, node, node != NULL ? node->line : map->line, &path,
			     "a crypto device such as crypto_aesni_mb0, with provider: cryptodev");
	else if (crypto->provider != CRYPTO_CRYPTODEV && crypto->device != NULL)
		check_report(check, node, node->line, &path, "none without provider: cryptodev");
}
