/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows a server whose configuration changes: subscribes to the events of its control socket, and offers
 * the differences to the traffic of each service group when the server has applied them.
 *
 *     events.subscribe --> prepared, object, object, .., applied --> tables and keys --> traffic
 *     config.get {"keys": true}: if the traffic joins late, or events are incomplete
 *
 * The server reports a change before the first frame shows it. A frame that no known change explains
 * therefore stays unresolved until the server has answered a request made after the frame arrived. By then
 * the server has reported every change before the frame (server.info).
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
	struct follow_group groups[SERVER_MAX_GROUPS]; /* by index of the traffic */
	uint32_t ids[SERVER_MAX_GROUPS];
	const char *names[SERVER_MAX_GROUPS];
	unsigned count; /* includes an added group once its traffic is offered */
	uint32_t refused[SERVER_MAX_GROUPS]; /* IDs of groups without traffic */
	unsigned refused_count;
	struct groups_offer offer;
	struct server_config kept[SERVER_MAX_GROUPS]; /* configurations that contain added groups */
	unsigned kept_count;
	uint64_t tsc_hz;
	bool joined; /* subscribed to events */
	bool known; /* the groups match a past state of the server */
	/* events are missing: the groups must be compared with the server's configuration */
	bool lost;
	bool within; /* a change is prepared and not yet applied */
	bool change_reported; /* a change was reported since the latest look */
	int64_t sequence; /* number of the first event that the groups do not include */
	uint64_t request_id; /* ID of the request for which unresolved frames wait; 0: none */
	uint64_t requested_at, answered_at; /* TSC; 0: no request, or the traffic is informed */
	uint64_t sample_at, retry_at; /* TSC of the earliest next look and retry */
	bool silent; /* the missing answer was reported */
	uint64_t changes; /* offered to the traffic of all groups */
	struct follow_times times;
};

/* Sets the capacity of streams for traffic that follows `sg`, from its current size. */
void follow_options(struct traffic_options *o, const struct service_group *sg);

/* Follows for the groups of `all`, created with follow_options() of `sgs`. `path` must outlive `f`.
 * Returns 0, or -1 after a message. The caller frees it with follow_free() in either case. */
int follow_create(struct follow *f, const char *path, struct groups *all,
		  const struct service_group *sgs, uint64_t tsc_hz);

/* Must be called before the traffic is freed, when no thread polls any more. */
void follow_free(struct follow *f);

/* Changes for a summary, when no thread polls any more. The caller owns the result. */
json_t *follow_json(const struct follow *f);

/* Must be called repeatedly by a thread that polls no packets. Waits for events up to `wait_ms`,
 * and longer for answers of the server. */
void follow_step(struct follow *f, int wait_ms);
