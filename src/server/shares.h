/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared ports of a server, which several groups or a VLAN use: their owners and pipelines. */
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
		*of[SERVER_PORTS_MAX]; /* by port index; NULL: one group has the port alone */
	/* The worker that receives from the port, and sends for the other workers. */
	unsigned owners[SERVER_PORTS_MAX];
	unsigned planned[SERVER_PORTS_MAX]; /* the first owner */
	bool receives[SERVER_PORTS_MAX]; /* the owner runs the receive pipeline */
	bool sends[SERVER_PORTS_MAX]; /* and the send pipeline */
};

/* What shares are created from. */
struct shares_context {
	const struct server_ports *ports;
	const struct layout *layout;
	struct worker *workers;
	struct group_slots groups; /* in service, or as they will be */
	unsigned max; /* limit of groups */
};

/* The port owner: the worker that runs the upper MAC of the port's first group, or its upstream. */
unsigned server_share_owner(const struct server_ports *ports, const struct layout *layout,
			    unsigned port);

/*
 * Creates shares for the open ports and adds their receive pipelines to the owners' workers. Call
 * it before the groups are created. Returns 0, or -1 and logs the reason. The caller calls
 * server_shares_free() in either case.
 */
int server_shares_create(struct server_shares *s, const struct shares_context *site);

/* Adds the send pipelines to the owners' workers, behind those of the groups. Returns as
 * server_shares_create(). */
int server_shares_send(struct server_shares *s, const struct shares_context *site);

/* Creates the share of one open port, without adding pipelines. Returns 0; or -1 with `why` as for
 * share_create(). */
int server_share_make(struct server_shares *s, const struct shares_context *site, unsigned port,
		      char why[LIVE_LINE]);

/* Gives the group, whose ring is open, a receive queue of the port if there are enough of them. */
void server_share_queue(struct server_shares *s, const struct server_ports *ports, unsigned port,
			unsigned group, const struct service_group *sg);

/* Frees the share of a port whose pipelines no worker runs. Adds its drops to `removed`. */
void server_share_end(struct server_shares *s, unsigned port, struct counters *removed);

/* Whether the port is polled for a group, and for any group of the site. */
bool server_share_is_polled(const struct service_group *sg, enum device_role role);
bool server_share_is_polled_for_any(const struct shares_context *site, unsigned port);

/* Add the receive or send pipeline to the owner's worker if it is missing. Return 0, or -1 and log
 * the reason. */
int server_share_receive(struct server_shares *s, struct worker *workers, unsigned port);
int server_share_send(struct server_shares *s, struct worker *workers, unsigned port,
		      unsigned ring);

/* Removes the send ring and pipeline that server_share_send() created. No group may use the ring as
 * its sink. */
void server_share_send_undo(struct server_shares *s, struct worker *workers, unsigned port);

/* Removes the port's pipelines from the owner's worker. */
void server_share_stop(struct server_shares *s, struct worker *workers, unsigned port);

/* Creates a table of the site's groups for one port; NULL with the reason in `why`. */
struct share_table *server_share_table(const struct shares_context *site, unsigned port,
				       char why[LIVE_LINE]);

/* The source and the sink of the group on its port of that role. */
struct packet_source server_source(const struct server_shares *s, const struct server_ports *ports,
				   size_t group, enum device_role role);
struct packet_sink server_sink(const struct server_shares *s, const struct server_ports *ports,
			       size_t group, enum device_role role);

/* Packets pending in rings to the groups, and in rings to the ports. */
uint64_t server_shares_pending_in(const struct server_shares *s);
uint64_t server_shares_pending_out(const struct server_shares *s);

/* Whether every received packet was handed on or dropped. Call it when no worker runs. */
bool server_shares_balanced(const struct server_shares *s);

/* Call the functions of sharing.h for all shares. No worker may be running. */
void server_shares_close(struct server_shares *s);
void server_shares_run_misdirected(struct server_shares *s);
void server_shares_run_sending(struct server_shares *s);
void server_shares_stop(struct server_shares *s);

/* Accepts a zeroed struct. The ports must be closed. */
void server_shares_free(struct server_shares *s);
