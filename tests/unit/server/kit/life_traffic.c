/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of life_kit.h that sends and receives packets and reads counters. */
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

#define FRAME_SIZE 100 /* bytes of a modem's Ethernet frame */
#define MESSAGE_SIZE 46 /* bytes of a management message */
#define BURST_MAX 512 /* bytes of the packet of an upstream burst */
#define MAP_SESSIONS 3 /* upper 16 bits of MAP sessions */
/* Bytes by which the heap may differ: it adds too small remainders to the block before. */
#define HEAP_TOLERANCE 1024

static void add_segment(uint8_t *psp, uint8_t **at, bool begin, bool end, const void *bytes,
			size_t size) {
	psp_entry_write(psp + PSP_HEADER_FIXED + PSP_ENTRY_SIZE * psp[1]++, begin, end,
			(uint16_t)size);
	memcpy(*at, bytes, size);
	*at += size;
}

static bool send_mbuf(const struct life_kit *k, uint16_t port, struct rte_mbuf *m, uint64_t *sent) {
	bool accepted = life_nic != NULL && (port == k->network[0] || port == k->rphy[0])
				? life_nic->send(port, m)
				: rte_eth_tx_burst(port, 0, &m, 1) == 1;

	if (accepted)
		__atomic_fetch_add(sent, 1, __ATOMIC_RELAXED);
	else
		rte_pktmbuf_free(m);
	return accepted;
}

bool life_kit_send_packet(struct life_kit *k, unsigned pair, const struct service_group *sg,
			  size_t size, uint32_t serial) {
	uint8_t frame[PACKET_MAX];
	struct rte_mbuf *m;

	size = packet_write_to_modem(&sg->modems[serial % 2], 0, frame, size, serial);
	if (sg->network.has_mac)
		memcpy(frame, sg->network.mac, sizeof(sg->network.mac));
	m = fixture_packet_create(k->pool, frame, size);
	if (sg->network.vlan != 0)
		packet_tag(m, sg->network.vlan);
	return send_mbuf(k, k->network[pair], m, &k->sent_down);
}

/* Writes an upstream burst as the R-PHY device sends it: an L2TPv3 packet with one frame, and the
 * end of the burst unless `open`. Returns the size of the packet. */
static size_t write_burst(const struct service_group *sg, uint16_t sequence, uint32_t serial,
			  enum docsis_kind kind, bool open, uint8_t packet[BURST_MAX]) {
	const size_t pdu = kind == DOCSIS_KIND_PACKET ? FRAME_SIZE : MESSAGE_SIZE;
	struct docsis_up_header mac = {.kind = kind};
	struct uepi_header header = {.sid = 5};
	struct uepi_trailer trailer = {0};
	struct depi_encap e = {.family = 4, .ttl = 64, .session = sg->upstream_channels[0].session};
	uint8_t bytes[UEPI_TRAILER_MAX], frame[256] = {0};
	uint8_t *psp = packet + depi_encap_size(&e);
	uint8_t *at = psp + PSP_HEADER_FIXED + (open ? 2 : 3) * PSP_ENTRY_SIZE;
	size_t mac_size = docsis_up_header_write(&mac, pdu + ETHERNET_CRC_SIZE, frame);

	memset(packet, 0, BURST_MAX);
	packet_write_ipv4(frame + mac_size, pdu, serial, (const uint8_t[]){198, 51, 100, 1});
	ethernet_crc_write(frame + mac_size, pdu);
	memcpy(e.source_ip, sg->rphy.rpd_ip.bytes, 4);
	memcpy(e.destination_ip, sg->rphy.core_ip.bytes, 4);
	memcpy(e.destination_mac, sg->rphy.core_mac, 6);
	psp_header_write(psp, 0, 0, sequence);
	add_segment(psp, &at, true, false, bytes, uepi_header_write(UEPI_SC_QAM, &header, bytes));
	add_segment(psp, &at, false, false, frame, mac_size + pdu + ETHERNET_CRC_SIZE);
	if (!open)
		add_segment(psp, &at, false, true, bytes,
			    uepi_trailer_write(UEPI_SC_QAM, &trailer, bytes));
	depi_encap_write(&e, (size_t)(at - psp), packet);
	return (size_t)(at - packet);
}

static bool send_burst(struct life_kit *k, unsigned pair, const struct service_group *sg,
		       uint32_t serial, enum docsis_kind kind, bool open) {
	uint8_t packet[BURST_MAX];
	size_t bytes =
		write_burst(sg, k->sequences[sg->id]++, sg->id << 24 | serial, kind, open, packet);
	struct rte_mbuf *m = fixture_packet_create(k->pool, packet, bytes);

	if (sg->rphy_port.vlan != 0)
		packet_tag(m, sg->rphy_port.vlan);
	if (send_mbuf(k, k->rphy[pair], m, &k->sent_up))
		return true;
	k->sequences[sg->id]--;
	return false;
}

bool life_kit_send_burst(struct life_kit *k, unsigned pair, const struct service_group *sg,
			 uint32_t serial) {
	return send_burst(k, pair, sg, serial, DOCSIS_KIND_PACKET, false);
}

void life_kit_send_open_burst(struct life_kit *k, unsigned pair) {
	assert_true(send_burst(k, pair, &k->file[pair], 0, DOCSIS_KIND_PACKET, true));
}

void life_kit_send_message(struct life_kit *k, unsigned pair) {
	assert_true(send_burst(k, pair, &k->file[pair], 0, DOCSIS_KIND_MANAGEMENT, false));
}

void life_kit_send_both(struct life_kit *k, unsigned pair, const struct service_group *sg,
			unsigned n) {
	for (unsigned i = 0; i < n; i++, k->serial++) {
		assert_true(life_kit_send_packet(k, pair, sg, 300, k->serial));
		assert_true(life_kit_send_burst(k, pair, sg, k->serial));
	}
}

void life_kit_check_traffic(struct life_kit *k) {
	uint64_t before = k->received_up[1];

	life_kit_send_both(k, LIFE_SHARED, &k->file[0], 3);
	life_kit_run(k, 2000000);
	assert_int_equal(k->received_up[1], before + 3);
	assert_true(server_balanced(&k->server));
}

void life_kit_send_packets(struct life_kit *k, unsigned pair, const struct service_group *sg,
			   unsigned n) {
	while (n-- > 0)
		assert_true(life_kit_send_packet(k, pair, sg, 300, k->serial++));
}

void life_kit_send_bursts(struct life_kit *k, unsigned pair, const struct service_group *sg,
			  unsigned n) {
	while (n-- > 0)
		assert_true(life_kit_send_burst(k, pair, sg, k->serial++));
}

static void untag(struct rte_mbuf *m) {
	if (load_be16(rte_pktmbuf_mtod(m, const uint8_t *) + VLAN_ADDRESSES) == ETHERTYPE_VLAN)
		packet_untag(m);
}

static void update_digest(struct life_kit *k, uint32_t id, unsigned side, const void *frame,
			  size_t size) {
	if (life_separate_ports)
		digest_add(&k->digest[id][side], &k->now, sizeof(k->now));
	digest_add(&k->digest[id][side], frame, size);
}

static void check_frame(struct life_kit *k, const uint8_t *frame, size_t size) {
	uint32_t serial = packet_serial(frame), id = serial >> 24;

	assert_int_equal(size, FRAME_SIZE);
	assert_in_range(id, 1, LIFE_IDS - 1);
	if ((serial & 0xffffff) < k->next_up[id])
		fail_msg("group %u: frame %u received after frame %u", id, serial & 0xffffff,
			 k->next_up[id] - 1);
	k->next_up[id] = (serial & 0xffffff) + 1;
	k->received_up[id]++;
	update_digest(k, id, 0, frame, size);
}

/* Checks that sequence numbers of a channel have no gap. They restart at 0 with the group. */
static void check_depi(struct life_kit *k, unsigned pair, const struct rte_mbuf *m) {
	uint8_t frame[16384];
	struct l2tp_data data;
	size_t size;
	uint16_t sequence;
	uint32_t session = depi_session(m), channel = (session & 3) - 1;
	uint32_t id = life_separate_ports ? pair + 1 : session >> 8 & 0xff;

	if (session >> 16 == MAP_SESSIONS)
		return;
	assert_in_range(id, 1, LIFE_IDS - 1);
	assert_in_range(channel, 0, 1);
	size = fixture_packet_read(m, frame, sizeof(frame));
	update_digest(k, id, 1, frame, size);
	assert_int_equal(l2tp_parse(frame, size, &data), L2TP_OK);
	/* messages have their own sequence numbers */
	if ((data.payload[0] & PSP_FLOW) != 0)
		return;
	sequence = load_be16(data.payload + 2);
	if (sequence != 0 && k->depi_seen[id][channel])
		assert_int_equal(sequence, k->depi_next[id][channel]);
	k->depi_seen[id][channel] = true;
	k->depi_next[id][channel] = (uint16_t)(sequence + 1);
	k->depi_frames++;
}

void life_kit_receive(struct life_kit *k) {
	uint8_t frame[16384];
	struct rte_mbuf *m;

	for (unsigned p = 0; p < life_pairs(); p++) {
		while (rte_eth_rx_burst(k->network[p], 0, &m, 1) == 1) {
			untag(m);
			check_frame(k, frame, fixture_packet_read(m, frame, sizeof(frame)));
			rte_pktmbuf_free(m);
		}
		while (rte_eth_rx_burst(k->rphy[p], 0, &m, 1) == 1) {
			untag(m);
			check_depi(k, p, m);
			rte_pktmbuf_free(m);
		}
	}
}

struct counters life_kit_down_counters(const struct life_kit *k, unsigned group) {
	struct counters c;

	downstream_counters(k->server.groups[group].downstream, &c);
	return c;
}

const struct counters *life_kit_up_counters(const struct life_kit *k, unsigned group) {
	return &k->server.groups[group].upstream->counters;
}

struct life_totals life_kit_totals(const struct life_kit *k) {
	const struct server *s = &k->server;
	struct counters down = s->removed.down, up = s->removed.up, ports = s->removed.ports, all;

	for (unsigned g = 0; g < s->group_count; g++) {
		struct counters c;

		if (!s->groups[g].in_service)
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
		.port_misdirected = ports.values[COUNTER_PORT_MISDIRECTED],
		.port_in = ports.values[COUNTER_PORT_RECEIVED],
		.port_dropped = counters_dropped(&ports),
	};
}

void life_kit_check_totals(const struct life_kit *k) {
	struct life_totals t = life_kit_totals(k);
	uint64_t pending = 0;

	for (unsigned g = 0; g < k->server.group_count; g++) {
		if (k->server.groups[g].in_service)
			pending += downstream_pending(k->server.groups[g].downstream);
	}
	assert_int_equal(t.down_in, t.down_out + t.down_dropped + pending);
	assert_int_equal(k->sent_down + k->sent_up,
			 t.down_in + t.up_in + t.port_dropped +
				 server_shares_pending_in(&k->server.shares));
	assert_true(server_balanced(&k->server));
}

static void count_zone(const struct rte_memzone *zone, void *count) {
	(*(unsigned *)count)++;
}

static unsigned count_open_files(void) {
	DIR *d = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		count++;
	closedir(d);
	return count;
}

struct life_resources life_resources_read(void) {
	struct life_resources l = {.heaps = heaps_used(), .files = count_open_files()};

	rte_memzone_walk(count_zone, &l.zones);
	l.ports = rte_eth_dev_count_avail();
	return l;
}

void life_resources_check(const struct life_resources *before) {
	const struct life_resources now = life_resources_read();

	assert_int_equal(before->heaps.allocations, now.heaps.allocations);
	assert_in_range(now.heaps.bytes + HEAP_TOLERANCE, before->heaps.bytes,
			before->heaps.bytes + 2 * HEAP_TOLERANCE);
	assert_int_equal(before->zones, now.zones);
	assert_int_equal(before->files, now.files);
	assert_int_equal(before->ports, now.ports);
}
