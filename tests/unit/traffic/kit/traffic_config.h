/* SPDX-License-Identifier: BSD-3-Clause */
/* Service groups of one modem, for tests of what its filters and classifiers do, and of the packets that it gets. */
#pragma once

#include "core/generator.h"
#include "model/service_group.h"
#include "modems/modem.h"

#define SOME_RULES                                                                      \
	"      - {family: ipv4, action: deny, source: 198.18.1.0/25}\n"                 \
	"      - {family: ipv4, action: permit, source: 198.18.0.0/15, protocol: udp, " \
	"destination_ports: 135-139, tos: 0xb8/0xfc}\n"                                 \
	"      - {family: llc, action: deny, ethertype: 0x0806}\n"                      \
	"      - {family: ipv6, action: deny, source: \"2001:db8:8000::/33\", "         \
	"source_ports: 7}\n"                                                            \
	"      - {family: ipv4, action: deny, protocol: tcp}\n"
#define SOME_CLASSIFIERS                                                        \
	"      - {family: ipv4, destination_ports: 136, service_flow: 3}\n"     \
	"      - {family: ipv4, destination_ports: 100-200, service_flow: 2}\n" \
	"      - {family: ipv6, protocol: icmpv6, service_flow: 3}\n"

extern struct service_group sg;
extern struct rte_mempool *pool;

/* Once a program that makes packets: DPDK, and buffers for them. */
int traffic_config_open(void **state);
int traffic_config_close(void **state);

/*
 * In the place of the one before, one modem with 10.0.0.1, 2001:db8:0:1::1 and 10.0.0.2, of which its CPE limit admits
 * two, and with three service flows. `rules` and `classifiers` are lines of YAML.
 */
void traffic_config_load(const char *filter_default, const char *rules, const char *classifiers);

/* What the modem says of a packet of a stream. */
enum corruption traffic_verify(const struct generator *g, uint32_t stream, const uint8_t *frame,
			       uint32_t size, struct arrived *out);
