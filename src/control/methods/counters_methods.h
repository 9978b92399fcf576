/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods counters.*: values of the counters that docs/counters.md lists. */
#pragma once

#include "control/methods/subject.h"

struct counters_get_params {
	struct group_subject group;
};

extern const struct key counters_get_params[], counters_get_result[];
json_t *counters_get(struct rpc_call *call);
