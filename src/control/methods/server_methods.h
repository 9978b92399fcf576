/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods server.*: the process as a whole. */
#pragma once

#include "control/rpc.h"

extern const struct key server_info_result[];
json_t *server_info(struct rpc_call *call);
