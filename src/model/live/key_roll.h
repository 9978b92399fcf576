/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way from one traffic encryption key to the next, for all modems of a security association (SEC, BPI+: two
 * generations live at a time, told apart by the key sequence number, whose lowest bit is the toggle):
 *
 *     install   the next key is there: upstream both are taken, downstream uses the old one
 *     use       downstream uses the next one; upstream both are taken
 *     remove    the old one is gone, the next one is the present
 *
 * Each returns true with the changes that do so, to be given to live_changes_take() or live_changes_free(); or false
 * with one line in `why`.
 */
#pragma once

#include "model/live/difference.h"

bool live_key_install(const struct live_group *l, uint16_t said, const uint8_t key[16],
		      const uint8_t iv[16], struct live_changes *changes, char why[LIVE_LINE]);
bool live_key_use(const struct live_group *l, uint16_t said, struct live_changes *changes,
		  char why[LIVE_LINE]);
bool live_key_remove(const struct live_group *l, uint16_t said, struct live_changes *changes,
		     char why[LIVE_LINE]);
