/* SPDX-License-Identifier: BSD-3-Clause */
/* A port that several service groups have: port_share.h. */
#pragma once

#include "sharing/port_share.h"
#include "sharing/table.h"

struct share_config {
	const char *name; /* of the port, in messages; outlives the share */
	enum share_side side;
	struct packet_source from; /* a queue of the port */
	struct packet_sink to;
	bool sends_by_ring; /* for who is not alone on a transmit queue */
	/* packets of a group's ring, and frames of the one to the port; they take the place of the port's queue */
	unsigned ring_size;
	/* by their numbers on the port; NULL where a number is free. Read during the call only. */
	const struct service_group *const *groups;
	unsigned group_count; /* up to SHARE_MAX_GROUPS */
};

/* The lists: receive and tell_apart; send. */
#define SHARE_LISTS 2
extern const struct stage_list share_lists[SHARE_LISTS];

/* Returns NULL with the reason in `why` where groups cannot be told apart; else after a message, and `why` is empty. To be
 * freed by share_free(). */
struct port_share *share_create(const struct share_config *c, char why[LIVE_LINE]);

/* The port has queues 1 to `queues`, up to 63, for groups: makes the ring for what is in that of a group and not its own.
 * Returns 0 or -1 after a message. */
int share_astray_open(struct port_share *s, unsigned queues, unsigned ring_size);

/* Frees it; what its rings hold is freed without being counted: share_stop() comes first. */
void share_free(struct port_share *s);

/* Where the group of that number receives. */
struct packet_source share_source(struct port_share *s, unsigned group);

/* Where the groups send: the ring, or the port where there is none. */
struct packet_sink share_sink(const struct port_share *s);

/* What is in the rings of its groups, in that of what went astray, and what waits for the port. May be called while
 * workers run. */
uint64_t share_held_in(const struct port_share *s);
uint64_t share_held_astray(const struct port_share *s);
uint64_t share_held_out(const struct port_share *s);

/* All that is counted of the port. May be called while workers run. */
void share_counters(const struct port_share *s, struct counters *sum);

/* Whether all that came in was handed, steered or dropped. To be asked when no worker runs. */
bool share_balanced(const struct port_share *s);

/* Receives no more, so that what is in its rings can come out. Beside workers it is sure when all have passed. */
void share_close(struct port_share *s);

/* What is in the ring to the port, and comes there, ends under `port_unsent`; or it goes out again. By the owner's worker. */
void share_send_shut(struct port_share *s, bool shut);

/* Ends all that is still held, under `port_stopped` and `port_unsent`. No worker may be running. */
void share_stop(struct port_share *s);

/*
 * For changes while workers run. A group comes: share_lane_open(), then a table with it. It goes: a table
 * without it, and when the owner's worker has passed that, share_lane_close(), after which the group must
 * not ask its source any more.
 */

/* Makes the ring to the port where there is none, for those that are to send by it from now on. Returns 0 or -1
 * after a message. */
int share_send_open(struct port_share *s, unsigned ring_size);

/* Frees it again, where nobody was told of it. */
void share_send_close(struct port_share *s);

/* Makes the ring of a number that is free. Returns 0 or -1 after a message. */
int share_lane_open(struct port_share *s, unsigned group, unsigned ring_size);

/* Ends up to `most` packets of a ring that no table leads to, by the owner's worker. Returns whether that was all. */
bool share_lane_empty(struct port_share *s, unsigned group, unsigned most);

/* Ends what the ring holds, as share_stop() does, and frees the number. Not beside a worker that runs the
 * lists of the share. */
void share_lane_close(struct port_share *s, unsigned group);

/* Puts another table in the place of the present one. Returns that: it may be freed when the owner's worker
 * has passed. */
struct share_table *share_table_replace(struct port_share *s, struct share_table *table);
