/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of a server for its groups: what a group is given there, and what its workers are called. */
#pragma once

#include "server/server.h"

/* The groups that there are, and where. */
struct shares_site server_site(struct server *s);

/* The wires of the group of that number, by its ports; where it is drained, nothing comes. */
struct group_wires server_group_wires(const struct server *s, unsigned group);

/* Makes the group of that number, whose ports and workers are known; no worker has it yet. Returns 0, or -1 after
 * a message. To be freed by served_group_free() in either case. */
int server_group_make(struct server *s, unsigned group, const struct service_group *sg);

/* Has a group that is in service take the wires that it is to have now. */
void server_group_wire(struct server *s, unsigned group);

/* After groups came, went or moved. */
void server_name_workers(struct server *s);
