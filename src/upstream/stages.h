/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the rows that pipeline/upstream.def names, as pipeline/pipeline.h has them, with a struct upstream
 * for the context. */
#pragma once

#include <stdint.h>

struct rte_mbuf;

#define STAGE(run) uint16_t run(void *ctx, struct rte_mbuf **pkts, uint16_t n);
#include "pipeline/upstream.def"
