/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/key_roll.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/live/object_copy.h"
#include "platform/secret/secret_memory.h"

/* Changes an association. Returns NULL, or the reason why it cannot. */
typedef const char *roll_step(struct security_association *sa, const void *context);

/* Returns NULL, or the lengths that the cipher needs. */
static const char *lengths_fault(enum cipher cipher, const struct live_next_key *next) {
	static const char *const lengths[CIPHERS] = {
		[CIPHER_AES_128] = "key and iv of aes-128 have 32 hexadecimal digits each",
		[CIPHER_AES_256] = "the key of aes-256 has 64 hexadecimal digits, the iv 32",
		[CIPHER_DES] = "key and iv of des have 16 hexadecimal digits each",
	};

	return next->key_size == cipher_key_size(cipher) && next->iv_size == cipher_iv_size(cipher)
		       ? NULL
		       : lengths[cipher];
}

static const char *install(struct security_association *sa, const void *context) {
	const struct live_next_key *next = context;
	const char *fault;

	if (sa->cipher == CIPHER_NONE)
		return "the association has no keys, as its cipher is none";
	if (sa->has_next_key)
		return "a next key is installed; use it and remove the present key before you "
		       "install another";
	fault = lengths_fault(sa->cipher, next);
	if (fault != NULL)
		return fault;
	sa->has_next_key = true;
	memcpy(sa->next_key, next->key, sizeof(sa->next_key));
	memcpy(sa->next_iv, next->iv, sizeof(sa->next_iv));
	return NULL;
}

static const char *use(struct security_association *sa, const void *context) {
	(void)context;
	if (!sa->has_next_key)
		return "no next key is installed";
	if (sa->use_next_key)
		return "the next key is in use already";
	sa->use_next_key = true;
	return NULL;
}

static const char *forget_old(struct security_association *sa, const void *context) {
	(void)context;
	if (!sa->use_next_key)
		return "the present key is in use; use the next key before you remove it";
	memcpy(sa->key, sa->next_key, sizeof(sa->key));
	memcpy(sa->iv, sa->next_iv, sizeof(sa->iv));
	sa->key_sequence = association_sequence(sa);
	sa->has_next_key = sa->use_next_key = false;
	memset(sa->next_key, 0, sizeof(sa->next_key));
	memset(sa->next_iv, 0, sizeof(sa->next_iv));
	return NULL;
}

static bool refuse(uint16_t said, const char *what, char why[LIVE_LINE]) {
	snprintf(why, LIVE_LINE, "said 0x%04x: %s", said, what);
	return false;
}

static bool modem_roll(const struct modem *m, uint32_t slot, roll_step *step, const void *context,
		       struct live_changes *changes, char why[LIVE_LINE]) {
	struct modem *copy = object_copy(LIVE_MODEM, m, NULL);
	const char *fault;

	if (copy == NULL)
		return refuse(m->security.said, "no memory left", why);
	fault = step(&copy->security, context);
	if (fault != NULL) {
		secret_free(copy);
		return refuse(m->security.said, fault, why);
	}
	return live_changes_add(changes, LIVE_MODEM, slot, copy) ||
	       refuse(m->security.said, "no memory left", why);
}

static bool roll(const struct live_group *l, uint16_t said, roll_step *step, const void *context,
		 struct live_changes *changes, char why[LIVE_LINE]) {
	*changes = (struct live_changes){0};
	for (uint32_t m = 0; m < l->capacity.modems; m++) {
		const struct modem *modem = &l->sg.modems[m];

		if (!modem_exists(modem) || modem->security.said != said)
			continue;
		if (!modem_roll(modem, m, step, context, changes, why)) {
			live_changes_free(changes);
			return false;
		}
	}
	return changes->count > 0 || refuse(said, "no modem has this association", why);
}

bool live_key_install(const struct live_group *l, uint16_t said, const struct live_next_key *next,
		      struct live_changes *changes, char why[LIVE_LINE]) {
	return roll(l, said, install, next, changes, why);
}

bool live_key_use(const struct live_group *l, uint16_t said, struct live_changes *changes,
		  char why[LIVE_LINE]) {
	return roll(l, said, use, NULL, changes, why);
}

bool live_key_remove(const struct live_group *l, uint16_t said, struct live_changes *changes,
		     char why[LIVE_LINE]) {
	return roll(l, said, forget_old, NULL, changes, why);
}
