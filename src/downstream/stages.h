/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the stages, as in pipeline/pipeline.h. The context of run() is a struct ds_upper
 * or ds_lower, that of the others a struct downstream. downstream.c lists them. */
#pragma once

#include <stdint.h>

#include "pipeline/pipeline.h"

/* upper MAC, to the queues */
uint16_t ds_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n);

uint16_t ds_parse(void *ctx, struct rte_mbuf **pkts, uint16_t n);

uint16_t ds_known_flows(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int ds_known_flows_open(void *downstream, const struct service_group *sg, const void *resources);
void ds_known_flows_close(void *downstream);

uint16_t ds_modem_lookup(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int ds_modem_lookup_open(void *downstream, const struct service_group *sg, const void *resources);
void ds_modem_lookup_close(void *downstream);

uint16_t ds_filter(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int ds_filter_open(void *downstream, const struct service_group *sg, const void *resources);
void ds_filter_close(void *downstream);

uint16_t ds_classify(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int ds_classify_open(void *downstream, const struct service_group *sg, const void *resources);
void ds_classify_close(void *downstream);

uint16_t ds_enqueue(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int ds_enqueue_open(void *downstream, const struct service_group *sg, const void *resources);
void ds_enqueue_close(void *downstream);

/* upper MAC, from the queues */
uint16_t ds_schedule(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t ds_schedule_pending(const void *downstream, enum unit unit);
void ds_schedule_stop(void *downstream);

uint16_t ds_hand_over(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int ds_hand_over_open(void *downstream, const struct service_group *sg, const void *resources);
void ds_hand_over_close(void *downstream);

/* lower MAC */
uint16_t ds_take_over(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t ds_take_over_pending(const void *downstream, enum unit unit);
void ds_take_over_stop(void *downstream);

uint16_t ds_frame(void *ctx, struct rte_mbuf **pkts, uint16_t n);

uint16_t ds_encrypt_submit(void *ctx, struct rte_mbuf **pkts, uint16_t n);

uint16_t ds_encrypt_collect(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t ds_encrypt_collect_pending(const void *downstream, enum unit unit);
void ds_encrypt_collect_stop(void *downstream);

uint16_t ds_depi(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int ds_depi_open(void *downstream, const struct service_group *sg, const void *resources);
void ds_depi_close(void *downstream);
uint64_t ds_depi_pending(const void *downstream, enum unit unit);
void ds_depi_stop(void *downstream);

uint16_t ds_messages(void *ctx, struct rte_mbuf **pkts, uint16_t n);
int ds_messages_open(void *downstream, const struct service_group *sg, const void *resources);
void ds_messages_close(void *downstream);
void ds_messages_stop(void *downstream);

uint16_t ds_transmit_messages(void *ctx, struct rte_mbuf **pkts, uint16_t n);
void ds_transmit_messages_stop(void *downstream);

uint16_t ds_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t ds_transmit_pending(const void *downstream, enum unit unit);
void ds_transmit_stop(void *downstream);
