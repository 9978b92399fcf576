/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NIC flow rules that steer packets of a shared port to the queues of its groups. They only save
 * work: software distributes packets that no rule matches or that arrive in another queue. For the
 * control thread alone.
 */
#pragma once

#include "server/server.h"

/* Tries a rule on each port that was opened with several queues, before the ports start. A port
 * that refuses it gets one queue. Returns 0, or -1 and logs the reason. */
int server_steering_probe(struct server *s);

/* Creates all rules, after the ports have started. */
void server_steering_start(struct server *s);

/*
 * Prepares a port for a group, before the port's tables include it. Sets the rules that the other
 * groups have beside it. Waits until packets steered by earlier rules are distributed, with a time
 * limit.
 */
void server_steer_before(struct server *s, unsigned port, unsigned group,
			 const struct service_group *sg);

/* Updates the rules after a group of the port was added, removed or changed, as far as the NIC
 * accepts them. */
void server_steer(struct server *s, unsigned port);

/* Removes all rules of a group. Its queue still has packets until share_queue_settled(). */
void server_steering_clear(struct server *s, unsigned port, unsigned group);

/* Writes how many groups of the port have rules and of which kind, for people: "2 of 3 groups to
 * queues of their own, by VLAN". Returns the number of groups. */
#define STEERING_TEXT 160
unsigned server_steering_text(const struct server *s, unsigned port, char text[STEERING_TEXT]);

/* Logs one line per shared port. */
void server_steering_log(const struct server *s);

/* Remove all rules of an open port; of all ports. */
void server_steering_end(struct server *s, unsigned port);
void server_steering_free(struct server *s);
