/* SPDX-License-Identifier: BSD-3-Clause */
#include "groups/network_share.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define HEADERS (ETHERNET_HEADER + IPV6_HEADER)
#define IPV4_SOURCE 12 /* in the IP header */
#define IPV6_SOURCE 8

/* Without padding: it is hashed as it stands. */
struct network_key {
	uint16_t vlan;
	uint16_t family; /* 4 or 6 */
	uint8_t address[16];
};
static_assert(sizeof(struct network_key) == 20, "no padding");

static struct network_key network_key(uint16_t vlan, uint8_t family, const uint8_t *address) {
	struct network_key key = {.vlan = vlan, .family = family};

	memcpy(key.address, address, family == 4 ? 4 : 16);
	return key;
}

void network_share_add(struct network_share *s, unsigned group, const struct service_group *sg) {
	share_add(&s->share, group, sg->network.vlan);
	for (size_t m = 0; m < sg->modem_count; m++)
		s->keys += sg->modems[m].address_count;
}

static int address_add(struct network_share *s, unsigned group, const struct service_group *all,
		       const struct ip_address *address) {
	struct network_key key =
		network_key(all[group].network.vlan, address->family, address->bytes);
	char text[INET6_ADDRSTRLEN];
	unsigned other = 0;
	int ret = share_key_add(&s->share, &key, group, &other);

	if (ret > 0) {
		inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, text,
			  sizeof(text));
		fprintf(stderr,
			"traffic: service groups %u and %u: found the address %s of both at one "
			"network port, allowed: addresses or VLANs that differ\n",
			all[other].id, all[group].id, text);
	}
	return ret == 0 ? 0 : -1;
}

static int addresses_add(struct network_share *s, unsigned group, const struct service_group *all) {
	for (size_t m = 0; m < all[group].modem_count; m++) {
		const struct modem *modem = &all[group].modems[m];

		for (size_t a = 0; a < modem->address_count; a++) {
			if (address_add(s, group, all, &modem->addresses[a]) != 0)
				return -1;
		}
	}
	return 0;
}

int network_share_tell(struct network_share *s, const struct service_group *all, unsigned count,
		       const bool *at) {
	if (share_table_create(&s->share, "sources", s->keys, sizeof(struct network_key)) != 0)
		return -1;
	for (unsigned g = 0; g < count; g++) {
		if (at[g] && s->share.by_vlan[all[g].network.vlan] == SHARE_SEVERAL &&
		    addresses_add(s, g, all) != 0)
			return -1;
	}
	return 0;
}

/* Returns whether the frame has a key. */
static bool network_key_read(const struct rte_mbuf *m, uint16_t vlan, struct network_key *key) {
	uint32_t size = RTE_MIN(rte_pktmbuf_pkt_len(m), (uint32_t)HEADERS);
	uint8_t room[HEADERS];
	const uint8_t *frame = rte_pktmbuf_read(m, 0, size, room);
	uint16_t type = size < ETHERNET_HEADER ? 0 : load_be16(frame + ETHERNET_HEADER - 2);

	if (type == ETHERTYPE_IPV4 && size >= ETHERNET_HEADER + IPV4_HEADER)
		*key = network_key(vlan, 4, frame + ETHERNET_HEADER + IPV4_SOURCE);
	else if (type == ETHERTYPE_IPV6 && size >= ETHERNET_HEADER + IPV6_HEADER)
		*key = network_key(vlan, 6, frame + ETHERNET_HEADER + IPV6_SOURCE);
	else
		return false;
	return true;
}

unsigned network_share_poll(struct network_share *s, struct traffic *const *all) {
	struct network_key keys[SHARE_BURST];
	const void *asked_keys[SHARE_BURST];
	uint8_t asked[SHARE_BURST];
	struct share_frames f;
	unsigned n = 0;

	share_receive(&s->share, &f);
	for (unsigned i = 0; i < f.count; i++) {
		if (f.groups[i] != SHARE_SEVERAL ||
		    !network_key_read(f.frames[i], f.vlans[i], &keys[n]))
			continue;
		asked_keys[n] = &keys[n];
		asked[n++] = (uint8_t)i;
	}
	share_ask(&s->share, &f, asked_keys, asked, n);
	for (unsigned i = 0; i < f.count; i++)
		s->no_group += f.groups[i] < 0;
	share_hand_out(&s->share, &f, all, traffic_take_network);
	return f.count;
}
