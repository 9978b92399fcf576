/* SPDX-License-Identifier: BSD-3-Clause */
/* The method latency.get: the time of packets in the pipeline, if it is measured. */
#pragma once

#include "control/methods/subject.h"

struct latency_get_params {
	struct group_subject group;
	bool reset;
};
extern const struct key latency_get_params[], latency_get_result[];
json_t *latency_get(struct rpc_call *call);
