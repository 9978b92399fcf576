/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods measure.*: measurements on request. */
#pragma once

#include "control/methods/subject.h"

struct measure_params {
	bool cycles, latency;
	bool cycles_given, latency_given;
};

extern const struct key measure_set_params[], measure_result[];
json_t *measure_get(struct rpc_call *call);
json_t *measure_set(struct rpc_call *call);
