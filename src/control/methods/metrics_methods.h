/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods metrics.*: samples of the metrics of docs/metrics.md. */
#pragma once

#include "control/methods/subject.h"

/* Samples per response: the maximum is about 6 MB, the default about 1.2 MB. */
#define METRICS_SAMPLES_MAX 50000
#define METRICS_SAMPLES_DEFAULT "10000"

struct metrics_get_params {
	char **names;
	size_t name_count;
	struct group_subject group;
	uint8_t modem[6];
	bool has_modem;
	bool modems;
	bool flows;
	uint64_t first;
	uint32_t count;
};

extern const struct key metrics_get_params[], metrics_get_result[];
json_t *metrics_get(struct rpc_call *call);
