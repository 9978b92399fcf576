/* SPDX-License-Identifier: BSD-3-Clause */
/* Service groups of one modem with filters and classifiers, and verification of its packets. */
#pragma once

#include "core/generator.h"
#include "model/service_group.h"
#include "modems/modem.h"

#define EXAMPLE_RULES                                                                   \
	"      - {family: ipv4, action: deny, source: 198.18.1.0/25}\n"                 \
	"      - {family: ipv4, action: permit, source: 198.18.0.0/15, protocol: udp, " \
	"destination_ports: 135-139, tos: 0xb8/0xfc}\n"                                 \
	"      - {family: llc, action: deny, ethertype: 0x0806}\n"                      \
	"      - {family: ipv6, action: deny, source: \"2001:db8:8000::/33\", "         \
	"source_ports: 7}\n"                                                            \
	"      - {family: ipv4, action: deny, protocol: tcp}\n"
#define EXAMPLE_CLASSIFIERS                                                     \
	"      - {family: ipv4, destination_ports: 136, service_flow: 3}\n"     \
	"      - {family: ipv4, destination_ports: 100-200, service_flow: 2}\n" \
	"      - {family: ipv6, protocol: icmpv6, service_flow: 3}\n"

extern struct service_group sg;
extern struct rte_mempool *pool;

/* Fixtures of a program: start EAL and create the pool; free all. */
int traffic_config_open(void **state);
int traffic_config_close(void **state);

/* Replaces `sg` by a group with one modem. Its addresses are 10.0.0.1, 2001:db8:0:1::1 and
 * 10.0.0.2; the CPE limit of 1 per family admits the first two. It has three service flows. `rules`
 * and `classifiers` are lines of YAML. */
void traffic_config_load(const char *filter_default, const char *rules, const char *classifiers);

/* Verifies a packet that the modem received for a stream. Fills `out` if it is not corrupted. */
enum corruption traffic_verify(const struct generator *g, uint32_t stream, const uint8_t *frame,
			       uint32_t size, struct arrived *out);
