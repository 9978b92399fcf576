/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of the downstream, in the order of travel. The contract is in pipeline/pipeline.h. */
#pragma once

#include <stdint.h>

struct rte_mbuf;

/* Upper MAC; the context is a struct ds_upper. */
uint16_t ds_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_parse(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_known_flows(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_modem_lookup(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_filter(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_classify(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_enqueue(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_dequeue(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_hand_over(void *ctx, struct rte_mbuf **pkts, uint16_t n);

/* Lower MAC; the context is a struct ds_lower. */
uint16_t ds_take_over(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_frame(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_encrypt_submit(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_encrypt_collect(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_depi(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t ds_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n);
