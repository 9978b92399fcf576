/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows a server whose configuration changes: subscribes to the events of its control socket, and gives the traffic of
 * each service group what differs, when the server has applied it.
 *
 *     events.subscribe --> prepared, object, object, .., applied --> tables and keys --> traffic
 *     config.get {"keys": true}: where the traffic joins late, or events tell too little
 *
 * The server has told of a change before the first frame shows it. So a frame that nothing explains is held until the server
 * has answered a request that was made behind it: what it told by then is all there was to know (server.info).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "follow/follow_group.h"
#include "follow/follow_times.h"
#include "follow/server_link.h"
#include "groups/groups.h"
#include "model/server_config.h"

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
	bool joined; /* events arrive */
	bool known; /* the groups are as they were in service at some time */
	bool lost; /* they have to be compared with the server's configuration */
	bool within; /* a change is prepared and not yet applied */
	bool heard; /* a change since the latest look */
	int64_t sequence; /* of the first event that the groups do not have */
	uint64_t asked; /* id of the request whose answer frames wait for; 0: none */
	uint64_t asked_at, answered_at; /* TSC; 0: not, or the traffic has been told */
	uint64_t look_at, retry_at; /* TSC: not before */
	bool silent; /* that the server does not answer was said */
	uint64_t changes; /* offered to the traffic of a group */
	struct follow_times times;
};

/* The options that make traffic ready to follow: how many streams, by what the group is now. */
void follow_options(struct traffic_options *o, const struct service_group *sg);

/* For the groups of `all`, made with follow_options() of `sgs`. `path` must live on. Returns 0, or -1 after a
 * message. To be freed by follow_free() in either case. */
int follow_create(struct follow *f, const char *path, struct groups *all,
		  const struct service_group *sgs, uint64_t tsc_hz);

/* Before the traffic is freed, when nobody polls any more. */
void follow_free(struct follow *f);

/* What a summary tells of changes, when nobody polls any more. The caller owns it. */
json_t *follow_json(const struct follow *f);

/* To be called again and again, by a thread that polls no packets. Waits for events up to `wait_ms`, and longer for answers
 * of the server. */
void follow_look(struct follow *f, int wait_ms);
