/* SPDX-License-Identifier: BSD-3-Clause */
/* A port that several service groups share; see port_share.h. */
#pragma once

#include "sharing/port_share.h"
#include "sharing/table.h"

struct share_config {
	const char *name; /* of the port, for messages; must outlive the share */
	enum share_side side;
	struct packet_source from; /* a queue of the port */
	struct packet_sink to;
	bool sends_by_ring; /* if several workers use one transmit queue */
	/* capacity in packets of each group's ring and of the ring to the port */
	unsigned ring_size;
	/* by their numbers on the port; NULL: the number is free. Read during the call only. */
	const struct service_group *const *groups;
	unsigned group_count; /* up to SHARE_MAX_GROUPS */
};

/* Stage lists: receive and tell_apart; send. */
#define SHARE_LISTS 2
extern const struct stage_list share_lists[SHARE_LISTS];

/* Returns NULL with the reason in `why` if the groups' packets cannot be distinguished. Returns
 * NULL with an empty `why` after logging another error. Free the result by share_free(). */
struct port_share *share_create(const struct share_config *c, char why[LIVE_LINE]);

/* Creates the ring for misdirected packets. Queues 1 to `queues` of the port, at most 63, are
 * for groups. Returns 0, or -1 after logging an error. */
int share_misdirected_open(struct port_share *s, unsigned queues, unsigned ring_size);

/* Drops pending packets and frees the share with its counters. To have them count these packets,
 * call share_stop() and share_counters() first. NULL is allowed. */
void share_free(struct port_share *s);

/* The packet source of the group with this number. */
struct packet_source share_source(struct port_share *s, unsigned group);

/* The packet sink of the groups: the ring, or the port if there is no ring. */
struct packet_sink share_sink(const struct port_share *s);

/* Pending packets: in the rings of the groups, in the ring of misdirected packets, and on the
 * way to the port. May be called while workers run. */
uint64_t share_pending_in(const struct port_share *s);
uint64_t share_misdirected(const struct port_share *s);
uint64_t share_pending_out(const struct port_share *s);

/* All counters of the port. May be called while workers run. */
void share_counters(const struct port_share *s, struct counters *sum);

/* Whether received = handed over + steered + misdirected + drops. No worker may be running. */
bool share_balanced(const struct port_share *s);

/* Stops receiving, so that the rings can drain. If workers run, it takes effect once all of them
 * have passed the end of a round. */
void share_close(struct port_share *s);

/* Shuts or reopens transmission. While it is shut, frames are dropped as `port_unsent`. Called
 * by the owner's worker. */
void share_send_shut(struct port_share *s, bool shut);

/* Drops all pending packets as `port_stopped`, `port_stray` and `port_unsent`. No worker may be
 * running. */
void share_stop(struct port_share *s);

/*
 * For changes while workers run. To add a group, call share_member_open(), then replace the table
 * by one with the group. To remove it, replace the table by one without it. After the owner's
 * worker has passed the end of a round, let it call share_member_drain() and then call
 * share_member_close(). From then on the group must not poll its source.
 */

/* Creates the ring to the port if there is none. Later callers of share_sink() use it. Returns
 * 0, or -1 after logging an error. */
int share_send_open(struct port_share *s, unsigned ring_size);

/* Frees the ring of share_send_open(). No sink may use it. */
void share_send_close(struct port_share *s);

/* Creates the ring of a free number. Returns 0, or -1 after logging an error. */
int share_member_open(struct port_share *s, unsigned group, unsigned ring_size);

/* Drops up to `max` packets of a group that is in no table. Returns whether none is left. Called
 * by the owner's worker. */
bool share_member_drain(struct port_share *s, unsigned group, unsigned max);

/* Drops the packets of the ring as `port_stopped`, and frees the number. If the owner's worker
 * runs, it must first call share_member_drain() until that returns true. */
void share_member_close(struct port_share *s, unsigned group);

/* Replaces the table. Returns the previous one, which may be freed once no worker can read it: the
 * owner's, and those of groups with queues. */
struct share_table *share_table_replace(struct port_share *s, struct share_table *table);
