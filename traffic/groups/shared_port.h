/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port that several service groups use, or one with VLANs: distributes received frames to the groups.
 *
 *     port --> VLAN (removes the tag) --> the only group of the VLAN ------> its batch
 *                                     \--> of several: by a key of the frame --/
 *
 * The key depends on the side of the CMTS, see shared_port_side.h. Frames of a group stay in order.
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

/* Instead of the index of a group: */
#define SHARED_PORT_UNMATCHED (-1)
#define SHARED_PORT_SEVERAL (-2) /* several groups have the VLAN */
#define SHARED_PORT_LINK (-3) /* a frame of the link's protocols, of no group */

struct shared_port_side;

struct shared_port_batch {
	struct rte_mbuf *frames[SHARED_PORT_BURST];
	unsigned count;
};

/* Unmatched frames, counted under the names that a single group uses. */
struct shared_port_unmatched {
	uint64_t frames;
	uint64_t bytes;
	uint64_t unexpected[UNEXPECTEDS];
	uint64_t violations[VIOLATIONS];
};

struct shared_port {
	const struct shared_port_side *side;
	uint16_t port;
	bool has[SERVER_MAX_GROUPS]; /* by index: the group is on this port */
	uint16_t vlans[SERVER_MAX_GROUPS]; /* by index */
	bool follows; /* groups change: asks the groups about frames with unknown keys */
	/* by VLAN ID (0: untagged): index of a group, or one of the values above */
	int16_t by_vlan[VLAN_IDS];
	struct rte_hash *table; /* from keys to indices, if VLANs do not suffice */
	struct shared_port_batch batches[SERVER_MAX_GROUPS];
	/* groups with a non-empty batch, in the order of their first frame */
	uint8_t filled[SHARED_PORT_BURST];
	unsigned filled_count;
	struct shared_port_unmatched unmatched;
	struct evidence *evidence; /* of unmatched frames, or NULL */
};

/* Creates a port without groups. Returns NULL if memory is short. The caller frees it with
 * shared_port_free(). */
struct shared_port *shared_port_create(uint16_t port, const struct shared_port_side *side);

void shared_port_free(struct shared_port *s);

/* Adds the group at an index below SERVER_MAX_GROUPS. Must precede shared_port_build(), except for
 * groups added later to a port that follows changes. */
void shared_port_add(struct shared_port *s, unsigned group, const struct service_group *sg);

/* Builds the tables that separate the groups on the port; `all` are the program's groups. Returns
 * 0, or -1 after a message if two groups cannot be separated or memory is short. */
int shared_port_build(struct shared_port *s, const struct service_group *all);

/* Receives a burst and passes each frame to its group of `all`. Returns the number of frames. */
unsigned shared_port_poll(struct shared_port *s, struct traffic *const *all);

/* Discards a burst. Returns the number of frames. */
unsigned shared_port_discard(struct shared_port *s);
