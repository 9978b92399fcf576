/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the stages that pipeline/downstream.def names: as pipeline/pipeline.h has them, with a
 * struct ds_upper or struct ds_lower for the context.
 *
 * What a stage keeps of its own it makes in function_open(), which returns 0, or -1 after a message on
 * stderr, and frees in function_close(), also where it was never made. They are called in the order of
 * travel, and in the opposite one, with `d` zeroed but for what setup.c fills in for all.
 */
#pragma once

#include <stdint.h>

struct downstream;
struct ds_resources;
struct rte_mbuf;
struct service_group;

#define STAGE(run) uint16_t run(void *ctx, struct rte_mbuf **pkts, uint16_t n);
#define OPENS(run)                                                           \
	int run##_open(struct downstream *d, const struct service_group *sg, \
		       const struct ds_resources *r);                        \
	void run##_close(struct downstream *d);
#include "pipeline/downstream.def"
