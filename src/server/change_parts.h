/* SPDX-License-Identifier: BSD-3-Clause */
/* A change of a server on its way: for those who prepare it and those who take it over. */
#pragma once

#include "server/change_keys.h"
#include "server/changes.h"

#define DEVICE_SHARED 2

/* The ports that a group may share, and who runs the lists of the port. */
struct share_part {
	struct share_change *change;
	struct worker *owner;
};

#define GROUP_TAKES (2 * DEVICE_SHARED + 3)
#define GROUP_LEAVES 3

/* Tasks of workers, in their order. */
struct chain {
	struct worker_task *first, **end;
};

enum leaving {
	LEAVING_QUEUES, /* of flows that go run empty */
	LEAVING_REST, /* workers are at it */
	LEAVING_DONE,
};

/* Of one group. */
struct group_change {
	struct served_group *group;
	struct live_changes changes;
	struct change_keys keys;
	struct ds_change *downstream;
	struct us_change *upstream;
	struct share_part shares[DEVICE_SHARED]; /* network, R-PHY */
	struct worker_task takes[GROUP_TAKES], leaves[GROUP_LEAVES];
	unsigned take_count, leave_count;
	struct chain leave;
	enum leaving leaving;
	bool left; /* set by a worker */
	uint64_t drain_end; /* ns; 0: nobody waits yet */
};

struct server_change {
	struct server *server;
	struct group_change *groups[SERVER_MAX_GROUPS];
	unsigned count;
	struct chain take;
	const struct worker_task *next; /* of server_change_round() */
	bool listed, taken;
	bool taken_over; /* set by a worker */
	uint64_t generation; /* of the server, with it */
	struct watched_change watched;
	bool passes; /* the workers are waited for, by `token` */
	uint64_t token;
	struct server_change *behind; /* which came later and leaves, too */
};
