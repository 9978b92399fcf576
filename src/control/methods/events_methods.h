/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods events.*: subscription to configuration changes as they take effect. */
#pragma once

#include "control/methods/methods.h"

struct events_params {
	bool keys;
	uint32_t *groups;
	size_t group_count;
};

extern const struct key events_subscribe_params[], events_subscribe_result[];
json_t *events_subscribe(struct rpc_call *call);
