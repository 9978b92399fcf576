/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two sides of a CMTS, and the keys by which the frames of service groups differ there:
 *
 *     R-PHY side     VLAN, destination MAC and IP address, L2TPv3 session
 *     network side   VLAN, source address: a subscriber's
 */
#pragma once

#include "groups/shared_port.h"

#define SHARED_PORT_KEY_MAX 32 /* bytes */

/* Takes the key of something that is the group's; `what` names it in messages. Returns 0, or -1 after one. */
typedef int (*share_key_fn)(void *context, const void *key, const char *what);

enum shared_port_owner {
	OWNER_NOT,
	OWNER_MAY_BE, /* it may be about to come */
	OWNER_IS,
};

struct shared_port_side {
	const char *name; /* in messages */
	enum evidence_interface evidence; /* of frames of nobody */
	size_t key_size;
	uint16_t (*vlan)(const struct service_group *sg);
	size_t (*keys)(const struct service_group *sg); /* how many it has at most */
	/* Names all keys of a group. Returns 0, or what the function has returned where that was not 0. */
	int (*keys_name)(const struct service_group *sg, share_key_fn name, void *context);
	/* Reads the key of a frame without tag. Returns whether it has one; if not, it is counted. */
	bool (*key_read)(const struct rte_mbuf *m, uint16_t vlan, void *key,
			 struct shared_port_strays *strays);
	/* Of a group that changes: whether the frame is its. With `owner_first` keys are not asked for. */
	enum shared_port_owner (*owner)(const struct traffic *t, const struct rte_mbuf *m);
	bool owner_first;
	uint64_t *(*stray)(
		struct shared_port_strays *strays); /* what counts a key that nobody has */
	void (*take)(struct traffic *t, struct rte_mbuf **frames, unsigned n);
};

extern const struct shared_port_side shared_port_rphy;
extern const struct shared_port_side shared_port_network;
