/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends downstream packets that vcmtsd must drop, each with one fault, among valid ones. */
#include "refused/downlink_refused.h"

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "core/admits.h"
#include "core/candidates.h"
#include "core/vlan_tag.h"
#include "refused/cpe_watch.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#define DENIED_MAX 64 /* packets that filters deny, one per modem */
#define DENIED_SIZE 128 /* bytes: exceeds the headers and the tag */
#define ARP_FRAME 60
#define ETHERTYPE_LOCAL 0x88b5 /* IEEE 802, local experimental */

struct downlink_refused {
	uint32_t every, until; /* packets until the next one */
	struct random random;
	struct refused_counts counts;
	bool shared;
	uint8_t cmts_mac[6];
	uint8_t unknown4[4], unknown6[16]; /* addresses of no modem */
	struct packet_template denied[DENIED_MAX];
	uint32_t denied_count;
	struct cpe_watch *limits; /* NULL: no modem exceeds its CPE limit */
	uint64_t now; /* TSC */
	struct rte_mbuf *made; /* packet to send, or NULL */
	enum refused_kind kind; /* kind of `made` */
};

/* Documentation networks (RFC 5737, RFC 3849). */
static const uint8_t documentation4[4] = {192, 0, 2, 254};
static const uint8_t documentation6[16] = {0x20, 0x01, 0x0d, 0xb8, [4] = 0xfe, [15] = 0xfe};
static const uint8_t multicast4[4] = {239, 255, 0, 1};
static const uint8_t multicast6[16] = {0xff, 0x0e, [15] = 1};

static bool is_modem_address(const struct service_group *sg, uint8_t family,
			     const uint8_t *address) {
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		for (size_t a = 0; a < modem->address_count; a++) {
			if (modem->addresses[a].family == family &&
			    memcmp(modem->addresses[a].bytes, address, ip_address_size(family)) ==
				    0)
				return true;
		}
	}
	return false;
}

/* Decrements the address until no modem has it. */
static void unknown_find(struct downlink_refused *r, const struct service_group *sg) {
	memcpy(r->unknown4, documentation4, sizeof(documentation4));
	memcpy(r->unknown6, documentation6, sizeof(documentation6));
	for (unsigned i = 0; i < UINT8_MAX && is_modem_address(sg, 4, r->unknown4); i++)
		r->unknown4[3]--;
	for (unsigned i = 0; i < UINT8_MAX && is_modem_address(sg, 6, r->unknown6); i++)
		r->unknown6[15]--;
}

/* Without UDP or TCP checksum, which the CMTS ignores. */
static void denied_add(struct downlink_refused *r, const struct packet_address *packet) {
	struct packet_template *t = &r->denied[r->denied_count++];

	packet_template_create(t, packet, traffic_source_mac, r->cmts_mac);
	t->checksum_at = 0;
}

/* Starts at a random modem, as there may be more modems than templates. */
static void denied_find(struct downlink_refused *r, const struct service_group *sg) {
	size_t first = random_below(&r->random, (uint32_t)sg->modem_count + 1);

	for (size_t i = 0; i < sg->modem_count && r->denied_count < DENIED_MAX; i++) {
		const struct modem *m = &sg->modems[(first + i) % sg->modem_count];
		struct evaluation evaluation;
		struct packet_address packet;
		struct candidate_search search = {
			.sg = sg,
			.modem = m,
			.address = &m->addresses[0],
			.random = {random_next(&r->random)},
		};

		if (m->address_count > 0 && modem_admits(m, 0) &&
		    candidate_find(&search, CLASS_DENIED, 0, &packet, &evaluation))
			denied_add(r, &packet);
	}
}

struct downlink_refused *downlink_refused_create(const struct service_group *sg, uint32_t every,
						 bool shared, uint64_t seed) {
	struct downlink_refused *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->every = r->until = every;
	r->random.state = seed;
	r->shared = shared;
	memcpy(r->cmts_mac, packet_cmts_mac(sg), sizeof(r->cmts_mac));
	unknown_find(r, sg);
	denied_find(r, sg);
	r->limits = cpe_watch_create(sg, random_below(&r->random, (uint32_t)sg->modem_count + 1),
				     rte_get_tsc_hz());
	return r;
}

void downlink_refused_free(struct downlink_refused *r) {
	if (r == NULL)
		return;
	rte_pktmbuf_free(r->made);
	cpe_watch_free(r->limits);
	free(r);
}

static void ipv4_address(uint8_t *ip, const uint8_t address[4]) {
	memcpy(ip + 16, address, 4);
	store_be16(ip + 10, ipv4_checksum(ip, IPV4_HEADER));
}

static void destination_set(uint8_t *ip, bool ipv4, const uint8_t *v4, const uint8_t *v6) {
	if (ipv4)
		ipv4_address(ip, v4);
	else
		memcpy(ip + 24, v6, 16);
}

static void arp_write(struct rte_mbuf *m, uint8_t *frame) {
	memset(frame + ETHERNET_HEADER, 0, ARP_FRAME - ETHERNET_HEADER);
	store_be16(frame + 12, ETHERTYPE_ARP);
	store_be16(frame + ETHERNET_HEADER, 6); /* IEEE 802 networks */
	store_be16(frame + ETHERNET_HEADER + 2, ETHERTYPE_IPV4);
	frame[ETHERNET_HEADER + 4] = 6;
	frame[ETHERNET_HEADER + 5] = 4;
	m->data_len = ARP_FRAME;
	m->pkt_len = ARP_FRAME;
}

static bool denied_write(struct downlink_refused *r, struct rte_mbuf *m, uint8_t *frame) {
	const struct packet_tag tag = {0};

	if (r->denied_count == 0)
		return false;
	memset(frame, 0, DENIED_SIZE);
	packet_start_write(&r->denied[random_below(&r->random, r->denied_count)], &tag, NULL, 0,
			   DENIED_SIZE, frame);
	m->data_len = DENIED_SIZE;
	m->pkt_len = DENIED_SIZE;
	return true;
}

/* Sends to an address beyond the CPE limit of a modem whose limit is reached. */
static bool limit_exceed(struct downlink_refused *r, uint8_t *ip, bool ipv4) {
	const uint8_t *address = cpe_watch_beyond(r->limits, ipv4, random_next(&r->random), r->now);

	if (address == NULL)
		return false;
	destination_set(ip, ipv4, address, address);
	return true;
}

/* Adds a fault of the kind to a copy of a valid packet. Returns whether that is possible. */
static bool fault_put(struct downlink_refused *r, struct rte_mbuf *m, enum refused_kind kind) {
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *ip = frame + ETHERNET_HEADER;
	bool ipv4 = load_be16(frame + 12) == ETHERTYPE_IPV4;
	uint16_t size = (uint16_t)(m->data_len - ETHERNET_HEADER);

	switch (kind) {
	case REFUSED_IPV4_CHECKSUM: ip[10] ^= 1; return ipv4;
	case REFUSED_IPV4_HEADER: ip[0] = 0x44; return ipv4;
	case REFUSED_IPV4_LENGTH: store_be16(ip + 2, (uint16_t)(size + 1)); return ipv4;
	case REFUSED_IPV6_HEADER: ip[0] = 0x50; return !ipv4;
	case REFUSED_IPV6_LENGTH:
		store_be16(ip + 4, (uint16_t)(size - IPV6_HEADER + 1));
		return !ipv4;
	case REFUSED_ARP: arp_write(m, frame); return true;
	case REFUSED_MULTICAST: destination_set(ip, ipv4, multicast4, multicast6); return true;
	case REFUSED_UNKNOWN: destination_set(ip, ipv4, r->unknown4, r->unknown6); return true;
	case REFUSED_CPE_LIMIT: return limit_exceed(r, ip, ipv4);
	case REFUSED_LLC:
		memcpy(frame, r->cmts_mac, sizeof(r->cmts_mac));
		store_be16(frame + 12, ETHERTYPE_LOCAL);
		return true;
	case REFUSED_DENIED: return denied_write(r, m, frame);
	default: return false;
	}
}

/* Clears the tag, so that the packet counts as unexpected if the CMTS forwards it. */
static void tag_spoil(struct rte_mbuf *m) {
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	size_t at = packet_tag_find(frame, m->data_len);

	if (at > 0)
		memset(frame + at, 0, PACKET_TAG_SIZE);
}

void downlink_refused_make(struct downlink_refused *r, struct rte_mbuf *const *packets, unsigned n,
			   uint64_t now) {
	struct rte_mbuf *packet;

	if (r == NULL || n == 0)
		return;
	cpe_watch_record(r->limits, packets, n, now);
	if (r->until > n) {
		r->until -= n;
		return;
	}
	r->until += r->every - n;
	rte_pktmbuf_free(r->made);
	packet = packets[random_below(&r->random, n)];
	r->made = rte_pktmbuf_copy(packet, packet->pool, 0, UINT32_MAX);
	if (r->made == NULL)
		return;
	r->now = now;
	tag_spoil(r->made);
	r->kind = (enum refused_kind)random_below(&r->random, REFUSED_DOWNSTREAM);
	if (fault_put(r, r->made, r->kind))
		return;
	rte_pktmbuf_free(r->made);
	r->made = NULL;
}

static void count_sent(struct downlink_refused *r, uint16_t type, uint32_t size) {
	struct refused_counts *c = &r->counts;

	refused_count(c, r->kind, r->shared, size);
	c->ipv4[r->shared][r->kind] += type == ETHERTYPE_IPV4;
	c->ipv6[r->shared][r->kind] += type == ETHERTYPE_IPV6;
}

void downlink_refused_send(struct downlink_refused *r, uint16_t port, uint16_t vlan) {
	uint16_t type;
	uint32_t size;

	if (r == NULL || r->made == NULL)
		return;
	type = load_be16(rte_pktmbuf_mtod_offset(r->made, const uint8_t *, 12));
	size = rte_pktmbuf_pkt_len(r->made);
	if (vlan != 0)
		vlan_tag_put(r->made, vlan);
	if (rte_eth_tx_burst(port, 0, &r->made, 1) == 1)
		count_sent(r, type, size);
	else
		rte_pktmbuf_free(r->made);
	r->made = NULL;
}

void downlink_refused_changed(struct downlink_refused *r) {
	if (r == NULL)
		return;
	r->denied_count = 0;
	cpe_watch_free(r->limits);
	r->limits = NULL;
	if (r->made != NULL && (r->kind == REFUSED_DENIED || r->kind == REFUSED_CPE_LIMIT)) {
		rte_pktmbuf_free(r->made);
		r->made = NULL;
	}
}

void downlink_refused_restart(struct downlink_refused *r) {
	if (r != NULL)
		r->counts = (struct refused_counts){0};
}

struct refused_counts downlink_refused_counts(const struct downlink_refused *r) {
	return r == NULL ? (struct refused_counts){0} : r->counts;
}
