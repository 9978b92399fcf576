/* SPDX-License-Identifier: BSD-3-Clause */
/* OBJECT.add, .replace, .set, .remove: what a service group has in lists, one at a time; and group.set. */
#pragma once

#include "methods/subject.h"
#include "model/live/difference.h"

/* Has the changes made in the group. Returns the result, or NULL after a refusal; `changes` are freed. */
json_t *object_change(struct rpc_call *call, struct served_group *g, struct live_changes *changes);

/* The params: the group, and the object with a file's keys, which the reader leaves alone. */
struct object_params {
	struct group_subject group;
};

extern const struct key object_result[];

#define OBJECT_METHODS(object)                                                                 \
	extern const struct key object##_params[], object##_remove_params[];                   \
	json_t *object##_add(struct rpc_call *call), *object##_replace(struct rpc_call *call), \
		*object##_set(struct rpc_call *call), *object##_remove(struct rpc_call *call);

OBJECT_METHODS(modem)
OBJECT_METHODS(channel)
OBJECT_METHODS(upstream_channel)
OBJECT_METHODS(bonding_group)
OBJECT_METHODS(filter_group)

extern const struct key group_set_params[];
json_t *group_set(struct rpc_call *call);
