/* SPDX-License-Identifier: BSD-3-Clause */
/* Hash entries of a share_table: addresses or sessions of all groups. */
#pragma once

#include "sharing/keys.h"

/* The maximum number of entries. */
size_t share_entries_count(enum share_side side, const struct service_group *const *groups,
			   unsigned count);

/* Adds the entries to the table's hash; its VLANs must be set. Returns 0, or -1 with the reason
 * in `why`. */
int share_entries_add(struct share_table *t, const char *port, enum share_side side,
		      const struct service_group *const *groups, unsigned count,
		      char why[LIVE_LINE]);

#define SHARE_KEY_TEXT 64

/* A text for the key, for operators: "address 10.0.0.1". */
void share_key_text(const struct share_key *key, char text[SHARE_KEY_TEXT]);

/* The keys of a modem in the VLAN with this number: 1 + its addresses. Returns how many. */
size_t share_modem_keys(const struct modem *m, uint8_t vlan, struct share_key *keys);
