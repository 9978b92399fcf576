/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of a shared port, as in pipeline/pipeline.h. The context is a struct port_share. */
#pragma once

#include <stdint.h>

struct rte_mbuf;

/* Some drivers return at most this many packets per call. */
#define SHARE_DRIVER_BURST 32

uint16_t share_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t share_distribute(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t share_send(void *ctx, struct rte_mbuf **pkts, uint16_t n);
