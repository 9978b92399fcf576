/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port that several service groups have, or one in a VLAN: what comes there is told apart before it
 * reaches a group's traffic.
 *
 *     port --> VLAN (the tag is taken off) --> the group that is alone there -------> its pile
 *                                         \--> of several: by a key of the frame --/
 *
 * What the key is depends on the side of the CMTS, share_side.h. The frames of a group keep their order.
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

struct share_side;

struct share_pile {
	struct rte_mbuf *frames[SHARE_BURST];
	unsigned count;
};

/* Frames of nobody, by names that stand for the same with a single group. */
struct share_strays {
	uint64_t frames;
	uint64_t bytes;
	uint64_t unexpected[UNEXPECTEDS];
	uint64_t violations[VIOLATIONS];
};

struct share {
	const struct share_side *side;
	uint16_t port;
	bool has[SERVER_MAX_GROUPS]; /* by place: the groups at the port */
	int16_t by_vlan[VLAN_IDS]; /* place of a group, or one of the above; untagged: 0 */
	struct rte_hash *table; /* from keys to places, where VLANs alone do not tell */
	struct share_pile piles[SERVER_MAX_GROUPS];
	uint8_t turns[SHARE_BURST]; /* groups that have a pile, in the order of their first frame */
	unsigned turn_count;
	struct share_strays strays;
};

/* A port without groups, to be freed by share_free(). Returns NULL when memory is short. */
struct share *share_create(uint16_t port, const struct share_side *side);

void share_free(struct share *s);

/* Adds the group at a place, below SERVER_MAX_GROUPS. All are added before share_tell(). */
void share_add(struct share *s, unsigned group, const struct service_group *sg);

/* Makes what the groups at the port are told apart by, of the program's `all`. Returns 0, or -1 after a
 * message: two cannot be told apart, or memory is short. */
int share_tell(struct share *s, const struct service_group *all);

/* Takes a burst off the port, and gives each frame to its group of `all`. Returns how many they were. */
unsigned share_poll(struct share *s, struct traffic *const *all);

/* Discards a burst. Returns how many frames that were. */
unsigned share_discard(struct share *s);
