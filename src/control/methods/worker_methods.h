/* SPDX-License-Identifier: BSD-3-Clause */
/* The method worker.list: statistics of the workers since the start. */
#pragma once

#include "control/methods/subject.h"

struct worker_list_params {
	bool restart;
};
extern const struct key worker_list_params[], worker_list_result[];
json_t *worker_list(struct rpc_call *call);
