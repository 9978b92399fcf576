/* SPDX-License-Identifier: BSD-3-Clause */
#include "sharing/read.h"

#include "platform/vlan.h"
#include "wire/ip.h"
#include "wire/l2tpv3.h"

#define IPV4_PROTOCOL 9
#define IPV4_DESTINATION 16
#define IPV4_FRAGMENT_BITS 0x3fff /* more fragments, and the offset */
#define IPV6_NEXT_HEADER 6
#define IPV6_DESTINATION 24

static enum drop_reason read_arp(const uint8_t *frame, size_t length, uint8_t vlan,
				 struct share_key *key) {
	struct frame_fields f;

	if (frame_parse(frame, length, &f) != FRAME_GOOD)
		return DROP_PORT_HEADERS;
	share_key_set(key, SHARE_IPV4, vlan, f.destination, 4);
	return DROP_NONE;
}

enum drop_reason share_read_network(const uint8_t *frame, size_t length, uint8_t vlan,
				    struct share_key *key) {
	const uint8_t *ip = frame + ETHERNET_HEADER;
	size_t left = length - ETHERNET_HEADER;

	switch (load_be16(frame + VLAN_ADDRESSES)) {
	case ETHERTYPE_IPV4:
		if (left < IPV4_HEADER || ip[0] >> 4 != 4)
			return DROP_PORT_HEADERS;
		share_key_set(key, SHARE_IPV4, vlan, ip + IPV4_DESTINATION, 4);
		return DROP_NONE;
	case ETHERTYPE_IPV6:
		if (left < IPV6_HEADER || ip[0] >> 4 != 6)
			return DROP_PORT_HEADERS;
		share_key_set(key, SHARE_IPV6, vlan, ip + IPV6_DESTINATION, 16);
		return DROP_NONE;
	case ETHERTYPE_ARP: return read_arp(frame, length, vlan, key);
	case ETHERTYPE_VLAN:
	case ETHERTYPE_SERVICE_VLAN: return DROP_PORT_VLAN_UNKNOWN;
	default: share_key_set(key, SHARE_MODEM_MAC, vlan, frame, 6); return DROP_NONE;
	}
}

/* The session ID behind an IP header of the usual size. NULL if l2tp_parse() is needed. */
static const uint8_t *plain_session(const uint8_t *frame, size_t length) {
	const uint8_t *ip = frame + ETHERNET_HEADER;
	size_t left = length - ETHERNET_HEADER;

	switch (load_be16(frame + VLAN_ADDRESSES)) {
	case ETHERTYPE_IPV4:
		if (left < IPV4_HEADER + L2TP_SESSION_SIZE || ip[0] != 0x45 ||
		    ip[IPV4_PROTOCOL] != IP_PROTOCOL_L2TP ||
		    (load_be16(ip + 6) & IPV4_FRAGMENT_BITS) != 0)
			return NULL;
		return ip + IPV4_HEADER;
	case ETHERTYPE_IPV6:
		if (left < IPV6_HEADER + L2TP_SESSION_SIZE || ip[0] >> 4 != 6 ||
		    ip[IPV6_NEXT_HEADER] != IP_PROTOCOL_L2TP)
			return NULL;
		return ip + IPV6_HEADER;
	default: return NULL;
	}
}

static enum drop_reason session_of(const uint8_t *frame, size_t length, uint32_t *session) {
	const uint8_t *plain = plain_session(frame, length);
	struct l2tp_data data;

	if (plain != NULL) {
		*session = load_be32(plain);
		return *session == 0 ? DROP_PORT_L2TP_CONTROL : DROP_NONE;
	}
	switch (l2tp_parse(frame, length, &data)) {
	case L2TP_OK: *session = data.session; return DROP_NONE;
	case L2TP_CONTROL: return DROP_PORT_L2TP_CONTROL;
	case L2TP_RUNT: return DROP_PORT_RUNT;
	case L2TP_NOT_IP:
	case L2TP_NOT_L2TP: return DROP_PORT_NOT_L2TP;
	default: return DROP_PORT_HEADERS;
	}
}

enum drop_reason share_read_rphy(const uint8_t *frame, size_t length, uint8_t vlan, bool by_mac,
				 struct share_key *key) {
	uint32_t session = 0;
	enum drop_reason reason = session_of(frame, length, &session);

	if (reason == DROP_NONE)
		share_key_set_session(key, vlan, session, by_mac ? frame : NULL);
	return reason;
}

enum drop_reason share_strip_vlan(const struct share_table *t, struct rte_mbuf *m, uint8_t *vlan) {
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t type = load_be16(frame + VLAN_ADDRESSES), id = 0;

	if (!t->tagged) {
		if (unlikely(vlan_is_priority(frame, rte_pktmbuf_data_len(m)))) {
			packet_untag(m);
			m->vlan_tci = 0;
		}
		*vlan = t->vlan_of[0];
		return DROP_NONE;
	}
	if (type == ETHERTYPE_SERVICE_VLAN)
		return DROP_PORT_VLAN_STACKED;
	if ((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0) {
		id = m->vlan_tci & VLAN_ID;
		if (type == ETHERTYPE_VLAN)
			return DROP_PORT_VLAN_STACKED;
	} else if (type == ETHERTYPE_VLAN) {
		if (rte_pktmbuf_data_len(m) < ETHERNET_HEADER + VLAN_TAG_SIZE)
			return DROP_PORT_RUNT;
		id = load_be16(frame + ETHERNET_HEADER) & VLAN_ID;
		if (vlan_is_tag(load_be16(frame + ETHERNET_HEADER + 2)))
			return DROP_PORT_VLAN_STACKED;
		packet_untag(m);
		m->vlan_tci = id;
	}
	*vlan = t->vlan_of[id];
	if (*vlan != SHARE_NO_VLAN)
		return DROP_NONE;
	return id == 0 ? DROP_PORT_VLAN_MISSING : DROP_PORT_VLAN_UNKNOWN;
}
