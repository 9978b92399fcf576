/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes from one traffic encryption key to the next, for all modems of a security association.
 * Two generations are valid at a time (SEC, BPI+), distinguished by the key sequence number, whose
 * lowest bit is the toggle:
 *
 *     install   adds the next key: upstream accepts both, downstream uses the old one
 *     use       downstream uses the next key; upstream accepts both
 *     remove    removes the old key: the next one becomes the present one
 *
 * The cipher stays. Each function returns true with the changes, for live_changes_apply() or
 * live_changes_free(); or false with one line in `why`.
 */
#pragma once

#include "model/live/difference.h"

struct live_next_key {
	uint8_t key[CIPHER_MAX_KEY], iv[CIPHER_MAX_IV]; /* zero beyond their sizes */
	size_t key_size, iv_size; /* bytes */
};

bool live_key_install(const struct live_group *l, uint16_t said, const struct live_next_key *next,
		      struct live_changes *changes, char why[LIVE_LINE]);
bool live_key_use(const struct live_group *l, uint16_t said, struct live_changes *changes,
		  char why[LIVE_LINE]);
bool live_key_remove(const struct live_group *l, uint16_t said, struct live_changes *changes,
		     char why[LIVE_LINE]);
