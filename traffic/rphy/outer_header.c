/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares addresses and fields of received DEPI frames with the configuration. */
#include "rphy/outer_header.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/ip.h"

#define PROTOCOL_L2TP 115
#define IPV4_VERSION_IHL 0x45
#define IPV4_DONT_FRAGMENT 0x4000
#define PSP_ZERO_BITS 0xb1 /* V, H and the reserved bit; the S bit has its own check */

static bool ipv4_good(const struct rphy_config *c, const uint8_t *ip) {
	return ip[0] == IPV4_VERSION_IHL && ip[1] == c->dscp << 2 &&
	       load_be16(ip + 6) == IPV4_DONT_FRAGMENT && ip[8] == c->ttl && ip[9] == PROTOCOL_L2TP;
}

static bool ipv6_good(const struct rphy_config *c, const uint8_t *ip) {
	return load_be32(ip) == (UINT32_C(6) << 28 | (uint32_t)c->dscp << 22) &&
	       ip[6] == PROTOCOL_L2TP && ip[7] == c->ttl;
}

static bool ip_good(const struct rphy_config *c, const uint8_t *ip) {
	return c->core_ip.family == 4 ? ipv4_good(c, ip) : ipv6_good(c, ip);
}

void outer_check(const struct rphy_config *c, const uint8_t *frame, const struct l2tp_data *l2tp,
		 struct account *a) {
	bool v4 = c->core_ip.family == 4;
	size_t size = ip_address_size(c->core_ip.family);

	a->violations[VIOLATION_MAC] +=
		memcmp(frame, c->rpd_mac, 6) != 0 || memcmp(frame + 6, c->core_mac, 6) != 0;
	if (l2tp->family != c->core_ip.family ||
	    memcmp(l2tp->source_ip, c->core_ip.bytes, size) != 0 ||
	    memcmp(l2tp->destination_ip, c->rpd_ip.bytes, size) != 0)
		a->violations[VIOLATION_ADDRESS]++;
	else if (!ip_good(c, l2tp->source_ip - (v4 ? 12 : 8)))
		a->violations[VIOLATION_IP_FIELDS]++;
	a->violations[VIOLATION_MTU] +=
		(size_t)(l2tp->payload + l2tp->payload_size - frame) - ETHERNET_HEADER > c->mtu;
}

bool outer_psp_good(const struct rphy_config *c, uint8_t message_flow, const uint8_t *psp) {
	unsigned flow = psp[0] >> 1 & 7;

	return (psp[0] & PSP_ZERO_BITS) == 0 && (flow == 0 || flow == message_flow) &&
	       psp[1] <= c->max_segments;
}
