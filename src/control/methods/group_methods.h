/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods group.list and group.get. */
#pragma once

#include "control/methods/subject.h"

struct group_get_params {
	struct group_subject group;
};

extern const struct key group_list_result[];
json_t *group_list(struct rpc_call *call);

extern const struct key group_get_params[], group_get_result[];
json_t *group_get(struct rpc_call *call);
