/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the stages, as pipeline/pipeline.h has them, all with a struct upstream. The rows in upstream.c name
 * them. */
#pragma once

#include <stdint.h>

#include "pipeline/pipeline.h"

uint16_t us_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n);

uint16_t us_validate(void *ctx, struct rte_mbuf **pkts, uint16_t n);

uint16_t us_uepi(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_uepi_held(const void *upstream, enum unit unit);
void us_uepi_stop(void *upstream);

uint16_t us_reassemble(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_reassemble_held(const void *upstream, enum unit unit);
void us_reassemble_stop(void *upstream);

uint16_t us_expire(void *ctx, struct rte_mbuf **pkts, uint16_t n);

uint16_t us_extract(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_extract_held(const void *upstream, enum unit unit);
void us_extract_stop(void *upstream);

uint16_t us_decrypt_submit(void *ctx, struct rte_mbuf **pkts, uint16_t n);

uint16_t us_decrypt_collect(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_decrypt_collect_held(const void *upstream, enum unit unit);
void us_decrypt_collect_stop(void *upstream);

uint16_t us_defragment(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_defragment_held(const void *upstream, enum unit unit);
void us_defragment_stop(void *upstream);

uint16_t us_extract_joined(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_extract_joined_held(const void *upstream, enum unit unit);
void us_extract_joined_stop(void *upstream);

uint16_t us_verify_source(void *ctx, struct rte_mbuf **pkts, uint16_t n);

uint16_t us_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_transmit_held(const void *upstream, enum unit unit);
void us_transmit_stop(void *upstream);

uint16_t us_requests(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int us_requests_open(void *upstream, const struct service_group *sg, const void *resources);
void us_requests_close(void *upstream);

uint16_t us_grant(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int us_grant_open(void *upstream, const struct service_group *sg, const void *resources);
void us_grant_close(void *upstream);
