/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cards that bring the packets of a shared port to queues of the groups. Nothing depends on it: what a card does not
 * take a rule for, or brings elsewhere, is told apart by software. By the control thread alone.
 */
#pragma once

#include "server/server.h"

/* Asks the ports that were opened with several queues for a rule; one that refuses has one queue from then on. They
 * are not started. Returns 0, or -1 after a message. */
int server_steering_ask(struct server *s);

/* All rules, when the ports have been started. */
void server_steering_start(struct server *s);

/* Before the tables of the port know of a group that comes: the rules of the others are those that they have beside it,
 * and what the card brought by rules of before has been told apart, or some time is over. */
void server_steer_before(struct server *s, unsigned port, unsigned group,
			 const struct service_group *sg);

/* After a group of the port came, went or changed: rules are as they are to be, as far as the card takes them. */
void server_steer(struct server *s, unsigned port);

/* The group has no rules any more; what the card brought is taken first (share_way_settled()). */
void server_steer_nothing(struct server *s, unsigned port, unsigned group);

/* How many groups of the port have rules, and what is done, for people: "2 of 3 groups to queues of their own, by
 * VLAN". */
#define STEERING_TEXT 160
unsigned server_steering_text(const struct server *s, unsigned port, char text[STEERING_TEXT]);

/* Logs a line for each port that groups share. */
void server_steering_say(const struct server *s);

/* Ends all rules of a port that is open; of all ports. */
void server_steering_end(struct server *s, unsigned port);
void server_steering_free(struct server *s);
