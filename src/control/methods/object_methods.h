/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods OBJECT.add, .replace, .set and .remove for objects in lists of a service group; and group.set. */
#pragma once

#include "control/methods/subject.h"
#include "model/live/difference.h"

/* Applies the changes to the group. Returns the result, with `summary` (NULL: "1 modem changed"), or
 * NULL after a refusal or while it waits. Frees `changes`. */
json_t *object_change(struct rpc_call *call, struct served_group *g, struct live_changes *changes,
		      const char *summary);

/* The parameters. live_request() reads the object, whose keys are those of a file, or the name of
 * the object to remove. */
struct object_params {
	struct group_subject group;
	uint8_t mac[6];
	uint32_t id;
};

extern const struct key object_result[];

extern const struct key modem_params[], modem_remove_params[];
extern const struct key filter_group_params[], filter_group_remove_params[];
extern const struct key channel_params[], channel_remove_params[];
extern const struct key upstream_channel_params[], upstream_channel_remove_params[];
extern const struct key bonding_group_params[], bonding_group_remove_params[];
extern const struct key group_set_params[];

/* The method's table entry sets `object` (enum live_object) and `verb` (enum live_verb). */
json_t *object_request(struct rpc_call *call);
