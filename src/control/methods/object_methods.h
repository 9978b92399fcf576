/* SPDX-License-Identifier: BSD-3-Clause */
/* OBJECT.add, .replace, .set, .remove: what a service group has in lists, one at a time; and group.set. */
#pragma once

#include "control/methods/subject.h"
#include "model/live/difference.h"

/* Has the changes made in the group. Returns the result, or NULL after a refusal; `changes` are freed. */
json_t *object_change(struct rpc_call *call, struct served_group *g, struct live_changes *changes);

/* The params: the group, and the object with a file's keys, which the reader leaves alone. */
struct object_params {
	struct group_subject group;
};

extern const struct key object_result[];

extern const struct key modem_params[], modem_remove_params[];
extern const struct key filter_group_params[], filter_group_remove_params[];
extern const struct key channel_params[], channel_remove_params[];
extern const struct key upstream_channel_params[], upstream_channel_remove_params[];
extern const struct key bonding_group_params[], bonding_group_remove_params[];
extern const struct key group_set_params[];

/* What the row of its method says: `object` is an enum live_object, `verb` an enum live_verb. */
json_t *object_request(struct rpc_call *call);
