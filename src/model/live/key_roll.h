/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way from one traffic encryption key to the next, for all modems of a security association (SEC, BPI+: two
 * generations live at a time, told apart by the key sequence number, whose lowest bit is the toggle):
 *
 *     install   the next key is there: upstream both are taken, downstream uses the old one
 *     use       downstream uses the next one; upstream both are taken
 *     remove    the old one is gone, the next one is the present
 *
 * The cipher stays.
 *
 * Each returns true with the changes that do so, to be given to live_changes_take() or live_changes_free(); or false
 * with one line in `why`.
 */
#pragma once

#include "model/live/difference.h"

struct live_next_key {
	uint8_t key[CIPHER_MAX_KEY], iv[CIPHER_MAX_IV]; /* zero behind what there is */
	size_t key_size, iv_size; /* bytes */
};

bool live_key_install(const struct live_group *l, uint16_t said, const struct live_next_key *next,
		      struct live_changes *changes, char why[LIVE_LINE]);
bool live_key_use(const struct live_group *l, uint16_t said, struct live_changes *changes,
		  char why[LIVE_LINE]);
bool live_key_remove(const struct live_group *l, uint16_t said, struct live_changes *changes,
		     char why[LIVE_LINE]);
