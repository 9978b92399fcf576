/* SPDX-License-Identifier: BSD-3-Clause */
/* What a card is told of packets: which headers bring one to which of its receive queues (rte_flow). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/* What a packet must have. */
struct flow_match {
	uint16_t vlan; /* 0: any, or none */
	bool by_mac;
	uint8_t mac[6]; /* destination */
	uint8_t family; /* 4 or 6: of an IP packet with L2TPv3 right in it; 0: not looked at */
	uint32_t session; /* of that, in host order */
};

bool flow_match_same(const struct flow_match *a, const struct flow_match *b);

/*
 * Has the port bring to the queue what matches. The port has been started. Returns NULL where the card has no such rule, or no place for one more. To be ended by
 * flow_destroy().
 */
struct rte_flow *flow_create(uint16_t port, const struct flow_match *match, uint16_t queue);

void flow_destroy(uint16_t port, struct rte_flow *flow);

/* Whether the driver would take it, as far as it can tell. */
bool flow_valid(uint16_t port, const struct flow_match *match, uint16_t queue);

/* Whether the driver has rules at all (net_ena, net_gve and others in software have none). The port has been configured. */
bool flow_known(uint16_t port);
