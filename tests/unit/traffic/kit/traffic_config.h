/* SPDX-License-Identifier: BSD-3-Clause */
/* Service groups of one modem, for tests of what its filters and classifiers do. */
#pragma once

#include "model/service_group.h"

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

/*
 * One modem with 10.0.0.1, 2001:db8:0:1::1 and 10.0.0.2, of which its CPE limit admits two, and with
 * three service flows. `rules` and `classifiers` are lines of YAML.
 */
void traffic_config_load(struct service_group *sg, const char *filter_default, const char *rules,
			 const char *classifiers);
