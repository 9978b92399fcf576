/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive queues of a shared port for single groups. Another module sets the NIC's rules and calls
 * these functions when they change, so that the packets of a group keep their order:
 *
 *     share_way_open()   control  assigns the queue; it is still empty
 *     share_queue_pause()   control  before a rule is added: the queue waits
 *     share_queue_resume()  control  after: the queue is read once the ring has no earlier packets
 *     share_ring_pause()   control  before the last rule is removed: the ring waits
 *     share_ring_resume()    control  after: the ring is read once the queue is empty
 *
 * Between share_queue_pause() or share_ring_pause() and the rule's change, all workers must pass the end
 * of a round.
 */
#pragma once

#include "sharing/port_share.h"

/* Assigns the queue to the group, after share_member_open(). No worker may read the packets of the
 * group until the owner's worker has passed. */
void share_way_open(struct port_share *s, unsigned group, const struct service_group *sg,
		    uint16_t queue);

void share_queue_pause(struct port_share *s, unsigned group);
void share_queue_resume(struct port_share *s, unsigned group);
void share_ring_pause(struct port_share *s, unsigned group);
void share_ring_resume(struct port_share *s, unsigned group);

/* Whether all earlier packets were read, so that neither ring nor queue waits, and rules may
 * change again. */
bool share_way_settled(const struct port_share *s, unsigned group);

/* Number of periods since the group was opened in which its ring and its queue were found empty. */
uint64_t share_way_emptied(const struct port_share *s, unsigned group);

/* Packets that the groups have returned to the owner so far, and whether the owner has dequeued
 * these. Requires groups with queues. */
uint64_t share_misdirected_handed(const struct port_share *s);
bool share_misdirected_taken(const struct port_share *s, uint64_t handed);

/* For sharing.c: the source that reads ring and queue; dropping the packets of a queue without a
 * reader, as share_member_drain(); and closing it with its counters kept. */
void share_way_source(struct port_share *s, unsigned group, struct packet_source *source);
bool share_way_drain(struct port_share *s, unsigned group, unsigned most);
void share_way_close(struct port_share *s, unsigned group);

/* Sums of the counters of all queues, closed ones included. */
struct share_way share_ways_counted(const struct port_share *s);
