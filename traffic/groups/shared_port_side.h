/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two sides of a CMTS, and the keys that separate the frames of service groups there:
 *
 *     R-PHY side     VLAN, destination MAC and IP address, L2TPv3 session
 *     network side   VLAN, source address of a subscriber
 */
#pragma once

#include "groups/shared_port.h"

#define SHARED_PORT_KEY_MAX 32 /* bytes */

/* Receives a key of a group; `what` is its name in messages. Returns 0, or -1 after a message. */
typedef int (*shared_port_key_fn)(void *context, const void *key, const char *what);

enum shared_port_owner {
	OWNER_NOT,
	OWNER_MAY_BE, /* a change may be about to add it */
	OWNER_IS,
};

struct shared_port_side {
	const char *name; /* in messages */
	enum evidence_interface evidence; /* interface of unmatched frames */
	size_t key_size;
	uint16_t (*vlan)(const struct service_group *sg);
	size_t (*keys)(const struct service_group *sg); /* maximum number of keys */
	/* Passes all keys of a group to `name`. Returns 0, or the first result of `name` that is not 0. */
	int (*keys_name)(const struct service_group *sg, shared_port_key_fn name, void *context);
	/* Reads the key of a frame without tag. Returns false if it has none and counts it. */
	bool (*key_read)(const struct rte_mbuf *m, uint16_t vlan, void *key,
			 struct shared_port_unmatched *unmatched);
	/* For groups that change: whether the frame belongs to the group. Called for frames whose key is
	 * unknown; with `owner_first`, before their key is looked up. */
	enum shared_port_owner (*owner)(const struct traffic *t, const struct rte_mbuf *m);
	bool owner_first;
	uint64_t *(*counter)(struct shared_port_unmatched
				     *unmatched); /* the counter of frames with an unknown key */
	void (*process)(struct traffic *t, struct rte_mbuf **frames, unsigned n);
};

extern const struct shared_port_side shared_port_rphy;
extern const struct shared_port_side shared_port_network;
