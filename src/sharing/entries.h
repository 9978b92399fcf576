/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in the hash of a share_table: addresses or sessions of all groups. */
#pragma once

#include "sharing/keys.h"

/* How many there are at most. */
size_t share_entries_count(enum share_side side, const struct service_group *const *groups,
			   unsigned count);

/* Puts them into the hash of the table, whose VLANs are known. Returns 0, or -1 with the reason in `why`. */
int share_entries_add(struct share_table *t, const char *port, enum share_side side,
		      const struct service_group *const *groups, unsigned count,
		      char why[LIVE_LINE]);

#define SHARE_KEY_TEXT 64

/* What a key is, for people: "address 10.0.0.1". */
void share_key_text(const struct share_key *key, char text[SHARE_KEY_TEXT]);

/* The keys by which a modem is found, 1 + its addresses, in the VLAN of that number. Returns how many. */
size_t share_modem_keys(const struct modem *m, uint8_t vlan, struct share_key *keys);
