/* SPDX-License-Identifier: BSD-3-Clause */
/* Parse: reads the headers of each frame once, and stores the fields for lookup, filter and
 * classify in the packet's record. */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_mbuf.h>

#include "downstream/downstream.h"
#include "downstream/plain.h"
#include "downstream/stages.h"
#include "platform/pad.h"
#include "platform/vlan.h"
#include "wire/bytes.h"
#include "wire/ip.h"

static const enum drop_reason reasons[] = {
	[FRAME_RUNT] = DROP_RUNT,
	[FRAME_VLAN] = DROP_VLAN,
	[FRAME_IPV4_HEADER] = DROP_IPV4_HEADER,
	[FRAME_IPV4_LENGTH] = DROP_IPV4_LENGTH,
	[FRAME_IPV6_HEADER] = DROP_IPV6_HEADER,
	[FRAME_IPV6_LENGTH] = DROP_IPV6_LENGTH,
	[FRAME_IPV6_EXTENSIONS] = DROP_IPV6_EXTENSIONS,
	[FRAME_ARP_MALFORMED] = DROP_ARP_MALFORMED,
};

static const enum counter kind_counters[] = {
	[FRAME_IPV4] = COUNTER_IPV4,
	[FRAME_IPV6] = COUNTER_IPV6,
	[FRAME_ARP] = COUNTER_LLC,
	[FRAME_OTHER] = COUNTER_LLC,
};

static bool ipv4_checksum_accepted(const struct rte_mbuf *m, const uint8_t *ip) {
	uint64_t seen = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;

	/* NONE: the port verified the header, but the field itself may be wrong. */
	if (seen == RTE_MBUF_F_RX_IP_CKSUM_GOOD || seen == RTE_MBUF_F_RX_IP_CKSUM_NONE)
		return true;
	return seen != RTE_MBUF_F_RX_IP_CKSUM_BAD && ipv4_checksum_good(ip);
}

static bool record_is_multicast(const struct ds_record *record) {
	const uint8_t *to = record->destination;

	switch (record->lookup) {
	case DS_LOOKUP_IPV4: /* 224.0.0.0/4 and 255.255.255.255 */
		return to[0] >> 4 == 14 || load_be32(to) == UINT32_MAX;
	case DS_LOOKUP_IPV6: return to[0] == 0xff;
	default: return to[0] & 1;
	}
}

static void parse_fill_record(struct ds_record *record, const uint8_t *frame,
			      const struct frame_fields *f) {
	struct flow_key *key = &record->key.flow;

	*key = (struct flow_key){
		.family = RULE_LLC,
		.flags = f->has_ports ? 0 : FLOW_NO_PORTS,
		.protocol = f->protocol,
		.tos = f->tos,
		.source_port = rte_cpu_to_be_16(f->source_port),
		.destination_port = rte_cpu_to_be_16(f->destination_port),
	};
	record->extensions = f->extensions;
	if (f->extensions != 0 || (f->kind != FRAME_IPV4 && f->kind != FRAME_IPV6))
		key->flags |= FLOW_ALONE;
	record->destination = f->family ? f->destination : frame;
	record->lookup = f->family == 4	  ? DS_LOOKUP_IPV4
			 : f->family == 6 ? DS_LOOKUP_IPV6
					  : DS_LOOKUP_MAC;
	if (f->kind == FRAME_IPV4) {
		key->family = RULE_IPV4;
		memcpy(&key->ipv4, f->source, sizeof(key->ipv4)); /* the destination follows */
	} else if (f->kind == FRAME_IPV6) {
		key->family = RULE_IPV6;
		memcpy(&key->ipv6, f->source, sizeof(key->ipv6));
	} else {
		key->llc.ethertype = rte_cpu_to_be_32(f->ethertype);
	}
}

/* Fills in the record of a frame of valid length. Returns FRAME_GOOD, or what is wrong with it. */
static enum frame_verdict parse_frame(struct ds_record *record, const uint8_t *frame,
				      uint32_t length, enum frame_kind *kind) {
	struct flow_key *key = &record->key.flow;
	struct frame_fields f;
	enum frame_verdict verdict;

	if (plain_ipv4(frame, length, key)) {
		*kind = FRAME_IPV4;
		record->lookup = DS_LOOKUP_IPV4;
		record->destination = key->ipv4.destination;
		return FRAME_GOOD;
	}
	if (plain_ipv6(frame, length, key)) {
		*kind = FRAME_IPV6;
		record->lookup = DS_LOOKUP_IPV6;
		record->destination = key->ipv6.destination;
		return FRAME_GOOD;
	}
	verdict = frame_parse(frame, length, &f);
	if (verdict == FRAME_GOOD)
		parse_fill_record(record, frame, &f);
	*kind = f.kind;
	return verdict;
}

/* Whether the frame is short enough without its priority tag, which is removed. */
static bool is_long_by_tag(const struct ds_upper *u, const struct rte_mbuf *m) {
	return rte_pktmbuf_pkt_len(m) <= u->max_frame + VLAN_TAG_SIZE &&
	       vlan_is_priority(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
}

/* Parses one packet into `record`. Returns the reason to drop it, or DROP_NONE. */
static enum drop_reason parse_packet(const struct ds_upper *u, struct rte_mbuf *m,
				     struct ds_record *record, uint32_t *kinds) {
	const uint8_t *frame;
	enum frame_kind kind;
	enum frame_verdict verdict;

	if (rte_pktmbuf_pkt_len(m) < ETHERNET_HEADER)
		return DROP_RUNT;
	if (rte_pktmbuf_pkt_len(m) > u->max_frame && !is_long_by_tag(u, m))
		return DROP_FRAME_TOO_LONG;
	if (rte_pktmbuf_linearize(m) != 0)
		return DROP_NO_SPACE;
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	if (unlikely(vlan_is_priority(frame, rte_pktmbuf_data_len(m)))) {
		packet_untag(m);
		frame = rte_pktmbuf_mtod(m, const uint8_t *);
	}
	verdict = parse_frame(record, frame, rte_pktmbuf_data_len(m), &kind);
	if (verdict != FRAME_GOOD)
		return reasons[verdict];
	kinds[kind]++;
	if (unlikely(!packet_pad(m)))
		return DROP_NO_SPACE;
	if (kind == FRAME_IPV4 && !ipv4_checksum_accepted(m, frame + ETHERNET_HEADER))
		return DROP_IPV4_CHECKSUM;
	return record_is_multicast(record) ? DROP_MULTICAST : DROP_NONE;
}

uint16_t ds_parse(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	uint32_t kinds[RTE_DIM(kind_counters)] = {0};
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		enum drop_reason reason = parse_packet(u, pkts[i], &u->records[kept], kinds);

		if (reason != DROP_NONE) {
			drop(&u->counters, pkts[i], reason);
			continue;
		}
		packet_meta(pkts[i])->record = kept;
		pkts[kept++] = pkts[i];
	}
	for (unsigned k = 0; k < RTE_DIM(kind_counters); k++)
		count(&u->counters, kind_counters[k], kinds[k]);
	return kept;
}
