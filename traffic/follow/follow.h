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
	/* includes removed groups, and an added one once it is offered to the polling thread */
	unsigned count;
	/* IDs of added groups that cannot get traffic */
	uint32_t without_traffic[SERVER_MAX_GROUPS];
	unsigned without_traffic_count;
	/* the latest added group; the polling thread may not have applied it */
	struct groups_offer offer;
	struct server_config kept[SERVER_MAX_GROUPS]; /* configurations that contain added groups */
	unsigned kept_count;
	uint64_t tsc_hz;
	bool joined; /* subscribed to events */
	/* subscribed at least once; a later subscription requests the configuration, as events may be missing */
	bool joined_before;
	/* events are missing: the groups must be compared with the server's configuration */
	bool lost;
	bool in_change; /* the server has prepared a change and not applied it yet */
	bool change_reported; /* the server reported a change after the latest sample, which is then invalid */
	int64_t sequence; /* number of the next event; the groups include lower ones */
	uint64_t request_id; /* ID of the request for which unresolved frames wait; 0: none */
	uint64_t requested_at; /* TSC at which the latest request was sent */
	/* TSC; the server has reported all changes before it. 0: none, or the traffic is informed */
	uint64_t complete_until;
	uint64_t sample_at; /* TSC of the earliest next sample */
	uint64_t retry_at; /* TSC of the earliest repetition of a failed request */
	bool error_printed; /* since the latest subscription; further errors are not printed */
	uint64_t changes; /* number of changes offered, sum of all groups */
	struct follow_times times;
};

/* Sets the capacities of streams for traffic that follows `sg`: several times those of `sg`, as released
 * stream numbers rest. */
void follow_options(struct traffic_options *o, const struct service_group *sg);

/*
 * Prepares to follow the server at socket `path` for the groups of `all`, created of `sgs` with
 * follow_options(). Does not connect yet. `path`, `all` and `sgs` must outlive `f`. Returns 0, or -1 after a
 * message. The caller frees it with follow_free() in either case.
 */
int follow_create(struct follow *f, const char *path, struct groups *all,
		  const struct service_group *sgs, uint64_t tsc_hz);

/* Must be called before the traffic is freed, when no thread polls any more. */
void follow_free(struct follow *f);

/* Changes for a summary, when no thread polls any more. The caller owns the result. */
json_t *follow_json(const struct follow *f);

/*
 * Must be called repeatedly by a thread that polls no packets. Waits up to `wait_ms` for events, and up to
 * SERVER_LINK_TIMEOUT_MS for a response. Prints the first error of a connection, and retries. Without a
 * connection, unresolved frames get their verdict by the known changes.
 */
void follow_step(struct follow *f, int wait_ms);
