/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port that several service groups have, or one in a VLAN: what comes there is told apart before it
 * reaches a group's traffic.
 *
 *     port --> VLAN (the tag is taken off) --> the group that is alone there -------> its pile
 *                                         \--> of several: by a key of the frame --/
 *
 * What the key is depends on the side of the CMTS, shared_port_side.h. The frames of a group keep their order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_hash.h>
#include <rte_mbuf.h>

#include "core/vlan_tag.h"
#include "directions/traffic.h"
#include "model/server_config.h"

#define SHARED_PORT_BURST TRAFFIC_BURST

/* Instead of the place of a group: */
#define SHARED_PORT_NOBODY (-1)
#define SHARED_PORT_SEVERAL (-2) /* the VLAN alone does not tell */

struct shared_port_side;

struct shared_port_pile {
	struct rte_mbuf *frames[SHARED_PORT_BURST];
	unsigned count;
};

/* Frames of nobody, by names that stand for the same with a single group. */
struct shared_port_strays {
	uint64_t frames;
	uint64_t bytes;
	uint64_t unexpected[UNEXPECTEDS];
	uint64_t violations[VIOLATIONS];
};

struct shared_port {
	const struct shared_port_side *side;
	uint16_t port;
	bool has[SERVER_MAX_GROUPS]; /* by place: the groups at the port */
	uint16_t vlans[SERVER_MAX_GROUPS]; /* of them */
	bool follows; /* groups change: whom the keys do not tell, the groups are asked for */
	int16_t by_vlan[VLAN_IDS]; /* place of a group, or one of the above; untagged: 0 */
	struct rte_hash *table; /* from keys to places, where VLANs alone do not tell */
	struct shared_port_pile piles[SERVER_MAX_GROUPS];
	uint8_t turns
		[SHARED_PORT_BURST]; /* groups that have a pile, in the order of their first frame */
	unsigned turn_count;
	struct shared_port_strays strays;
	struct evidence *evidence; /* of them; NULL: none is kept */
};

/* A port without groups, to be freed by shared_port_free(). Returns NULL when memory is short. */
struct shared_port *shared_port_create(uint16_t port, const struct shared_port_side *side);

void shared_port_free(struct shared_port *s);

/* Adds the group at a place, below SERVER_MAX_GROUPS. All are added before shared_port_tell(), but those that
 * come later at a port that follows changes. */
void shared_port_add(struct shared_port *s, unsigned group, const struct service_group *sg);

/* Makes what the groups at the port are told apart by, of the program's `all`. Returns 0, or -1 after a
 * message: two cannot be told apart, or memory is short. */
int shared_port_tell(struct shared_port *s, const struct service_group *all);

/* Takes a burst off the port, and gives each frame to its group of `all`. Returns how many they were. */
unsigned shared_port_poll(struct shared_port *s, struct traffic *const *all);

/* Discards a burst. Returns how many frames that were. */
unsigned shared_port_discard(struct shared_port *s);
