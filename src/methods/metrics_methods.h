/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics.*: what docs/metrics.md lists. */
#pragma once

#include "methods/subject.h"

struct metrics_get_params {
	char **names;
	size_t name_count;
	struct group_subject group;
	uint8_t modem[6];
	bool has_modem;
	bool modems;
};

extern const struct key metrics_get_params[], metrics_get_result[];
json_t *metrics_get(struct rpc_call *call);
