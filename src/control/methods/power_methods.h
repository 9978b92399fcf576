/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods power.*: pauses of the workers and frequencies of their cores. */
#pragma once

#include "control/methods/subject.h"

struct power_params {
	enum power_policy policy;
	enum idle_kind idle;
	uint32_t empty_rounds;
	uint32_t longest_pause_us, coalesce_us, latency_us, transition_us;
	bool queues;
	bool policy_given, idle_given, empty_rounds_given, longest_pause_given, latency_given;
	bool coalesce_given, transition_given, queues_given;
};

extern const struct key power_set_params[], power_result[];
json_t *power_get(struct rpc_call *call);
json_t *power_change(struct rpc_call *call);
