/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source verification: a packet's source address must belong to its modem.
 *
 * Frames that a host sends before it has an address, and between neighbours of a link, pass at a
 * limited rate (RFC 2131; RFC 3376, 4.2.13; RFC 3590; RFC 4861; RFC 5227; RFC 8415). The TOS of
 * passed packets is overwritten if the service flow is configured for that.
 */
#include "upstream/verify_source.h"

#include <string.h>

#include "wire/crc32.h"
#include "wire/ip.h"
#include "wire/tos.h"
#include "wire/vlan.h"

#define DHCP_SERVER 67
#define DHCPV6_SERVER 547
#define IP_PROTOCOL_IGMP 2

/* ICMPv6 types that hosts send from the unspecified address */
#define MLD_REPORT 131
#define MLD_DONE 132
#define ROUTER_SOLICITATION 133
#define NEIGHBOUR_SOLICITATION 135
#define MLDV2_REPORT 143

/* The token bucket of a modem's frames without its source address: frames at once, and the
 * interval of one more. */
#define CONTROL_BURST 200
#define CONTROL_INTERVAL_NS (10 * 1000 * 1000)

enum source {
	SOURCE_OWN,
	SOURCE_CONTROL, /* not an address of the modem, and none is required */
	SOURCE_WRONG,
};

static const enum drop_reason malformed[] = {
	[FRAME_RUNT] = DROP_FRAME_RUNT,
	[FRAME_VLAN] = DROP_VLAN,
	[FRAME_IPV4_HEADER] = DROP_IPV4_HEADER,
	[FRAME_IPV4_LENGTH] = DROP_IPV4_LENGTH,
	[FRAME_IPV6_HEADER] = DROP_IPV6_HEADER,
	[FRAME_IPV6_LENGTH] = DROP_IPV6_LENGTH,
	[FRAME_IPV6_EXTENSIONS] = DROP_IPV6_EXTENSIONS,
	[FRAME_ARP_MALFORMED] = DROP_ARP_MALFORMED,
};

/* From any port (RFC 8415, 7.2). */
static bool is_to_server(const struct frame_fields *f, uint16_t port) {
	return f->protocol == IP_PROTOCOL_UDP && f->has_ports && f->destination_port == port;
}

static enum source ipv4_source(const struct us_modem *m, const struct frame_fields *f) {
	uint32_t source;

	memcpy(&source, f->source, sizeof(source));
	for (unsigned i = 0; i < m->ipv4_count; i++) {
		if (m->ipv4[i] == source)
			return SOURCE_OWN;
	}
	if (source != 0)
		return SOURCE_WRONG;
	if (f->kind == FRAME_ARP || f->protocol == IP_PROTOCOL_IGMP || is_to_server(f, DHCP_SERVER))
		return SOURCE_CONTROL;
	return SOURCE_WRONG;
}

/* Duplicate address detection, router solicitation and MLD need no source address. */
static bool needs_no_address(const struct frame_fields *f) {
	if (f->protocol != IP_PROTOCOL_ICMPV6 || f->fragment || f->upper_size == 0)
		return false;
	switch (f->upper[0]) {
	case MLD_REPORT:
	case MLD_DONE:
	case ROUTER_SOLICITATION:
	case NEIGHBOUR_SOLICITATION:
	case MLDV2_REPORT: return true;
	default: return false;
	}
}

static enum source ipv6_source(const struct us_modem *m, const struct frame_fields *f) {
	static const uint8_t unspecified[16];
	bool link_local = f->source[0] == 0xfe && (f->source[1] & 0xc0) == 0x80;

	for (unsigned i = 0; i < m->ipv6_count; i++) {
		if (memcmp(m->ipv6[i], f->source, 16) == 0)
			return SOURCE_OWN;
	}
	if (link_local && (f->protocol == IP_PROTOCOL_ICMPV6 || is_to_server(f, DHCPV6_SERVER)))
		return SOURCE_CONTROL;
	if (memcmp(f->source, unspecified, 16) == 0 && needs_no_address(f))
		return SOURCE_CONTROL;
	return SOURCE_WRONG;
}

/* A token bucket as the time at which it will be full (GCRA, ITU-T I.371). */
static bool control_conforms(struct us_modem *m, uint64_t now) {
	uint64_t at = RTE_MAX(m->control_at, now);

	if (at - now > (uint64_t)(CONTROL_BURST - 1) * CONTROL_INTERVAL_NS)
		return false;
	m->control_at = at + CONTROL_INTERVAL_NS;
	return true;
}

static enum drop_reason source_verdict(const struct us_verify_source *stage, struct us_modem *m,
				       enum source source) {
	switch (source) {
	case SOURCE_OWN: return DROP_NONE;
	case SOURCE_CONTROL:
		return control_conforms(m, stage->r->clock->now) ? DROP_NONE : DROP_SOURCE_RATE;
	case SOURCE_WRONG: break;
	}
	return DROP_SOURCE_ADDRESS;
}

/* Returns the reason to drop the frame, or DROP_NONE. */
static enum drop_reason source_check(struct us_verify_source *stage, struct rte_mbuf *m) {
	const struct us_flow *flow = &stage->tables->flows[us_meta(m)->frame.flow];
	struct us_modem *modem = &stage->tables->modems[flow->modem];
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	/* Type and body are parsed as in an untagged frame, behind the tag. */
	size_t tag = vlan_is_priority(frame, m->data_len) ? VLAN_TAG_SIZE : 0;
	struct frame_fields f;
	enum frame_verdict verdict = frame_parse(frame + tag, m->data_len - tag, &f);

	if (verdict != FRAME_GOOD)
		return malformed[verdict];
	switch (f.kind) {
	case FRAME_IPV4:
		if (!ipv4_checksum_good(frame + tag + ETHERNET_HEADER))
			return DROP_IPV4_CHECKSUM;
		count(stage->counters, COUNTER_IPV4, 1);
		return source_verdict(stage, modem, ipv4_source(modem, &f));
	case FRAME_ARP:
		count(stage->counters, COUNTER_LLC, 1);
		return source_verdict(stage, modem, ipv4_source(modem, &f));
	case FRAME_IPV6:
		count(stage->counters, COUNTER_IPV6, 1);
		return source_verdict(stage, modem, ipv6_source(modem, &f));
	case FRAME_OTHER: count(stage->counters, COUNTER_LLC, 1); break;
	}
	return DROP_NONE;
}

/* Moves the packets with a valid source to the front and returns their number. */
static uint16_t sources_check(struct us_verify_source *stage, struct rte_mbuf **pkts, uint16_t n) {
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		enum drop_reason reason = source_check(stage, pkts[i]);

		if (reason == DROP_NONE)
			pkts[kept++] = pkts[i];
		else
			drop(stage->counters, pkts[i], reason);
	}
	return kept;
}

static void tos_write(const struct us_tables *tables, struct rte_mbuf **pkts, uint16_t n) {
	for (uint16_t i = 0; i < n; i++) {
		uint32_t flow = us_meta(pkts[i])->frame.flow;
		const struct tos_masks *tos = &tables->tos[flow];

		if (unlikely(tables->flows[flow].overwrites_tos))
			tos_overwrite(rte_pktmbuf_mtod(pkts[i], uint8_t *), pkts[i]->data_len,
				      tos->and_mask, tos->or_mask);
	}
}

uint16_t us_verify_source(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_verify_source *stage = ctx;

	for (uint16_t i = 0; i < n; i++)
		rte_pktmbuf_trim(pkts[i], ETHERNET_CRC_SIZE);
	if (stage->enabled)
		n = sources_check(stage, pkts, n);
	tos_write(stage->tables, pkts, n);
	return n;
}
