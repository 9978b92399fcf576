/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of the upstream, in the order of travel; the context is a struct upstream. The contract
 * is in pipeline/pipeline.h. */
#pragma once

#include <stdint.h>

struct rte_mbuf;

uint16_t us_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t us_validate(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t us_uepi(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t us_reassemble(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t us_extract(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t us_decrypt_submit(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t us_decrypt_collect(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t us_defragment(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t us_verify_source(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t us_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n);

/* Behind the ring of requests, in the place of the upstream scheduler. */
uint16_t us_request_sink(void *ctx, struct rte_mbuf **pkts, uint16_t n);
