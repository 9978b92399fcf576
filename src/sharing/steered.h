/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive queues of a shared port for single groups. server/steering.c sets the NIC's rules. The
 * control thread calls these functions, so that a group's packets keep their order:
 *
 *     share_queue_open()      assigns the queue, which is still empty
 *     share_queue_pause()     before a rule is added: the group does not read the queue
 *     share_queue_resume()    after: the group reads the queue once it has read all earlier packets
 *                             of the ring
 *     share_ring_pause()      before the last rule is removed: the group does not read the ring
 *     share_ring_resume()     after: the group reads the ring once the queue is empty
 *
 * All workers must pass the end of a round between a pause and the change of the rule.
 */
#pragma once

#include "sharing/port_share.h"

/* Assigns the queue to the group, after share_member_open(). The group may not poll its source
 * until the owner's worker, which polls queues without a group, has passed the end of a round. */
void share_queue_open(struct port_share *s, unsigned group, const struct service_group *sg,
		      uint16_t queue);

void share_queue_pause(struct port_share *s, unsigned group);
void share_queue_resume(struct port_share *s, unsigned group);
void share_ring_pause(struct port_share *s, unsigned group);
void share_ring_resume(struct port_share *s, unsigned group);

/* Whether neither ring nor queue is paused: the group has read all earlier packets, and its rules
 * may change again. */
bool share_queue_settled(const struct port_share *s, unsigned group);

/* Number of periods since share_queue_open() in which the group found its ring and queue empty. */
uint64_t share_queue_emptied(const struct port_share *s, unsigned group);

/* Packets that the groups have returned to the owner so far, and whether the owner has dequeued
 * that many. The first requires share_misdirected_open(). */
uint64_t share_misdirected_handed(const struct port_share *s);
bool share_misdirected_dequeued(const struct port_share *s, uint64_t handed);

/* For sharing.c. The first sets the source to read ring and queue. The second drops packets of a
 * queue that no worker reads, as share_member_drain(). The third frees the queue and keeps its
 * counters. */
void share_queue_source(struct port_share *s, unsigned group, struct packet_source *source);
bool share_queue_drain(struct port_share *s, unsigned group, unsigned max);
void share_queue_close(struct port_share *s, unsigned group);

/* Sums of the counters of all queues, closed ones included. */
struct share_queue share_queues_sum(const struct port_share *s);
