/* SPDX-License-Identifier: BSD-3-Clause */
/* A call's params, from the request to the struct of its method. */
#pragma once

#include "control/rpc.h"

#define RPC_DISCOVER "rpc.discover" /* which every service has */

/* Reads the params into the zeroed `call`, or refuses it. `given` NULL: there are none. To be closed in
 * either case. */
void rpc_call_open(struct rpc_call *call, const struct rpc_method *method, json_t *given);

/* Frees a part of what it has. Returns whether that was the last one. */
bool rpc_call_close_part(struct rpc_call *call);

/* Frees all that it has. Harmless on one that was not opened. */
void rpc_call_close(struct rpc_call *call);
