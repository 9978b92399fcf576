/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods key.*: roll the traffic encryption keys of a security association. */
#pragma once

#include "control/methods/object_methods.h"
#include "model/live/key_roll.h"

struct key_params {
	struct group_subject group;
	uint16_t said;
	struct live_next_key next; /* for key.install only */
};

extern const struct key key_install_params[], key_params[];
json_t *key_install(struct rpc_call *call);
json_t *key_use(struct rpc_call *call);
json_t *key_remove(struct rpc_call *call);
