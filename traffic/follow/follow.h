/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows a server whose configuration changes: asks its control socket for the number of its changes, for its
 * configuration where that is another, and gives the traffic of each service group what differs.
 *
 *     server.info {"generation"} .. another? --> config.get {"keys": true} --> differences --> traffic
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "follow/follow_group.h"
#include "follow/server_link.h"
#include "groups/groups.h"
#include "model/server_config.h"

#define FOLLOW_EVERY_MS 100

struct follow {
	struct server_link link;
	struct groups *all;
	struct follow_group groups[SERVER_MAX_GROUPS]; /* by place of a traffic */
	uint32_t ids[SERVER_MAX_GROUPS];
	const char *names[SERVER_MAX_GROUPS];
	unsigned count; /* a group that comes, once its traffic is offered */
	uint32_t refused[SERVER_MAX_GROUPS]; /* ids of groups that get no traffic */
	unsigned refused_count;
	struct groups_offer offer;
	struct server_config kept[SERVER_MAX_GROUPS]; /* with groups that came */
	unsigned kept_count;
	uint64_t tsc_hz;
	int64_t generation; /* that the groups have; -1: unknown */
	bool silent; /* that the server does not answer was said */
	uint64_t changes; /* taken by the traffic of a group */
};

/* The options that make traffic ready to follow: room for streams, by what the group is now. */
void follow_options(struct traffic_options *o, const struct service_group *sg);

/* For the groups of `all`, made with follow_options() of `sgs`. `path` must live on. Returns 0, or -1 after a
 * message. To be freed by follow_free() in either case. */
int follow_create(struct follow *f, const char *path, struct groups *all,
		  const struct service_group *sgs, uint64_t tsc_hz);

/* Before the traffic is freed, when nobody polls any more. */
void follow_free(struct follow *f);

/* To be called every FOLLOW_EVERY_MS, by a thread that polls no packets. It may wait for the server. */
void follow_look(struct follow *f);
