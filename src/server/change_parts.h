/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a server change, for the files that prepare it and apply it. */
#pragma once

#include "server/change_keys.h"
#include "server/changes.h"

#define DEVICE_SHARED 2

/* A shared port of a group, and the worker that runs the port's pipelines. */
struct share_part {
	struct share_change *change;
	struct worker *owner;
};

#define GROUP_TAKES (2 * DEVICE_SHARED + 3)
#define GROUP_LEAVES 3

/* Worker tasks in the order in which they run. */
struct chain {
	struct worker_task *first, **end;
};

enum leaving {
	LEAVING_QUEUES, /* queues of removed flows drain */
	LEAVING_REST, /* workers release the rest */
	LEAVING_DONE,
};

/* The part of a change in one group. */
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
	uint64_t drain_end; /* ns of the upper MAC's clock; 0: draining has not begun */
};

struct server_change {
	struct server *server;
	struct group_change *groups[SERVER_MAX_GROUPS];
	unsigned count;
	struct chain take;
	const struct worker_task *next; /* next task of server_change_round() */
	bool listed, taken;
	bool taken_over; /* set by a worker */
	uint64_t generation; /* the server's generation once the change is applied */
	struct watched_change watched;
	bool passes; /* an RCU grace period runs, identified by `token` */
	uint64_t token;
	struct server_change *behind; /* a later change that also retires */
};
