/* SPDX-License-Identifier: BSD-3-Clause */
/* config.*: the file. */
#pragma once

#include "control/rpc.h"

extern const struct key config_reload_result[];
json_t *config_reload(struct rpc_call *call);
