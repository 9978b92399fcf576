/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port that several service groups have, or one in a VLAN: what comes there is told apart before it
 * reaches a group's traffic.
 *
 *     port --> VLAN (the tag is taken off) --> the group that is alone there --------------> its pile
 *                                         \--> of several: by what rphy_share.h or          /
 *                                              network_share.h reads of the frame ---------/
 *
 * The frames of a group keep their order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_hash.h>
#include <rte_mbuf.h>

#include "core/vlan_tag.h"
#include "model/server_config.h"
#include "traffic.h"

#define SHARE_BURST TRAFFIC_BURST

/* Instead of the place of a group: */
#define SHARE_NOBODY (-1)
#define SHARE_SEVERAL (-2) /* the VLAN alone does not tell */

struct share_pile {
	struct rte_mbuf *frames[SHARE_BURST];
	unsigned count;
};

struct share {
	uint16_t port;
	int16_t by_vlan[VLAN_IDS]; /* place of a group, or one of the above; untagged: 0 */
	struct rte_hash *table; /* from keys to places of groups, where VLANs alone do not tell */
	struct share_pile piles[SERVER_MAX_GROUPS];
	uint8_t turns[SHARE_BURST]; /* groups that have a pile, in the order of their first frame */
	unsigned turn_count;
};

/* A burst of frames, and whose they are. */
struct share_frames {
	struct rte_mbuf *frames[SHARE_BURST];
	uint16_t vlans[SHARE_BURST];
	int groups[SHARE_BURST];
	unsigned count;
};

/* A port without groups. */
void share_init(struct share *s, uint16_t port);

/* Adds a group by its place, below SERVER_MAX_GROUPS, and its VLAN (0: none). */
void share_add(struct share *s, unsigned group, uint16_t vlan);

/* Makes the table, where it is needed, for up to `keys` keys of `key_size` bytes. Returns 0, or -1 after a
 * message. To be freed by share_free() in either case. */
int share_table_create(struct share *s, const char *name, size_t keys, size_t key_size);

/* Notes that what has this key is the group's. Returns 0; or -1 where there is no memory left, after a
 * message; or 1 where it is another group's, whose place `other` gets. */
int share_key_add(struct share *s, const void *key, unsigned group, unsigned *other);

void share_free(struct share *s);

/* Takes a burst off the port, takes tags off, and says whose it is as far as VLANs tell. */
void share_receive(struct share *s, struct share_frames *f);

/* Discards a burst. Returns how many frames that were. */
unsigned share_discard(struct share *s);

/* Finds out whose the frames `asked` are by their keys; SHARE_NOBODY where nobody has that. */
void share_ask(struct share *s, struct share_frames *f, const void **keys, const uint8_t *asked,
	       unsigned count);

typedef void (*share_take_fn)(struct traffic *t, struct rte_mbuf **frames, unsigned n);

/* Gives the frames to their groups, of which `all` is, and frees those that are nobody's. */
void share_hand_out(struct share *s, const struct share_frames *f, struct traffic *const *all,
		    share_take_fn take);
