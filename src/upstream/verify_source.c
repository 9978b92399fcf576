/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source verification: a packet's source address must be one of its modem's. What a host sends before
 * it has an address, and between neighbours, is let through (RFC 826, RFC 2131, RFC 4861, RFC 8415).
 */
#include <string.h>

#include "upstream/upstream.h"
#include "wire/crc32.h"
#include "wire/ip.h"

#define DHCP_CLIENT 68
#define DHCP_SERVER 67
#define DHCPV6_CLIENT 546
#define DHCPV6_SERVER 547

static const enum drop_reason malformed[] = {
	[FRAME_RUNT] = DROP_FRAME_RUNT,
	[FRAME_VLAN] = DROP_VLAN,
	[FRAME_IPV4_HEADER] = DROP_IPV4_HEADER,
	[FRAME_IPV4_LENGTH] = DROP_IPV4_LENGTH,
	[FRAME_IPV6_HEADER] = DROP_IPV6_HEADER,
	[FRAME_IPV6_LENGTH] = DROP_IPV6_LENGTH,
	[FRAME_ARP_MALFORMED] = DROP_ARP_MALFORMED,
};

static bool is_udp(const struct frame_fields *f, uint16_t from, uint16_t to) {
	return f->protocol == IP_PROTOCOL_UDP && f->source_port == from &&
	       f->destination_port == to;
}

static bool ipv4_good(const struct us_modem *m, const struct frame_fields *f) {
	uint32_t source;

	memcpy(&source, f->source, sizeof(source));
	for (unsigned i = 0; i < m->ipv4_count; i++) {
		if (m->ipv4[i] == source)
			return true;
	}
	if (source != 0)
		return false;
	return f->kind == FRAME_ARP || is_udp(f, DHCP_CLIENT, DHCP_SERVER);
}

static bool ipv6_good(const struct us_modem *m, const struct frame_fields *f) {
	static const uint8_t unspecified[16];
	bool link_local = f->source[0] == 0xfe && (f->source[1] & 0xc0) == 0x80;

	for (unsigned i = 0; i < m->ipv6_count; i++) {
		if (memcmp(m->ipv6[i], f->source, 16) == 0)
			return true;
	}
	if (!link_local && memcmp(f->source, unspecified, 16) != 0)
		return false;
	return f->protocol == IP_PROTOCOL_ICMPV6 ||
	       (link_local && is_udp(f, DHCPV6_CLIENT, DHCPV6_SERVER));
}

/* Returns the reason to drop the frame, or DROP_NONE. */
static enum drop_reason source_check(struct upstream *u, struct rte_mbuf *m) {
	const struct us_flow *flow = &u->tables.flows[us_meta(m)->frame.flow];
	const struct us_modem *modem = &u->tables.modems[flow->modem];
	struct frame_fields f;
	enum frame_verdict verdict =
		frame_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &f);

	if (verdict != FRAME_GOOD)
		return malformed[verdict];
	switch (f.kind) {
	case FRAME_IPV4:
		if (!ipv4_checksum_good(
			    rte_pktmbuf_mtod_offset(m, const uint8_t *, ETHERNET_HEADER)))
			return DROP_IPV4_CHECKSUM;
		count(&u->counters, COUNTER_IPV4, 1);
		return ipv4_good(modem, &f) ? DROP_NONE : DROP_SOURCE_ADDRESS;
	case FRAME_ARP:
		count(&u->counters, COUNTER_LLC, 1);
		return ipv4_good(modem, &f) ? DROP_NONE : DROP_SOURCE_ADDRESS;
	case FRAME_IPV6:
		count(&u->counters, COUNTER_IPV6, 1);
		return ipv6_good(modem, &f) ? DROP_NONE : DROP_SOURCE_ADDRESS;
	case FRAME_OTHER: count(&u->counters, COUNTER_LLC, 1); break;
	}
	return DROP_NONE;
}

uint16_t us_verify_source(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++)
		rte_pktmbuf_trim(pkts[i], ETHERNET_CRC_SIZE);
	if (!u->verify_source)
		return n;
	for (uint16_t i = 0; i < n; i++) {
		enum drop_reason reason = source_check(u, pkts[i]);

		if (reason == DROP_NONE)
			pkts[kept++] = pkts[i];
		else
			drop(&u->counters, pkts[i], reason);
	}
	return kept;
}
