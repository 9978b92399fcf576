/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of a shared port, as pipeline/pipeline.h has them, with a struct port_share for the context. */
#pragma once

#include <stdint.h>

struct rte_mbuf;

/* Some drivers give no more than this at a time, however many there are. */
#define SHARE_DRIVER_BURST 32

uint16_t share_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t share_tell_apart(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t share_send(void *ctx, struct rte_mbuf **pkts, uint16_t n);
