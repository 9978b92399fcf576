/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of a life_kit, what comes of them, what its groups count, and what a process may lose. */
#include <dirent.h>

#include <rte_ethdev.h>
#include <rte_memzone.h>

#include "platform/vlan.h"
#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/docsis_up.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"
#include "wire/uepi.h"

#include "depi_reader.h"
#include "fixture.h"
#include "life_kit.h"
#include "packets.h"

#include "test.h"

#define BURST 100 /* bytes of a modem's frame */
#define MESSAGE 46
#define BURST_MOST 512 /* bytes of its packet */
#define MAPS 3 /* sessions of theirs begin with it */
/* A piece that is too small for an allocation stays with the one before it: as many as this, of 128 bytes and less. */
#define ODD_BYTES 1024

static void part(uint8_t *psp, uint8_t **at, bool begin, bool end, const void *bytes, size_t size) {
	psp_entry_write(psp + PSP_HEADER_FIXED + PSP_ENTRY_SIZE * psp[1]++, begin, end,
			(uint16_t)size);
	memcpy(*at, bytes, size);
	*at += size;
}

static bool put(const struct life_kit *b, uint16_t port, struct rte_mbuf *m, uint64_t *sent) {
	bool took = life_card != NULL && (port == b->network[0] || port == b->rphy[0])
			    ? life_card->put(port, m)
			    : rte_eth_tx_burst(port, 0, &m, 1) == 1;

	if (took)
		__atomic_fetch_add(sent, 1, __ATOMIC_RELAXED);
	else
		rte_pktmbuf_free(m);
	return took;
}

bool life_kit_down(struct life_kit *b, unsigned pair, const struct service_group *sg, size_t size,
		   uint32_t serial) {
	uint8_t frame[PACKET_MAX];
	struct rte_mbuf *m;

	size = packet_for(&sg->modems[serial % 2], 0, frame, size, serial);
	if (sg->network.has_mac)
		memcpy(frame, sg->network.mac, sizeof(sg->network.mac));
	m = fixture_packet(b->pool, frame, size);
	if (sg->network.vlan != 0)
		packet_tag(m, sg->network.vlan);
	return put(b, b->network[pair], m, &b->sent_down);
}

/* A burst of a modem as the R-PHY device sends it: one L2TPv3 packet with one frame, and its end where it is not open. */
static size_t burst_write(const struct service_group *sg, uint16_t sequence, uint32_t serial,
			  enum docsis_kind kind, bool open, uint8_t packet[BURST_MOST]) {
	const size_t pdu = kind == DOCSIS_KIND_PACKET ? BURST : MESSAGE;
	struct docsis_up_header mac = {.kind = kind};
	struct uepi_header header = {.sid = 5};
	struct uepi_trailer trailer = {0};
	struct depi_encap e = {.family = 4, .ttl = 64, .session = sg->upstream_channels[0].session};
	uint8_t bytes[UEPI_TRAILER_MAX], frame[256] = {0};
	uint8_t *psp = packet + depi_encap_size(&e);
	uint8_t *at = psp + PSP_HEADER_FIXED + (open ? 2 : 3) * PSP_ENTRY_SIZE;
	size_t mac_size = docsis_up_header_write(&mac, pdu + ETHERNET_CRC_SIZE, frame);

	memset(packet, 0, BURST_MOST);
	packet_ipv4(frame + mac_size, pdu, serial, (const uint8_t[]){198, 51, 100, 1});
	ethernet_crc_write(frame + mac_size, pdu);
	memcpy(e.source_ip, sg->rphy.rpd_ip.bytes, 4);
	memcpy(e.destination_ip, sg->rphy.core_ip.bytes, 4);
	memcpy(e.destination_mac, sg->rphy.core_mac, 6);
	psp_header_write(psp, 0, 0, sequence);
	part(psp, &at, true, false, bytes, uepi_header_write(UEPI_SC_QAM, &header, bytes));
	part(psp, &at, false, false, frame, mac_size + pdu + ETHERNET_CRC_SIZE);
	if (!open)
		part(psp, &at, false, true, bytes,
		     uepi_trailer_write(UEPI_SC_QAM, &trailer, bytes));
	depi_encap_write(&e, (size_t)(at - psp), packet);
	return (size_t)(at - packet);
}

static bool put_burst(struct life_kit *b, unsigned pair, const struct service_group *sg,
		      uint32_t serial, enum docsis_kind kind, bool open) {
	uint8_t packet[BURST_MOST];
	size_t bytes =
		burst_write(sg, b->sequences[sg->id]++, sg->id << 24 | serial, kind, open, packet);
	struct rte_mbuf *m = fixture_packet(b->pool, packet, bytes);

	if (sg->rphy_port.vlan != 0)
		packet_tag(m, sg->rphy_port.vlan);
	if (put(b, b->rphy[pair], m, &b->sent_up))
		return true;
	b->sequences[sg->id]--;
	return false;
}

bool life_kit_up(struct life_kit *b, unsigned pair, const struct service_group *sg,
		 uint32_t serial) {
	return put_burst(b, pair, sg, serial, DOCSIS_KIND_PACKET, false);
}

void life_kit_up_open(struct life_kit *b, unsigned pair) {
	assert_true(put_burst(b, pair, &b->file[pair], 0, DOCSIS_KIND_PACKET, true));
}

void life_kit_message(struct life_kit *b, unsigned pair) {
	assert_true(put_burst(b, pair, &b->file[pair], 0, DOCSIS_KIND_MANAGEMENT, false));
}

void life_kit_traffic(struct life_kit *b, unsigned pair, const struct service_group *sg,
		      unsigned n) {
	for (unsigned i = 0; i < n; i++, b->serial++) {
		assert_true(life_kit_down(b, pair, sg, 300, b->serial));
		assert_true(life_kit_up(b, pair, sg, b->serial));
	}
}

void life_kit_serves(struct life_kit *b) {
	uint64_t before = b->taken_up[1];

	life_kit_traffic(b, LIFE_SHARED, &b->file[0], 3);
	life_kit_pass(b, 2000000);
	assert_int_equal(b->taken_up[1], before + 3);
	assert_true(server_balanced(&b->server));
}

void life_kit_downs(struct life_kit *b, unsigned pair, const struct service_group *sg, unsigned n) {
	while (n-- > 0)
		assert_true(life_kit_down(b, pair, sg, 300, b->serial++));
}

void life_kit_ups(struct life_kit *b, unsigned pair, const struct service_group *sg, unsigned n) {
	while (n-- > 0)
		assert_true(life_kit_up(b, pair, sg, b->serial++));
}

/* What came is without its tag from here on, but for the digest. */
static void untag(struct rte_mbuf *m) {
	if (load_be16(rte_pktmbuf_mtod(m, const uint8_t *) + VLAN_ADDRESSES) == ETHERTYPE_VLAN)
		packet_untag(m);
}

static void note(struct life_kit *b, uint32_t id, unsigned side, const void *frame, size_t size) {
	if (life_apart)
		bytes_digest(&b->digest[id][side], &b->now, sizeof(b->now));
	bytes_digest(&b->digest[id][side], frame, size);
}

static void look_up(struct life_kit *b, const uint8_t *frame, size_t size) {
	uint32_t serial = packet_serial(frame), id = serial >> 24;

	assert_int_equal(size, BURST);
	assert_in_range(id, 1, LIFE_IDS - 1);
	if ((serial & 0xffffff) < b->last_up[id])
		fail_msg("group %u: %u comes after %u", id, serial & 0xffffff, b->last_up[id] - 1);
	b->last_up[id] = (serial & 0xffffff) + 1;
	b->taken_up[id]++;
	note(b, id, 0, frame, size);
}

/* Those of a channel are numbered without a gap, from 0 on when the group begins. */
static void look_depi(struct life_kit *b, unsigned pair, const struct rte_mbuf *m) {
	uint8_t frame[16384];
	struct l2tp_data data;
	size_t size;
	uint16_t sequence;
	uint32_t session = depi_session(m), channel = (session & 3) - 1;
	uint32_t id = life_apart ? pair + 1 : session >> 8 & 0xff;

	if (session >> 16 == MAPS)
		return;
	assert_in_range(id, 1, LIFE_IDS - 1);
	assert_in_range(channel, 0, 1);
	size = fixture_read(m, frame, sizeof(frame));
	note(b, id, 1, frame, size);
	assert_int_equal(l2tp_parse(frame, size, &data), L2TP_OK);
	if ((data.payload[0] & PSP_FLOW) != 0)
		return; /* messages, which are numbered by themselves */
	sequence = load_be16(data.payload + 2);
	if (sequence != 0 && b->depi_seen[id][channel])
		assert_int_equal(sequence, b->depi_next[id][channel]);
	b->depi_seen[id][channel] = true;
	b->depi_next[id][channel] = (uint16_t)(sequence + 1);
	b->depi_frames++;
}

void life_kit_take(struct life_kit *b) {
	uint8_t frame[16384];
	struct rte_mbuf *m;

	for (unsigned p = 0; p < life_pairs(); p++) {
		while (rte_eth_rx_burst(b->network[p], 0, &m, 1) == 1) {
			untag(m);
			look_up(b, frame, fixture_read(m, frame, sizeof(frame)));
			rte_pktmbuf_free(m);
		}
		while (rte_eth_rx_burst(b->rphy[p], 0, &m, 1) == 1) {
			untag(m);
			look_depi(b, p, m);
			rte_pktmbuf_free(m);
		}
	}
}

struct counters life_kit_down_of(const struct life_kit *b, unsigned group) {
	struct counters c;

	downstream_counters(b->server.groups[group].downstream, &c);
	return c;
}

const struct counters *life_kit_up_of(const struct life_kit *b, unsigned group) {
	return &b->server.groups[group].upstream->counters;
}

struct life_totals life_kit_totals(const struct life_kit *b) {
	const struct server *s = &b->server;
	struct counters down = s->gone.down, up = s->gone.up, ports = s->gone.ports, all;

	for (unsigned g = 0; g < s->group_count; g++) {
		struct counters c;

		if (!s->groups[g].there)
			continue;
		downstream_counters(s->groups[g].downstream, &c);
		counters_add(&down, &c);
		counters_add(&up, &s->groups[g].upstream->counters);
	}
	for (unsigned p = 0; p < s->ports.count; p++) {
		if (s->shares.of[p] == NULL)
			continue;
		share_counters(s->shares.of[p], &all);
		counters_add(&ports, &all);
	}
	return (struct life_totals){
		.down_in = down.values[COUNTER_RECEIVED],
		.down_out = down.values[COUNTER_TRANSMITTED],
		.down_dropped = counters_dropped(&down),
		.up_in = up.values[COUNTER_RECEIVED],
		.up_out = up.values[COUNTER_TRANSMITTED],
		.up_dropped = counters_dropped(&up),
		.port_steered = ports.values[COUNTER_PORT_STEERED],
		.port_strayed = ports.values[COUNTER_PORT_STRAYED],
		.port_in = ports.values[COUNTER_PORT_RECEIVED],
		.port_dropped = counters_dropped(&ports),
	};
}

void life_kit_check_totals(const struct life_kit *b) {
	struct life_totals t = life_kit_totals(b);
	uint64_t held = 0;

	for (unsigned g = 0; g < b->server.group_count; g++) {
		if (b->server.groups[g].there)
			held += downstream_pending(b->server.groups[g].downstream);
	}
	assert_int_equal(t.down_in, t.down_out + t.down_dropped + held);
	assert_int_equal(b->sent_down + b->sent_up,
			 t.down_in + t.up_in + t.port_dropped +
				 server_shares_pending_in(&b->server.shares));
	assert_true(server_balanced(&b->server));
}

static void count_zone(const struct rte_memzone *zone, void *count) {
	(*(unsigned *)count)++;
}

static unsigned files_open(void) {
	DIR *d = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		count++;
	closedir(d);
	return count;
}

struct life_left life_left_now(void) {
	struct life_left l = {.heaps = heaps_used(), .files = files_open()};

	rte_memzone_walk(count_zone, &l.zones);
	l.ports = rte_eth_dev_count_avail();
	return l;
}

void life_left_check(const struct life_left *before) {
	const struct life_left now = life_left_now();

	assert_int_equal(before->heaps.allocations, now.heaps.allocations);
	assert_in_range(now.heaps.bytes + ODD_BYTES, before->heaps.bytes,
			before->heaps.bytes + 2 * ODD_BYTES);
	assert_int_equal(before->zones, now.zones);
	assert_int_equal(before->files, now.files);
	assert_int_equal(before->ports, now.ports);
}
