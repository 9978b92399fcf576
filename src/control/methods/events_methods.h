/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods events.*: subscription to configuration changes as they take effect. */
#pragma once

#include "control/methods/methods.h"

struct events_params {
	bool keys;
	uint32_t *groups; /* IDs, in the arena of the call; event_journal_subscribe() copies them */
	size_t group_count; /* 0: all groups */
};

extern const struct key events_subscribe_params[], events_subscribe_result[];

/* A further call replaces the subscription of the connection. Returns the result, or NULL after an error
 * response. */
json_t *events_subscribe(struct rpc_call *call);
