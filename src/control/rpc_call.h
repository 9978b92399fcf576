/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the parameters of a call into the struct of its method. */
#pragma once

#include "control/rpc.h"

#define RPC_DISCOVER "rpc.discover" /* every service has it */

/* Reads the parameters into the zeroed `call`, or refuses it. `given` is NULL without parameters. Call
 * rpc_call_close() in either case. */
void rpc_call_open(struct rpc_call *call, const struct rpc_method *method, json_t *given);

/* Frees a part of the call. Returns whether all is freed. */
bool rpc_call_close_part(struct rpc_call *call);

/* Frees the call. Does nothing if it was not opened. */
void rpc_call_close(struct rpc_call *call);
