/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods modem.list and modem.get. */
#pragma once

#include "control/methods/subject.h"

struct modem_list_params {
	struct group_subject group;
	uint32_t first, count;
};

struct modem_get_params {
	struct group_subject group;
	uint8_t mac[6];
};

extern const struct key modem_list_params[], modem_list_result[];
json_t *modem_list(struct rpc_call *call);

extern const struct key modem_get_params[], modem_get_result[];
json_t *modem_get(struct rpc_call *call);
