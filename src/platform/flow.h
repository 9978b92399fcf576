/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow rules of a NIC (rte_flow), which steer packets to receive queues by their headers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/* Headers that a packet must have. */
struct flow_match {
	uint16_t vlan; /* 0: any, or none */
	bool by_mac;
	uint8_t mac[6]; /* destination */
	/* 4 or 6: IP version of a packet with L2TPv3 directly over IP; 0: not matched */
	uint8_t family;
	uint32_t session; /* L2TPv3 session ID, host byte order */
};

bool flow_match_same(const struct flow_match *a, const struct flow_match *b);

/* Steers matching packets of a started port to the queue. Returns NULL if the NIC does not support
 * the rule, or has no space for it. Remove with flow_destroy(). */
struct rte_flow *flow_create(uint16_t port, const struct flow_match *match, uint16_t queue);

void flow_destroy(uint16_t port, struct rte_flow *flow);

/* Whether the driver would accept the rule, as far as it can tell. */
bool flow_valid(uint16_t port, const struct flow_match *match, uint16_t queue);

/* Whether the driver supports rules at all (net_ena, net_gve and software drivers do not). The port is
 * configured. */
bool flow_known(uint16_t port);
