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

#define GROUP_APPLIES (2 * DEVICE_SHARED + 3)
#define GROUP_RETIRES 3

/* Worker tasks in the order in which they run. */
struct chain {
	struct worker_task *first, **end;
};

enum retiring {
	RETIRE_QUEUES, /* queues of removed flows drain */
	RETIRE_RELEASE, /* workers release the rest */
	RETIRE_DONE,
};

/* The part of a change in one group. */
struct group_change {
	struct served_group *group;
	struct live_changes changes;
	struct change_keys keys;
	struct ds_change *downstream;
	struct us_change *upstream;
	struct share_part shares[DEVICE_SHARED]; /* network, R-PHY */
	struct worker_task applies[GROUP_APPLIES], retires[GROUP_RETIRES];
	unsigned apply_count, retire_count;
	struct chain retire;
	enum retiring retiring;
	bool retired; /* set by a worker */
	uint64_t drain_end; /* ns of the upper MAC's clock; 0: draining has not begun */
};

struct server_change {
	struct server *server;
	const char *method; /* that requested it; NULL: a reload */
	struct group_change *groups[SERVER_MAX_GROUPS];
	unsigned count;
	struct chain apply;
	const struct worker_task *next; /* next task of server_change_round() */
	bool has_tasks, applied;
	bool all_applied; /* set by a worker */
	uint64_t generation; /* the server's generation once the change is applied */
	struct watched_change watched;
	bool in_grace; /* an RCU grace period runs, identified by `token` */
	uint64_t token;
	struct server_change *later; /* a later change that also retires */
};
