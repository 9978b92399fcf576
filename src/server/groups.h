/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server provides to the group of a slot: sources, sinks, resources; and the names of
 * workers. */
#pragma once

#include "server/server.h"

/* The groups in service, with their ports, layout and workers. */
struct shares_context server_shares_context(struct server *s);

/* The sources and sinks of the group in slot `group`, by its ports. The sources of a drained group
 * are empty. */
struct group_endpoints server_group_endpoints(const struct server *s, unsigned group);

/* Creates the group in slot `group`, whose ports and workers are set; no worker runs it yet.
 * Returns 0, or -1 and logs the reason. The caller calls served_group_free() in either case. */
int server_group_make(struct server *s, unsigned group, const struct service_group *sg);

/* Gives a group in service its present sources and sinks. */
void server_group_connect(struct server *s, unsigned group);

/* Names the workers by what they run. Call it after groups were added, removed or moved. */
void server_name_workers(struct server *s);
