/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods that add, remove, drain and resume groups, and drain and resume workers. */
#pragma once

#include "control/methods/subject.h"

struct group_add_params {
	char *file;
};

struct group_lifecycle_params {
	struct group_subject group;
	uint64_t limit_ns;
};

struct worker_params {
	uint32_t core, to;
};

extern const struct key group_add_params[], group_lifecycle_params[], group_resume_params[];
extern const struct key worker_drain_params[], worker_resume_params[];
extern const struct key lifecycle_result[], drain_result[];

json_t *group_add(struct rpc_call *call);
json_t *group_remove(struct rpc_call *call);
json_t *group_drain(struct rpc_call *call);
json_t *group_resume(struct rpc_call *call);
json_t *worker_drain(struct rpc_call *call);
json_t *worker_resume(struct rpc_call *call);
