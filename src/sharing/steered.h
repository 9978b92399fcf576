/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups that have a queue of a shared port for themselves, where the card brings their packets there. Rules of the
 * card are not this room's: it is told when they come and go, so that the packets of a group keep their order.
 *
 *     share_way_open()      control   the group has the queue; nothing is there yet
 *     share_way_shut()      control   before a rule comes: the queue waits
 *     share_way_begin()     control   it is there: the queue comes when the ring has all from before
 *     share_way_last()      control   before the last rule goes: the ring waits
 *     share_way_end()       control   it is gone: the ring comes when the queue has been emptied
 *
 * Between shut or last and the rule, all workers pass the end of a round.
 */
#pragma once

#include "sharing/port_share.h"

/* The group, whose lane is open and whose packets nobody takes yet, reads that queue, too: when the owner's worker
 * has passed. */
void share_way_open(struct port_share *s, unsigned group, const struct service_group *sg,
		    uint16_t queue);

void share_way_shut(struct port_share *s, unsigned group);
void share_way_begin(struct port_share *s, unsigned group);
void share_way_last(struct port_share *s, unsigned group);
void share_way_end(struct port_share *s, unsigned group);

/* Whether the group has taken all from before: nothing waits for something else any more, and the next rules may come or
 * go. */
bool share_way_settled(const struct port_share *s, unsigned group);

/* How often, since the group came, its ring was found empty, and its queue once since the last such time. */
uint64_t share_way_emptied(const struct port_share *s, unsigned group);

/* Of a port whose groups have queues: how many packets they have handed back so far, and whether the owner has taken
 * these. */
uint64_t share_astray_handed(const struct port_share *s);
bool share_astray_taken(const struct port_share *s, uint64_t handed);

/* For sharing.c: the source that reads both; ending what the queue holds, by the owner's worker, when nobody reads it
 * any more, as share_lane_empty(); keeping what was counted. */
void share_way_source(struct port_share *s, unsigned group, struct packet_source *source);
bool share_way_empty(struct port_share *s, unsigned group, unsigned most);
void share_way_close(struct port_share *s, unsigned group);

/* What all ways have counted, also those that were closed. */
struct share_way share_ways_counted(const struct port_share *s);
