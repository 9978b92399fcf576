/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods config.*: read, reload and reject the configuration. */
#pragma once

#include "control/methods/subject.h"

struct config_get_params {
	bool keys;
	struct group_subject group;
};

extern const struct key config_get_params[], config_get_result[];
json_t *config_get(struct rpc_call *call);

struct config_reload_params {
	bool force;
};

extern const struct key config_reload_params[], config_reload_result[];
json_t *config_reload(struct rpc_call *call);

struct config_save_params {
	char *file; /* NULL: the configuration file */
};

extern const struct key config_save_params[], config_save_result[];
json_t *config_save(struct rpc_call *call);

/* Objects that requests have changed and config.save has not saved. */
extern const struct key config_changes_result[];
json_t *config_changes(struct rpc_call *call);

extern const struct key config_refuse_result[];
json_t *config_refuse(struct rpc_call *call);
