/* SPDX-License-Identifier: BSD-3-Clause */
#include "share_kit.h"

#include <rte_ethdev.h>

#include "platform/port.h"
#include "wire/bytes.h"
#include "wire/ip.h"
#include "wire/l2tpv3.h"

#include "fixture.h"
#include "packets.h"
#include "test.h"

#include "guard.h" /* needs cmocka before it */

#define PACKETS 4095
#define PAYLOAD 40

static struct guard guard;
static struct rte_mbuf_ext_shared_info guarded_info;

int rig_setup(void **state) {
	fixture_start(state);
	guard = guard_open(RIG_FRAME_SIZE);
	return 0;
}

int rig_teardown(void **state) {
	guard_close(&guard);
	return fixture_stop(state);
}

void rig_open(struct share_rig *r, enum share_side side) {
	struct share_config c = {
		.name = "test",
		.side = side,
		.sends_by_ring = r->sends_by_ring,
		.ring_size = r->ring_size,
		.groups = r->list,
		.group_count = r->count,
	};
	static unsigned opened;
	char name[16];
	uint16_t ids[2];

	r->packets = fixture_pool_create("packets", PACKETS, FIXTURE_BUFFER_SIZE);
	snprintf(name, sizeof(name), "wire%u", opened++);
	assert_int_equal(port_pair(name, r->packets, RIG_PORT_SIZE, ids), 0);
	r->far = ids[0];
	r->near = ids[1];
	c.from = (struct packet_source){.port = r->near};
	c.to = packet_sink_port(r->near);
	r->s = share_create(&c, (char[LIVE_LINE]){0});
	assert_non_null(r->s);
}

void rig_check(const struct share_rig *r) {
	const struct counters *c = &r->s->counters;
	uint64_t received = 0;

	for (unsigned g = 0; g < RIG_GROUPS; g++)
		received += r->received[g];
	assert_true(share_balanced(r->s));
	assert_int_equal(c->values[COUNTER_PORT_RECEIVED], received + share_pending_in(r->s) +
								   counters_dropped(c) -
								   c->drops[DROP_PORT_UNSENT]);
}

void rig_close(struct share_rig *r) {
	const uint16_t ports[] = {r->near, r->far};
	struct rte_mbuf *m;

	rig_check(r);
	share_close(r->s);
	pipeline_run(&r->s->receiving);
	share_stop(r->s);
	assert_int_equal(share_pending_in(r->s) + share_pending_out(r->s), 0);
	share_free(r->s);
	for (unsigned p = 0; p < 2; p++) {
		while (rte_eth_rx_burst(ports[p], 0, &m, 1) == 1)
			rte_pktmbuf_free(m);
		port_close(ports[p]);
	}
	fixture_pool_free(r->packets);
}

uint16_t rig_receive(struct share_rig *r, unsigned group, struct rte_mbuf **pkts, uint16_t limit) {
	struct packet_source source = share_source(r->s, group);
	uint16_t n = packet_source_burst(&source, pkts, limit);

	r->received[group] += n;
	return n;
}

struct share_table *rig_build_table(const struct share_rig *r) {
	return share_table_create("test", r->s->side, r->list, r->count, (char[LIVE_LINE]){0});
}

void rig_compare_table(const struct share_rig *r, bool vlans) {
	const struct share_table *t = r->s->table;
	struct share_table *expected = rig_build_table(r);
	const void *stored; /* a key without its alignment */
	struct share_key key;
	uint32_t iterator = 0;
	void *groups, *expected_groups;

	assert_non_null(expected);
	if (vlans)
		assert_memory_equal(t->vlans, expected->vlans, sizeof(expected->vlans));
	assert_int_equal(t->groups != NULL, expected->groups != NULL);
	if (t->groups != NULL)
		assert_int_equal(rte_hash_count(t->groups), rte_hash_count(expected->groups));
	while (t->groups != NULL && rte_hash_iterate(t->groups, &stored, &groups, &iterator) >= 0) {
		memcpy(&key, stored, sizeof(key));
		assert_true(rte_hash_lookup_data(expected->groups, &key, &expected_groups) >= 0);
		assert_ptr_equal(groups, expected_groups);
	}
	share_table_free(expected);
}

static void ignore_free(void *bytes, void *ctx) {
}

struct rte_mbuf *rig_create_packet(struct share_rig *r, unsigned group, uint32_t number) {
	uint8_t frame[60];

	packet_write_ipv4(frame, sizeof(frame), number, r->addresses[group][0][0].bytes);
	return fixture_packet_create(r->packets, frame, sizeof(frame));
}

void rig_send(struct share_rig *r, const void *frame, size_t size, bool is_guarded) {
	struct rte_mbuf *m = fixture_packet_create(r->packets, frame, is_guarded ? 0 : size);

	if (is_guarded) {
		guarded_info.free_cb = ignore_free;
		rte_mbuf_ext_refcnt_set(&guarded_info, 1);
		rte_pktmbuf_attach_extbuf(m, guard_copy(&guard, frame, size), RTE_BAD_IOVA,
					  (uint16_t)size, &guarded_info);
		m->data_off = 0;
		m->data_len = (uint16_t)size;
		m->pkt_len = (uint32_t)size;
	}
	assert_int_equal(rte_eth_tx_burst(r->far, 0, &m, 1), 1);
}

size_t rig_add_tag(uint8_t *out, const uint8_t *frame, size_t size, uint16_t type, uint16_t tci) {
	memmove(out + 16, frame + 12, size - 12);
	memmove(out, frame, 12);
	store_be16(out + 12, type);
	store_be16(out + 14, tci);
	return size + 4;
}

size_t rig_write_l2tp(uint8_t *out, uint8_t family, const uint8_t mac[6], uint32_t session) {
	struct depi_encap e = {.family = family, .ttl = 64, .session = session};
	size_t size;

	memcpy(e.destination_mac, mac, sizeof(e.destination_mac));
	size = depi_encap_write(&e, PAYLOAD, out);
	memset(out + size, 0x5a, PAYLOAD);
	return size + PAYLOAD;
}

size_t rig_write_l2tp_udp(uint8_t *out, const uint8_t mac[6], uint32_t session) {
	uint8_t *ip = out + ETHERNET_HEADER, *udp = ip + IPV4_HEADER;
	size_t size = rig_write_l2tp(out, 4, mac, session);

	ip[9] = IP_PROTOCOL_UDP;
	store_be16(ip + 10, ipv4_checksum(ip, IPV4_HEADER));
	store_be16(udp, 50000);
	store_be16(udp + 2, L2TP_PORT);
	store_be16(udp + 4, (uint16_t)(size - ETHERNET_HEADER - IPV4_HEADER));
	store_be16(udp + 6, 0);
	store_be32(udp + 8, 0x00030000);
	store_be32(udp + 12, session);
	return size;
}
