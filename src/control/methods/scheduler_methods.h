/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods scheduler.get, flow.get and modem.flows: statistics of the downstream scheduler since the start. */
#pragma once

#include "control/methods/subject.h"

struct scheduler_get_params {
	struct group_subject group;
	bool flows;
};
extern const struct key scheduler_get_params[], scheduler_get_result[];
json_t *scheduler_get(struct rpc_call *call);

struct flow_get_params {
	struct group_subject group;
	uint32_t id;
};
extern const struct key flow_get_params[], flow_get_result[];
json_t *flow_get(struct rpc_call *call);

struct modem_flows_params {
	struct group_subject group;
	uint8_t mac[6];
};
extern const struct key modem_flows_params[], modem_flows_result[];
json_t *modem_flows(struct rpc_call *call);
