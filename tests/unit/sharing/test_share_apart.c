/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose a packet is, each way of telling it by an example, and why it is nobody's. */
#include "test.h"

#include <string.h>

#include "packets.h"
#include "share_rig.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#define SIZE 100

static struct share_rig storage, *const rig = &storage;
static uint8_t frame[RIG_FRAME], other[RIG_FRAME];

/* The group gets the frame as it is in `as`. */
static void goes_to(int group, const uint8_t *bytes, size_t size, const uint8_t *as,
		    size_t as_size) {
	struct rig_fate fate;

	rig_fate(rig, bytes, size, &fate);
	if (fate.group < 0)
		print_error("dropped: %s\n", drop_name(fate.reason));
	assert_int_equal(fate.group, group);
	assert_int_equal(fate.size, as_size);
	assert_memory_equal(fate.frame, as, as_size);
}

static void goes_whole(int group, const uint8_t *bytes, size_t size) {
	goes_to(group, bytes, size, bytes, size);
}

static void dropped(enum drop_reason reason, const uint8_t *bytes, size_t size) {
	struct rig_fate fate;

	rig_fate(rig, bytes, size, &fate);
	assert_int_equal(fate.group, -1);
	assert_string_equal(drop_name(fate.reason), drop_name(reason));
}

static const uint8_t *address(unsigned group, unsigned modem, unsigned which) {
	return rig->addresses[group][modem][which].bytes;
}

static void by_subscriber(void **state) {
	static const uint8_t nobody[4] = {10, 9, 9, 9}, multicast[4] = {224, 0, 0, 5};
	static const uint8_t all[6] = {255, 255, 255, 255, 255, 255};
	static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};

	(void)state;
	rig_prepare(rig, 4);
	rig_open(rig, SHARE_NETWORK);
	for (unsigned g = 0; g < 4; g++) {
		for (unsigned m = 0; m < RIG_MODEMS; m++) {
			goes_whole((int)g, frame, packet_ipv4(frame, SIZE, 1, address(g, m, 0)));
			goes_whole((int)g, frame, packet_ipv6(frame, SIZE, 2, address(g, m, 1)));
			goes_whole((int)g, frame, packet_arp(frame, SIZE, 3, address(g, m, 0)));
			goes_whole((int)g, frame,
				   packet_llc(frame, SIZE, 4, rig->modems[g][m].mac));
		}
	}
	dropped(DROP_PORT_UNKNOWN_DESTINATION, frame, packet_ipv4(frame, SIZE, 1, nobody));
	dropped(DROP_PORT_UNKNOWN_DESTINATION, frame, packet_arp(frame, SIZE, 1, nobody));
	dropped(DROP_PORT_UNKNOWN_DESTINATION, frame,
		packet_llc(frame, SIZE, 1, (const uint8_t[6]){2, 1, 0, 0, 9, 9}));
	dropped(DROP_PORT_MULTICAST, frame, packet_ipv4(frame, SIZE, 1, multicast));
	dropped(DROP_PORT_MULTICAST, frame, packet_ipv4(frame, SIZE, 1, all));
	dropped(DROP_PORT_MULTICAST, frame, packet_ipv6(frame, SIZE, 1, all_nodes));
	dropped(DROP_PORT_MULTICAST, frame, packet_llc(frame, SIZE, 1, all));
	rig_close(rig);
}

/* What is cut off before it tells the group, or of another version, is nobody's; the rest is the group's. */
static void headers_of_subscribers(void **state) {
	size_t size;

	(void)state;
	rig_prepare(rig, 2);
	rig_open(rig, SHARE_NETWORK);
	packet_ipv4(frame, SIZE, 1, address(1, 0, 0));
	dropped(DROP_PORT_RUNT, frame, 0);
	dropped(DROP_PORT_RUNT, frame, 13);
	dropped(DROP_PORT_HEADERS, frame, 14);
	dropped(DROP_PORT_HEADERS, frame, 33);
	goes_whole(1, frame, 34);
	frame[14] = 0x65;
	dropped(DROP_PORT_HEADERS, frame, SIZE);
	packet_ipv6(frame, SIZE, 1, address(1, 0, 1));
	dropped(DROP_PORT_HEADERS, frame, 53);
	goes_whole(1, frame, 54);
	frame[14] = 0x45;
	dropped(DROP_PORT_HEADERS, frame, SIZE);
	packet_arp(frame, SIZE, 1, address(1, 0, 0));
	dropped(DROP_PORT_HEADERS, frame, 41);
	goes_whole(1, frame, 42);
	frame[18] = 8;
	dropped(DROP_PORT_HEADERS, frame, SIZE);
	size = packet_ipv4(other, SIZE, 1, address(1, 0, 0));
	dropped(DROP_PORT_VLAN_UNKNOWN, frame, rig_tag(frame, other, size, ETHERTYPE_VLAN, 10));
	dropped(DROP_PORT_VLAN_UNKNOWN, frame,
		rig_tag(frame, other, size, ETHERTYPE_SERVICE_VLAN, 10));
	/* a priority and no VLAN: as untagged */
	goes_to(1, frame, rig_tag(frame, other, size, ETHERTYPE_VLAN, 0), other, size);
	goes_to(1, frame, rig_tag(frame, other, size, ETHERTYPE_VLAN, 0xf000), other, size);
	dropped(DROP_PORT_VLAN_UNKNOWN, frame,
		rig_tag(frame, other, size, ETHERTYPE_SERVICE_VLAN, 0));
	size = rig_tag(other, other, size, ETHERTYPE_VLAN, 0);
	dropped(DROP_PORT_VLAN_UNKNOWN, frame, rig_tag(frame, other, size, ETHERTYPE_VLAN, 0));
	rig_close(rig);
}

/* The same subscribers in two groups: each is sent to by its own MAC address. Groups 2 and 3 have none. */
static void by_destination_mac(void **state) {
	static const uint8_t foreign[6] = {2, 0, 0, 0, 2, 9},
			     all[6] = {255, 255, 255, 255, 255, 255};

	(void)state;
	rig_prepare(rig, 4);
	for (unsigned g = 0; g < 2; g++) {
		rig->groups[g].network.has_mac = true;
		rig_mac(g, 2, rig->groups[g].network.mac);
	}
	rig->addresses[1][0][0] = rig->addresses[0][0][0];
	rig_open(rig, SHARE_NETWORK);
	for (unsigned g = 0; g < 2; g++) {
		packet_ipv4(frame, SIZE, 1, address(0, 0, 0));
		memcpy(frame, rig->groups[g].network.mac, 6);
		goes_whole((int)g, frame, SIZE);
		goes_whole((int)g, frame, 14); /* whatever follows */
		packet_ipv4(frame, SIZE, 1, address(0, 1, 0));
		memcpy(frame, foreign, 6);
		dropped(DROP_PORT_UNKNOWN_MAC, frame, SIZE);
		memcpy(frame, all, 6);
		goes_whole(0, frame, SIZE);
		goes_whole((int)g, frame, packet_arp(frame, SIZE, 1, address(g, 2, 0)));
		goes_whole((int)g, frame, packet_llc(frame, SIZE, 1, rig->modems[g][1].mac));
	}
	/* an address that both have tells neither */
	dropped(DROP_PORT_UNKNOWN_DESTINATION, frame, packet_arp(frame, SIZE, 1, address(0, 0, 0)));
	packet_ipv4(frame, SIZE, 1, address(0, 0, 0));
	memcpy(frame, foreign, 6);
	dropped(DROP_PORT_UNKNOWN_MAC, frame, SIZE);
	packet_ipv4(frame, SIZE, 1, address(3, 0, 0));
	goes_whole(3, frame, SIZE);
	rig_close(rig);
}

/* Groups 0 and 1 have a VLAN each and the same subscribers, 2 and 3 have one together. */
static void by_vlan(void **state) {
	static const uint16_t vlans[] = {10, 4094, 7, 7};
	size_t size, whole;

	(void)state;
	rig_prepare(rig, 4);
	for (unsigned g = 0; g < 4; g++)
		rig->groups[g].network.vlan = vlans[g];
	memcpy(rig->addresses[1], rig->addresses[0], sizeof(rig->addresses[0]));
	rig_open(rig, SHARE_NETWORK);
	for (unsigned g = 0; g < 4; g++) {
		size = packet_ipv4(other, SIZE, g, address(g, 1, 0));
		whole = rig_tag(frame, other, size, ETHERTYPE_VLAN, vlans[g] | 0xf000);
		goes_to((int)g, frame, whole, other, size);
	}
	whole = rig_tag(frame, other, size, ETHERTYPE_VLAN,
			10); /* group 3's address in group 0's VLAN */
	goes_to(0, frame, whole, other, size);
	whole = rig_tag(frame, other, size, ETHERTYPE_VLAN, 0);
	dropped(DROP_PORT_VLAN_MISSING, frame, whole);
	dropped(DROP_PORT_VLAN_MISSING, other, size);
	dropped(DROP_PORT_VLAN_MISSING, other, 14);
	dropped(DROP_PORT_RUNT, other, 13);
	whole = rig_tag(frame, other, size, ETHERTYPE_VLAN, 11);
	dropped(DROP_PORT_VLAN_UNKNOWN, frame, whole);
	dropped(DROP_PORT_RUNT, frame, 17);
	whole = rig_tag(frame, other, size, ETHERTYPE_VLAN, 10);
	goes_to(0, frame, 18, other, 14);
	dropped(DROP_PORT_RUNT, frame, 17);
	whole = rig_tag(frame, frame, whole, ETHERTYPE_VLAN, 10);
	dropped(DROP_PORT_VLAN_STACKED, frame, whole);
	whole = rig_tag(frame, other, size, ETHERTYPE_SERVICE_VLAN, 10);
	dropped(DROP_PORT_VLAN_STACKED, frame, whole);
	whole = rig_tag(frame, frame, whole, ETHERTYPE_VLAN, 10);
	dropped(DROP_PORT_VLAN_STACKED, frame, whole);
	rig_close(rig);
}

/* Beside a group in a VLAN, one without: what has no tag, or one of VLAN 0, is its. */
static void one_without_a_vlan(void **state) {
	size_t size, whole;

	(void)state;
	rig_prepare(rig, 2);
	rig->groups[1].network.vlan = 10;
	rig_open(rig, SHARE_NETWORK);
	size = packet_ipv4(other, SIZE, 1, address(1, 1, 0));
	goes_whole(0, other, size);
	whole = rig_tag(frame, other, size, ETHERTYPE_VLAN, 0);
	goes_to(0, frame, whole, other, size);
	whole = rig_tag(frame, other, size, ETHERTYPE_VLAN, 10);
	goes_to(1, frame, whole, other, size);
	rig_close(rig);
}

/* All sessions of a group, over IPv4, IPv6 and UDP; our MAC address does not matter. */
static void by_session(void **state) {
	static const uint8_t any[6] = {2, 9, 9, 9, 9, 9};

	(void)state;
	rig_prepare(rig, 4);
	rig_open(rig, SHARE_RPHY);
	for (unsigned g = 0; g < 4; g++) {
		for (uint32_t kind = 0x10000; kind <= 0x30000; kind += 0x10000) {
			goes_whole((int)g, frame, rig_l2tp(frame, 4, any, kind + g));
			goes_whole((int)g, frame, rig_l2tp(frame, 6, any, kind + g));
			goes_whole((int)g, frame, rig_l2tp_udp(frame, any, kind + g));
		}
	}
	dropped(DROP_PORT_UNKNOWN_SESSION, frame, rig_l2tp(frame, 4, any, 0x10004));
	dropped(DROP_PORT_UNKNOWN_SESSION, frame, rig_l2tp(frame, 6, any, 0x01000000));
	dropped(DROP_PORT_UNKNOWN_SESSION, frame, rig_l2tp_udp(frame, any, 4));
	dropped(DROP_PORT_L2TP_CONTROL, frame, rig_l2tp(frame, 4, any, 0));
	dropped(DROP_PORT_NOT_L2TP, frame, packet_ipv4(frame, SIZE, 1, address(0, 0, 0)));
	dropped(DROP_PORT_NOT_L2TP, frame, packet_arp(frame, SIZE, 1, address(0, 0, 0)));
	dropped(DROP_PORT_RUNT, frame, 13);
	rig_close(rig);
}

/* A header that is wrong, or cut off: what has its session nevertheless is the group's to judge. */
static void headers_of_sessions(void **state) {
	static const uint8_t any[6] = {2, 9, 9, 9, 9, 9};
	size_t size, whole;

	(void)state;
	rig_prepare(rig, 2);
	rig_open(rig, SHARE_RPHY);
	size = rig_l2tp(other, 4, any, 0x10001);
	whole = rig_tag(frame, other, size, ETHERTYPE_VLAN, 77); /* tags are nothing to us here */
	goes_whole(1, frame, whole);
	goes_whole(1, other, 38);
	dropped(DROP_PORT_HEADERS, other, 37);
	other[24] ^= 1; /* checksum */
	goes_whole(1, other, size);
	other[20] = 0x20; /* a fragment */
	packet_ipv4_checksum(other);
	dropped(DROP_PORT_HEADERS, other, size);
	size = rig_l2tp(other, 6, any, 0x10001);
	goes_whole(1, other, 58);
	dropped(DROP_PORT_HEADERS, other, 57);
	size = rig_l2tp_udp(other, any, 0x10001);
	other[24] ^= 1;
	dropped(DROP_PORT_HEADERS, other, size);
	rig_close(rig);
}

/* Groups 0 and 1 have the same sessions, group 2 its own: all three are then told by MAC address, too. */
static void by_session_and_mac(void **state) {
	static const uint8_t any[6] = {2, 9, 9, 9, 9, 9};

	(void)state;
	rig_prepare(rig, 3);
	rig->channels[1] = rig->channels[0];
	rig_open(rig, SHARE_RPHY);
	for (unsigned g = 0; g < 3; g++) {
		const uint8_t *mac = rig->groups[g].rphy.core_mac;
		uint32_t session = g == 2 ? 0x20002 : 0x20000;

		goes_whole((int)g, frame, rig_l2tp(frame, 4, mac, session));
		goes_whole((int)g, frame, rig_l2tp(frame, 6, mac, session));
		goes_whole((int)g, frame, rig_l2tp_udp(frame, mac, session));
		dropped(DROP_PORT_UNKNOWN_SESSION, frame, rig_l2tp(frame, 4, any, session));
	}
	dropped(DROP_PORT_UNKNOWN_SESSION, frame,
		rig_l2tp(frame, 4, rig->groups[0].rphy.core_mac, 0x20002));
	rig_close(rig);
}

/* The same sessions and MAC addresses in two VLANs; a third one's group has no upstream. */
static void sessions_in_vlans(void **state) {
	const uint8_t *mac = rig->groups[0].rphy.core_mac;
	size_t size, whole;

	(void)state;
	rig_prepare(rig, 3);
	rig->channels[1] = rig->channels[0];
	rig->groups[1].rphy = rig->groups[0].rphy;
	rig->groups[2].upstream_channel_count = 0;
	for (uint16_t g = 0; g < 3; g++)
		rig->groups[g].rphy_port.vlan = 10 + g;
	rig_open(rig, SHARE_RPHY);
	size = rig_l2tp(other, 4, mac, 0x10000);
	for (uint16_t g = 0; g < 2; g++) {
		whole = rig_tag(frame, other, size, ETHERTYPE_VLAN, 10 + g);
		goes_to(g, frame, whole, other, size);
	}
	whole = rig_tag(frame, other, size, ETHERTYPE_VLAN, 12);
	dropped(DROP_PORT_UNKNOWN_SESSION, frame, whole);
	whole = rig_tag(frame, other, size, ETHERTYPE_VLAN, 13);
	dropped(DROP_PORT_VLAN_UNKNOWN, frame, whole);
	rig_close(rig);
}

/* A group alone gets all, and has its own names for what is wrong. */
static void a_group_alone(void **state) {
	(void)state;
	for (enum share_side side = SHARE_NETWORK; side <= SHARE_RPHY; side++) {
		rig_prepare(rig, 1);
		rig_open(rig, side);
		memset(frame, 0x77, sizeof(frame));
		for (size_t size = 14; size < 100; size++)
			goes_whole(0, frame, size);
		dropped(DROP_PORT_RUNT, frame, 13);
		rig_close(rig);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_subscriber),       cmocka_unit_test(headers_of_subscribers),
		cmocka_unit_test(by_destination_mac),  cmocka_unit_test(by_vlan),
		cmocka_unit_test(one_without_a_vlan),  cmocka_unit_test(by_session),
		cmocka_unit_test(headers_of_sessions), cmocka_unit_test(by_session_and_mac),
		cmocka_unit_test(sessions_in_vlans),   cmocka_unit_test(a_group_alone),
	};

	return cmocka_run_group_tests(tests, rig_begin, rig_end);
}
