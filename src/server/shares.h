/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of a server that several groups have, or that a VLAN leads to: who owns each, and its lists. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/live/live_group.h"
#include "server/layout.h"
#include "server/ports.h"
#include "server/worker.h"
#include "sharing/sharing.h"

struct server_shares {
	struct port_share
		*of[SERVER_PORTS_MAX]; /* by the index of the port; NULL: a group has it alone */
	/* Who receives from it, and sends for the others: a worker. */
	unsigned owners[SERVER_PORTS_MAX];
	unsigned homes[SERVER_PORTS_MAX]; /* who was at first */
	bool receives[SERVER_PORTS_MAX]; /* the owner has its first list */
	bool sends[SERVER_PORTS_MAX]; /* and its last */
};

/* What of the server shares are made of. */
struct shares_site {
	const struct server_ports *ports;
	const struct layout *layout;
	struct worker *workers;
	struct group_slots groups; /* that there are, or are to be */
	unsigned most; /* groups that there may be at a time */
};

/* The worker that receives from a shared port, and hands over to others what theirs is: in the first of its
 * groups the upper MAC, or the upstream. */
unsigned server_share_owner(const struct server_ports *ports, const struct layout *layout,
			    unsigned port);

/*
 * Makes them for the open ports, and gives what receives to the owners' workers: before the lists of the
 * groups. Returns 0, or -1 after a message. To be freed by server_shares_free() in either case.
 */
int server_shares_create(struct server_shares *s, const struct shares_site *site);

/* Gives what sends to the owners' workers: behind the lists of the groups. Returns as the former. */
int server_shares_send(struct server_shares *s, const struct shares_site *site);

/* That of one port, which is there and has none. Nothing is given to a worker. Returns 0; or -1 with `why` as
 * share_create() has it. */
int server_share_make(struct server_shares *s, const struct shares_site *site, unsigned port,
		      char why[LIVE_LINE]);

/* The group, whose lane is open, has a queue of the port, where there are enough of them. */
void server_share_way(struct server_shares *s, const struct server_ports *ports, unsigned port,
		      unsigned group, const struct service_group *sg);

/* Frees that of one port, whose lists no worker has. Its drops go into `gone`. */
void server_share_end(struct server_shares *s, unsigned port, struct counters *gone);

/* Whether it is to be read for a group, and for any group of the site. */
bool server_share_is_read(const struct service_group *sg, enum device_role role);
bool server_share_is_read_for(const struct shares_site *site, unsigned port);

/* Gives the owner's worker what receives, or what sends, where it has not. Returns 0 or -1 after a message. */
int server_share_receive(struct server_shares *s, struct worker *workers, unsigned port);
int server_share_send(struct server_shares *s, struct worker *workers, unsigned port,
		      unsigned ring);

/* Ends the ring to the port and its list again, where server_share_send() made them and no group has the ring for its
 * sink. */
void server_share_send_undo(struct server_shares *s, struct worker *workers, unsigned port);

/* Takes from the owner's worker what it has of it. */
void server_share_stop(struct server_shares *s, struct worker *workers, unsigned port);

/* A table of the groups of the site for one port; NULL with the reason in `why`. */
struct share_table *server_share_table(const struct shares_site *site, unsigned port,
				       char why[LIVE_LINE]);

/* Where the group receives from a port of that role, and where it sends to. */
struct packet_source server_source(const struct server_shares *s, const struct server_ports *ports,
				   size_t group, enum device_role role);
struct packet_sink server_sink(const struct server_shares *s, const struct server_ports *ports,
			       size_t group, enum device_role role);

/* What is on its way to the groups, and to the ports. */
uint64_t server_shares_held_in(const struct server_shares *s);
uint64_t server_shares_held_out(const struct server_shares *s);

/* Whether all that came in was handed or dropped. To be asked when no worker runs. */
bool server_shares_balanced(const struct server_shares *s);

/* As those of sharing.h, of all. No worker may be running. */
void server_shares_close(struct server_shares *s);
void server_shares_run_astray(struct server_shares *s);
void server_shares_run_sending(struct server_shares *s);
void server_shares_stop(struct server_shares *s);

/* Harmless on a zeroed one. The ports are closed. */
void server_shares_free(struct server_shares *s);
