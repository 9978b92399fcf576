/* SPDX-License-Identifier: BSD-3-Clause */
/* The core network of several service groups on one port. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "directions/traffic_parts.h"
#include "groups/shared_port_side.h"
#include "wire/ip.h"

#define HEADERS (ETHERNET_HEADER + IPV6_HEADER)
#define IPV4_SOURCE 12 /* offsets in the IP header */
#define IPV6_SOURCE 8

/* Without padding, as the bytes are hashed. */
struct network_key {
	uint16_t vlan;
	uint16_t family; /* 4 or 6 */
	uint8_t address[16];
};
static_assert(sizeof(struct network_key) == 20, "no padding");

static void network_key(struct network_key *key, uint16_t vlan, uint8_t family,
			const uint8_t *address) {
	*key = (struct network_key){.vlan = vlan, .family = family};
	memcpy(key->address, address, ip_address_size(family));
}

static uint16_t network_vlan(const struct service_group *sg) {
	return sg->network.vlan;
}

static size_t network_keys(const struct service_group *sg) {
	size_t keys = 0;

	for (size_t m = 0; m < sg->modem_count; m++)
		keys += sg->modems[m].address_count;
	return keys;
}

static int network_modem_name(const struct service_group *sg, const struct modem *modem,
			      shared_port_key_fn name, void *context) {
	int ret = 0;

	for (size_t a = 0; a < modem->address_count && ret == 0; a++) {
		const struct ip_address *address = &modem->addresses[a];
		int family = address->family == 4 ? AF_INET : AF_INET6;
		char text[INET6_ADDRSTRLEN], what[INET6_ADDRSTRLEN + 8];
		struct network_key key;

		network_key(&key, network_vlan(sg), address->family, address->bytes);
		snprintf(what, sizeof(what), "address %s",
			 inet_ntop(family, address->bytes, text, sizeof(text)));
		ret = name(context, &key, what);
	}
	return ret;
}

static int network_keys_name(const struct service_group *sg, shared_port_key_fn name,
			     void *context) {
	int ret = 0;

	for (size_t m = 0; m < sg->modem_count && ret == 0; m++)
		ret = network_modem_name(sg, &sg->modems[m], name, context);
	return ret;
}

static uint64_t *network_unmatched(struct shared_port_unmatched *unmatched) {
	return &unmatched->unexpected[UNEXPECTED_NO_GROUP];
}

static bool network_key_read(const struct rte_mbuf *m, uint16_t vlan, void *key,
			     struct shared_port_unmatched *unmatched) {
	uint32_t size = RTE_MIN(rte_pktmbuf_pkt_len(m), (uint32_t)HEADERS);
	uint8_t copy[HEADERS];
	const uint8_t *frame = rte_pktmbuf_read(m, 0, size, copy);
	uint16_t type = size < ETHERNET_HEADER ? 0 : load_be16(frame + ETHERNET_HEADER - 2);

	if (type == ETHERTYPE_IPV4 && size >= ETHERNET_HEADER + IPV4_HEADER) {
		network_key(key, vlan, 4, frame + ETHERNET_HEADER + IPV4_SOURCE);
		return true;
	}
	if (type == ETHERTYPE_IPV6 && size >= ETHERNET_HEADER + IPV6_HEADER) {
		network_key(key, vlan, 6, frame + ETHERNET_HEADER + IPV6_SOURCE);
		return true;
	}
	++*network_unmatched(unmatched);
	return false;
}

/* Finds the owner by the tag, as a change may have moved the address to another group. */
static enum shared_port_owner network_owner(const struct traffic *t, const struct rte_mbuf *m) {
	uint32_t size = RTE_MIN(rte_pktmbuf_pkt_len(m), (uint32_t)PACKET_SIZE_MAX);
	uint8_t copy[PACKET_SIZE_MAX];
	const uint8_t *frame = rte_pktmbuf_read(m, 0, size, copy);
	size_t at = packet_tag_find(frame, size);
	struct packet_tag tag;

	if (at == 0 || t->uplink == NULL)
		return OWNER_NOT;
	packet_tag_read(frame + at, &tag);
	return uplink_has_made(t->uplink, &tag) ? OWNER_IS : OWNER_NOT;
}

const struct shared_port_side shared_port_network = {
	.name = "network",
	.evidence = EVIDENCE_NETWORK,
	.key_size = sizeof(struct network_key),
	.vlan = network_vlan,
	.keys = network_keys,
	.keys_name = network_keys_name,
	.key_read = network_key_read,
	.owner = network_owner,
	.owner_first = true,
	.counter = network_unmatched,
	.process = traffic_process_network,
};
