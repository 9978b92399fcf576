/* SPDX-License-Identifier: BSD-3-Clause */
#include "share_model.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/ip.h"
#include "wire/l2tpv3.h"

enum key_kind { KEY_IPV4, KEY_IPV6, KEY_MAC };

/* The frame for which a group is searched. */
struct frame {
	const struct share_rig *r;
	enum share_side side;
	uint16_t vlan; /* of the removed tag; 0: none */
	uint8_t bytes[RIG_FRAME_SIZE]; /* without its tag */
	size_t size;
};

static uint16_t vlan_of(const struct service_group *sg, enum share_side side) {
	return side == SHARE_RPHY ? sg->rphy_port.vlan : sg->network.vlan;
}

/* Group g if in service, has the frame's VLAN and receives on this side (R-PHY: has upstream channels); else NULL. */
static const struct service_group *candidate(const struct frame *f, unsigned g) {
	const struct service_group *sg = g < f->r->count ? f->r->list[g] : NULL;

	if (sg == NULL || vlan_of(sg, f->side) != f->vlan ||
	    (f->side == SHARE_RPHY && sg->upstream_channel_count == 0))
		return NULL;
	return sg;
}

static bool group_has_key(const struct service_group *sg, enum key_kind kind,
			  const uint8_t *value) {
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		if (kind == KEY_MAC && memcmp(modem->mac, value, 6) == 0)
			return true;
		for (size_t a = 0; a < modem->address_count && kind != KEY_MAC; a++) {
			const struct ip_address *ip = &modem->addresses[a];

			if (ip->family == (kind == KEY_IPV4 ? 4 : 6) &&
			    memcmp(ip->bytes, value, ip_address_size(ip->family)) == 0)
				return true;
		}
	}
	return false;
}

/* The group with a modem that has the key (its IPv4, IPv6 or MAC address). Searches only groups whose network port has
 * a configured MAC address, or only those without one. -1: none; -2: several. */
static int find_owner(const struct frame *f, bool with_mac, enum key_kind kind,
		      const uint8_t *value) {
	int found = -1;

	for (unsigned g = 0; g < RIG_GROUPS; g++) {
		const struct service_group *sg = candidate(f, g);

		if (sg != NULL && sg->network.has_mac == with_mac && group_has_key(sg, kind, value))
			found = found == -1 ? (int)g : -2;
	}
	return found;
}

static bool is_multicast(enum key_kind kind, const uint8_t *value) {
	static const uint8_t all[4] = {255, 255, 255, 255};

	if (kind == KEY_IPV4)
		return (value[0] & 0xf0) == 0xe0 || memcmp(value, all, 4) == 0;
	return kind == KEY_IPV6 ? value[0] == 0xff : (value[0] & 1) != 0;
}

/* Reads the frame's destination. Returns false if its headers are malformed. */
static bool read_destination(const struct frame *f, enum key_kind *kind, const uint8_t **value) {
	static const uint8_t arp[6] = {0, 1, 8, 0, 6, 4};
	const uint8_t *body = f->bytes + 14;

	switch (load_be16(f->bytes + 12)) {
	case 0x0800:
		*kind = KEY_IPV4;
		*value = body + 16;
		return f->size >= 34 && body[0] / 16 == 4;
	case 0x86dd:
		*kind = KEY_IPV6;
		*value = body + 24;
		return f->size >= 54 && body[0] / 16 == 6;
	case 0x0806:
		*kind = KEY_IPV4;
		*value = body + 24;
		return f->size >= 42 && memcmp(body, arp, sizeof(arp)) == 0;
	default:
		*kind = KEY_MAC;
		*value = f->bytes;
		return true;
	}
}

static int find_network_group(const struct frame *f, enum drop_reason *reason) {
	const uint8_t *value;
	enum key_kind kind;
	int group;

	for (unsigned g = 0; g < RIG_GROUPS; g++) {
		const struct service_group *sg = candidate(f, g);

		if (sg != NULL && sg->network.has_mac && memcmp(sg->network.mac, f->bytes, 6) == 0)
			return (int)g;
	}
	if (load_be16(f->bytes + 12) == 0x8100 || load_be16(f->bytes + 12) == 0x88a8) {
		*reason = DROP_PORT_VLAN_UNKNOWN;
		return -1;
	}
	if (!read_destination(f, &kind, &value)) {
		*reason = DROP_PORT_HEADERS;
		return -1;
	}
	group = find_owner(f, false, kind, value);
	if (group >= 0)
		return group;
	group = find_owner(f, true, kind, value);
	if (group == -1)
		*reason = is_multicast(kind, value) ? DROP_PORT_MULTICAST
						    : DROP_PORT_UNKNOWN_DESTINATION;
	else if ((f->bytes[0] & 1) == 0 && kind != KEY_MAC)
		*reason = DROP_PORT_UNKNOWN_MAC;
	else if (group == -2)
		*reason = DROP_PORT_UNKNOWN_DESTINATION;
	else
		return group;
	return -1;
}

static bool has_session(const struct service_group *sg, uint32_t session) {
	for (size_t c = 0; c < sg->upstream_channel_count; c++) {
		const struct upstream_channel *u = &sg->upstream_channels[c];

		if (session != 0 && (u->session == session || u->request_session == session ||
				     u->ranging_session == session))
			return true;
	}
	return false;
}

static bool have_common_session(const struct service_group *a, const struct service_group *b) {
	for (size_t c = 0; a != NULL && b != NULL && c < a->upstream_channel_count; c++) {
		const struct upstream_channel *u = &a->upstream_channels[c];

		if (has_session(b, u->session) || has_session(b, u->request_session) ||
		    has_session(b, u->ranging_session))
			return true;
	}
	return false;
}

/* Whether two groups of the frame's VLAN have a session in common. The destination MAC address then decides. */
static bool vlan_repeats_session(const struct frame *f) {
	bool repeat = false;

	for (unsigned a = 0; a < RIG_GROUPS; a++) {
		for (unsigned b = 0; b < a; b++)
			repeat |= have_common_session(candidate(f, a), candidate(f, b));
	}
	return repeat;
}

/* Reads the session ID of L2TPv3 over IP (protocol 115). The port owner, too, leaves other checks of these headers to
 * the group. Returns false for other packets. */
static bool read_session_over_ip(const struct frame *f, uint32_t *session) {
	const uint8_t *bytes = f->bytes;
	bool ipv4 = f->size >= 38 && load_be16(bytes + 12) == 0x0800 && bytes[14] == 0x45 &&
		    bytes[23] == 115 && (load_be16(bytes + 20) << 2 & 0xffff) == 0;
	bool ipv6 = f->size >= 58 && load_be16(bytes + 12) == 0x86dd && bytes[14] / 16 == 6 &&
		    bytes[20] == 115;

	if (ipv4 || ipv6)
		*session = load_be32(bytes + (ipv4 ? 34 : 54));
	return ipv4 || ipv6;
}

static enum drop_reason read_session(const struct frame *f, uint32_t *session) {
	struct l2tp_data data;

	if (read_session_over_ip(f, session))
		return *session == 0 ? DROP_PORT_L2TP_CONTROL : DROP_NONE;
	switch (l2tp_parse(f->bytes, f->size, &data)) {
	case L2TP_OK: *session = data.session; return DROP_NONE;
	case L2TP_CONTROL: return DROP_PORT_L2TP_CONTROL;
	case L2TP_RUNT: return DROP_PORT_RUNT;
	case L2TP_NOT_IP:
	case L2TP_NOT_L2TP: return DROP_PORT_NOT_L2TP;
	default: return DROP_PORT_HEADERS;
	}
}

static int find_rphy_group(const struct frame *f, enum drop_reason *reason) {
	bool by_mac = vlan_repeats_session(f);
	uint32_t session = 0;

	*reason = read_session(f, &session);
	if (*reason != DROP_NONE)
		return -1;
	for (unsigned g = 0; g < RIG_GROUPS; g++) {
		const struct service_group *sg = candidate(f, g);

		if (sg != NULL && has_session(sg, session) &&
		    (!by_mac || memcmp(sg->rphy.core_mac, f->bytes, 6) == 0))
			return (int)g;
	}
	*reason = DROP_PORT_UNKNOWN_SESSION;
	return -1;
}

/* Removes the VLAN tag. If no group has a VLAN (`vlans` is false), removes tags with VLAN 0 only. Sets
 * `*tag` if it removed one. Returns the drop reason or DROP_NONE. */
static enum drop_reason strip_tag(struct frame *f, bool vlans, bool *tag) {
	uint16_t type = load_be16(f->bytes + 12), vlan = load_be16(f->bytes + 14) % 4096;

	if (vlans && type == 0x88a8)
		return DROP_PORT_VLAN_STACKED;
	if (type != 0x8100 || (!vlans && (f->size < 18 || vlan != 0)))
		return DROP_NONE;
	if (f->size < 18)
		return DROP_PORT_RUNT;
	f->vlan = vlan;
	type = load_be16(f->bytes + 16);
	if (vlans && (type == 0x88a8 || type == 0x8100))
		return DROP_PORT_VLAN_STACKED;
	memmove(f->bytes + 12, f->bytes + 16, f->size - 16);
	f->size -= 4;
	*tag = true;
	return DROP_NONE;
}

int share_model_group(const struct share_rig *r, enum share_side side, const uint8_t *frame,
		      size_t size, enum drop_reason *reason, bool *tag) {
	struct frame f = {.r = r, .side = side, .size = size};
	bool tagged = false, vlan_exists = false;
	int members = 0, only = -1;

	memcpy(f.bytes, frame, size);
	*tag = false;
	for (unsigned g = 0; g < r->count; g++)
		tagged |= r->list[g] != NULL && vlan_of(r->list[g], side) != 0;
	*reason = size < 14 ? DROP_PORT_RUNT : strip_tag(&f, tagged, tag);
	if (*reason != DROP_NONE)
		return -1;
	for (unsigned g = 0; g < r->count; g++) {
		vlan_exists |= r->list[g] != NULL && vlan_of(r->list[g], side) == f.vlan;
		if (candidate(&f, g) != NULL) {
			members++;
			only = (int)g;
		}
	}
	if (!vlan_exists) {
		*reason = f.vlan == 0 ? DROP_PORT_VLAN_MISSING : DROP_PORT_VLAN_UNKNOWN;
		return -1;
	}
	if (members == 1)
		return only; /* alone in its VLAN: the group checks the frame itself */
	return side == SHARE_RPHY ? find_rphy_group(&f, reason) : find_network_group(&f, reason);
}

static bool subscribers_conflict(const struct service_group *a, const struct service_group *b) {
	if (a->network.has_mac != b->network.has_mac)
		return false;
	if (a->network.has_mac)
		return memcmp(a->network.mac, b->network.mac, 6) == 0;
	for (size_t m = 0; m < a->modem_count; m++) {
		if (group_has_key(b, KEY_MAC, a->modems[m].mac))
			return true;
		for (size_t i = 0; i < a->modems[m].address_count; i++) {
			const struct ip_address *ip = &a->modems[m].addresses[i];

			if (group_has_key(b, ip->family == 4 ? KEY_IPV4 : KEY_IPV6, ip->bytes))
				return true;
		}
	}
	return false;
}

bool share_model_conflicts(const struct share_rig *r, enum share_side side) {
	for (unsigned a = 0; a < r->count; a++) {
		for (unsigned b = 0; b < a; b++) {
			const struct service_group *x = r->list[a], *y = r->list[b];

			if (x == NULL || y == NULL || vlan_of(x, side) != vlan_of(y, side))
				continue;
			if (side == SHARE_NETWORK
				    ? subscribers_conflict(x, y)
				    : have_common_session(x, y) &&
					      memcmp(x->rphy.core_mac, y->rphy.core_mac, 6) == 0)
				return true;
		}
	}
	return false;
}
