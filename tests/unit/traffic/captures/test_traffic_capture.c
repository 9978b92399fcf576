/* SPDX-License-Identifier: BSD-3-Clause */
/* Captured frames rewritten and replayed: what stays, what changes, what is skipped; and the proof. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "captures/capture_replay.h"
#include "checksums.h"
#include "core/end_tag.h"
#include "core/generator.h"
#include "model/load/loader.h"
#include "modems/modem.h"
#include "modems/verifier.h"
#include "test.h"
#include "traffic_config.h"
#include "traffic_pool.h"
#include "wire/docsis_mac.h"
#include "wire/ip.h"

#define FILE_NAME "test-traffic-capture.pcap"
#define MAX_SIZE 1514

static struct service_group sg;
static struct captured_frame frame;

static int unload(void **state) {
	(void)state;
	service_group_free(&sg);
	remove(FILE_NAME);
	return 0;
}

/* UDP over IPv4 or IPv6 with `payload` bytes 1, 2, 3, .. and checksums that are wrong. */
static size_t udp_frame(unsigned family, uint16_t payload, uint8_t *out) {
	size_t ip = family == 4 ? 20 : 40;
	uint8_t *p = out + 14;

	memset(out, 0xaa, 12);
	memset(p, 0, ip + 8);
	if (family == 4) {
		store_be16(out + 12, 0x0800);
		p[0] = 0x45;
		p[1] = 0x2e; /* DSCP 11, ECN 2 */
		store_be16(p + 2, (uint16_t)(28 + payload));
		p[8] = 17; /* TTL */
		p[9] = 17;
		memcpy(p + 12, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
	} else {
		store_be16(out + 12, 0x86dd);
		store_be32(p, 0x62e12345);
		store_be16(p + 4, (uint16_t)(8 + payload));
		p[6] = 17;
		p[7] = 3; /* hop limit */
		memset(p + 8, 0x11, 16);
		memset(p + 24, 0x22, 16);
	}
	store_be16(p + ip, 5000);
	store_be16(p + ip + 2, 6000);
	store_be16(p + ip + 4, (uint16_t)(8 + payload));
	store_be16(p + ip + 6, 0xbad1);
	for (uint16_t i = 0; i < payload; i++)
		p[ip + 8 + i] = (uint8_t)(i + 1);
	return 14 + ip + 8 + payload;
}

static enum capture_skip read_frame(const uint8_t *bytes, size_t size) {
	return capture_frame_read(bytes, size, size, MAX_SIZE, &frame);
}

static void nothing_but_addresses_checksums_and_tag_changes(void **state) {
	static const uint8_t core[6] = {2, 0, 0, 0, 0, 1};
	static const uint8_t to[16] = {10, 0, 0, 1};
	uint8_t in[2000];

	(void)state;
	for (int i = 0; i < 2; i++) {
		unsigned family = i == 0 ? 4 : 6;
		size_t at = family == 4 ? 30 : 38; /* of the destination */
		size_t bytes = ip_address_size(family);
		size_t headers = family == 4 ? 42 : 62;

		for (uint16_t payload = 20; payload < 60; payload++) {
			size_t size = udp_frame(family, payload, in);
			size_t tag = headers + (payload - 20u) / 2 * 2;

			assert_int_equal(read_frame(in, size), CAPTURE_TAKEN);
			capture_frame_finish(&frame, to, core, traffic_source_mac);
			assert_int_equal(frame.size, size);
			assert_int_equal(frame.tag_at, tag);
			assert_int_equal(end_tag_find(frame.bytes, size), tag);
			assert_false(frame.lengthened || frame.untagged);
			assert_memory_equal(frame.bytes, core, 6);
			assert_memory_equal(frame.bytes + 6, traffic_source_mac, 6);
			assert_memory_equal(frame.bytes + at, to, bytes);
			/* The rest: all but the IPv4 checksum, the UDP checksum and the tag. */
			assert_memory_equal(frame.bytes + 12, in + 12, family == 4 ? 12 : at - 12);
			assert_memory_equal(frame.bytes + at + bytes, in + at + bytes, 6);
			assert_memory_equal(frame.bytes + headers, in + headers, tag - headers);
			assert_memory_equal(frame.bytes + tag + 20, in + tag + 20, size - tag - 20);
		}
	}
}

/* RFC 7045: a header of number 253 or 254 that is cut off belongs to no chain. With the tag behind it, it would. */
static void an_experimental_header_stays_cut_off(void **state) {
	uint8_t in[200];

	(void)state;
	for (uint16_t payload = 0; payload < 40; payload++) {
		size_t size = udp_frame(6, payload, in);
		unsigned upper = payload + 8u; /* 28 bytes have room for a tag of 20 */
		bool whole = upper < 28 && upper + upper % 2 + 20 >= 40;

		in[14 + 6] = 253;
		in[14 + 40 + 1] = 4; /* the header has 40 bytes */
		assert_int_equal(read_frame(in, size),
				 whole ? CAPTURE_SKIP_MALFORMED : CAPTURE_TAKEN);
		if (!whole)
			assert_int_equal(end_tag_find(frame.bytes, frame.size), frame.tag_at);
	}
}

/* What has no room for a tag keeps its payload and gets one behind it. */
static void short_payloads_are_lengthened(void **state) {
	uint8_t in[200];

	(void)state;
	for (uint16_t payload = 0; payload < 20; payload++) {
		size_t size = udp_frame(4, payload, in);
		size_t longer = size + payload % 2 + PACKET_TAG_SIZE;
		struct frame_fields f;

		assert_int_equal(read_frame(in, size), CAPTURE_TAKEN);
		assert_true(frame.lengthened);
		assert_int_equal(frame.size, longer);
		assert_memory_equal(frame.bytes + 42, in + 42, payload);
		assert_int_equal(frame.tag_at, longer - PACKET_TAG_SIZE);
		assert_int_equal(frame_parse(frame.bytes, frame.size, &f), FRAME_GOOD);
		assert_int_equal(load_be16(f.upper + 4), f.upper_size);
		assert_int_equal(f.upper_size, longer - 34);
	}
}

static void ethernet_padding_is_not_payload(void **state) {
	uint8_t in[200] = {0};
	size_t size = udp_frame(4, 3, in);

	(void)state;
	memset(in + size, 0xee, 60 - size);
	assert_int_equal(read_frame(in, 60), CAPTURE_TAKEN);
	assert_int_equal(frame.size, size + 1 + PACKET_TAG_SIZE);
	assert_int_equal(frame.bytes[45], 0);
}

static void vlan_tags_are_taken_off(void **state) {
	static const uint8_t tags[8] = {0x88, 0xa8, 0, 5, 0x81, 0, 0, 7};
	uint8_t plain[200], in[200];
	size_t size = udp_frame(6, 40, plain);

	(void)state;
	memcpy(in, plain, 12);
	memcpy(in + 12, tags, 8);
	memcpy(in + 20, plain + 12, size - 12);
	assert_int_equal(read_frame(in, size + 8), CAPTURE_TAKEN);
	assert_true(frame.untagged);
	assert_int_equal(frame.size, size);
	assert_memory_equal(frame.bytes + 12, plain + 12, size - 12);
}

static void what_cannot_be_replayed_has_a_reason(void **state) {
	uint8_t in[2100];
	size_t size = udp_frame(4, 40, in);

	(void)state;
	assert_int_equal(read_frame(in, 13), CAPTURE_SKIP_TOO_SHORT);
	assert_int_equal(read_frame(in, 33), CAPTURE_SKIP_TOO_SHORT);
	assert_int_equal(read_frame(in, size - 1), CAPTURE_SKIP_MALFORMED);
	for (size_t cut = 0; cut < size; cut++) {
		enum capture_skip why = capture_frame_read(in, cut, size, MAX_SIZE, &frame);

		assert_int_equal(why, CAPTURE_SKIP_TRUNCATED);
	}
	in[20] = 0x20; /* more fragments */
	assert_int_equal(read_frame(in, size), CAPTURE_SKIP_FRAGMENT);
	in[20] = 0;
	in[39]++; /* UDP length */
	assert_int_equal(read_frame(in, size), CAPTURE_SKIP_MALFORMED);
	in[23] = 6; /* TCP, whose data offset is no header's */
	assert_int_equal(read_frame(in, size), CAPTURE_SKIP_MALFORMED);
	in[13] = 0x06; /* ARP */
	assert_int_equal(read_frame(in, size), CAPTURE_SKIP_NOT_IP);
	assert_int_equal(read_frame(in, udp_frame(4, MAX_SIZE - 42, in)), CAPTURE_TAKEN);
	assert_int_equal(read_frame(in, udp_frame(4, MAX_SIZE - 41, in)), CAPTURE_SKIP_TOO_LONG);
	assert_int_equal(read_frame(in, udp_frame(6, 2000, in)), CAPTURE_SKIP_TOO_LONG);
	size = udp_frame(4, 19, in);
	assert_int_equal(capture_frame_read(in, size, size, size + 20, &frame),
			 CAPTURE_SKIP_TOO_LONG);
	assert_int_equal(capture_frame_read(in, size, size, size + 21, &frame), CAPTURE_TAKEN);
}

/* Destination `last` of the capture, to `port`, with `payload` bytes. */
static void write_udp(struct capture_writer *w, unsigned family, uint8_t last, uint16_t port,
		      uint16_t payload) {
	uint8_t in[2000];
	size_t size = udp_frame(family, payload, in);

	in[family == 4 ? 33 : 53] = last;
	store_be16(in + (family == 4 ? 36 : 56), port);
	capture_write(w, 0, in, (uint32_t)size);
}

static void load(struct capture_replay *r) {
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	struct capture_writer w;

	traffic_config_load(&sg, "permit",
			    "      - {family: ipv4, action: deny, destination_ports: 7}\n"
			    "      - {family: ipv4, action: permit, destination_ports: 136}\n",
			    "      - {family: ipv6, destination_ports: 9, service_flow: 3}\n");
	assert_int_equal(capture_create(&w, FILE_NAME), 0);
	write_udp(&w, 4, 1, 1000, 100);
	write_udp(&w, 6, 1, 9, 5);
	capture_write(&w, 0, arp, sizeof(arp));
	write_udp(&w, 4, 2, 7, 100);
	write_udp(&w, 4, 2, 136, 1200);
	write_udp(&w, 6, 2, 10, 300);
	assert_int_equal(capture_finish(&w), 0);
	assert_int_equal(capture_replay_load(r, FILE_NAME, &sg), 0);
}

static struct generator *generator(const struct capture_replay *r) {
	struct generator_options options = {.seed = 4, .pool = pool, .replay = &r->replayed};

	return generator_create(&sg, &options);
}

static void a_capture_is_counted(void **state) {
	static const uint32_t classes[4] = {CLASS_UNMATCHED, CLASS_CLASSIFIED, CLASS_PERMIT,
					    CLASS_UNMATCHED};
	struct capture_replay r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	load(&r);
	assert_int_equal(r.replayed.count, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(r.replayed.packets[i].class, classes[i]);
	assert_int_equal(r.replayed.packets[1].flow, 2);
	assert_int_equal(r.counts.lengthened, 1);
	assert_int_equal(r.counts.destinations, 4);
	assert_int_equal(r.counts.skipped[CAPTURE_SKIP_NOT_IP], 1);
	assert_int_equal(r.counts.skipped[CAPTURE_SKIP_DENIED], 1);
	assert_int_equal(r.largest, 1242);
	capture_replay_describe(&r, "file", out);
	fclose(out);
	assert_string_equal(text, "file: 4 packets to 4 addresses are replayed (1 lengthened, 0 "
				  "without their VLAN tags), 2 skipped: 1 not_ip, 1 denied\n");
	free(text);
	capture_replay_free(&r);
}

/* The capture goes round, in its order, and each packet is proven; a changed byte is not. */
static void a_replay_is_proven(void **state) {
	struct flow_state flows[3] = {{.dsid = 0}};
	const struct modems modems = {.flows = flows};
	const struct modem_state modem = {.flow_count = 3};
	struct rte_mbuf *packets[GENERATOR_BURST];
	uint32_t next[3] = {0};
	struct capture_replay r;
	struct generator *g;
	uint64_t bytes;

	(void)state;
	load(&r);
	g = generator(&r);
	assert_int_equal(generator_burst(g, 7, packets, 30, &bytes), 30);
	for (uint32_t i = 0; i < 30; i++) {
		uint8_t *p = rte_pktmbuf_mtod(packets[i], uint8_t *);
		uint32_t size = packets[i]->pkt_len;
		struct frame_info info = {
			.modem = &modem,
			.modems = &modems,
			.stream = i % 4 == 1 ? 2 : 0,
		};
		struct frame_fields fields;
		struct arrived out;

		assert_int_equal(frame_parse(p, size, &fields), FRAME_GOOD);
		checksums_check(p, &fields);
		assert_int_equal(verify(g, &info, p, size, &out), CORRUPTION_NONE);
		assert_int_equal(out.sequence, next[info.stream]++);
		assert_int_equal(out.tsc, 7);
		for (uint32_t at = 6; at < size; at++) {
			p[at] ^= 0x10;
			assert_int_not_equal(verify(g, &info, p, size, &out), CORRUPTION_NONE);
			p[at] ^= 0x10;
		}
		assert_int_not_equal(verify(g, &info, p, size - 1, &out), CORRUPTION_NONE);
		info.stream = 1;
		assert_int_equal(verify(g, &info, p, size, &out), CORRUPTION_STREAM);
	}
	assert_int_equal(g->by_class[CLASS_CLASSIFIED], 8);
	generator_take_back(g, packets + 10, 20);
	rte_pktmbuf_free_bulk(packets, 10);
	assert_int_equal(g->next, 10 % 4);
	assert_int_equal(g->sent[0], 7);
	assert_int_equal(g->sent[2], 3);
	assert_int_equal(g->packets, 10);
	generator_free(g);
	capture_replay_free(&r);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

/* Addresses of modems take turns; those of the capture keep theirs. The CPE limit admits one each. */
static void destinations_are_mapped_in_turn(void **state) {
	static const uint8_t lasts[6] = {1, 2, 3, 2, 1, 3};
	struct capture_writer w;
	struct capture_replay r;

	(void)state;
	traffic_config_load(&sg, "permit", SOME_RULES, SOME_CLASSIFIERS);
	sg.modems[0].cpe_limit = 2;
	assert_int_equal(capture_create(&w, FILE_NAME), 0);
	for (int i = 0; i < 6; i++)
		write_udp(&w, 4, lasts[i], 1000, 30);
	assert_int_equal(capture_finish(&w), 0);
	assert_int_equal(capture_replay_load(&r, FILE_NAME, &sg), 0);
	assert_int_equal(r.counts.destinations, 3);
	for (uint32_t i = 0; i < 6; i++) {
		const uint8_t *to = r.replayed.bytes + r.replayed.packets[i].offset + 30;

		assert_memory_equal(to, lasts[i] == 2 ? "\x0a\0\0\2" : "\x0a\0\0\1", 4);
	}
	capture_replay_free(&r);
}

static void captures_without_a_packet_are_refused(void **state) {
	struct capture_writer w;
	struct capture_replay r;

	(void)state;
	traffic_config_load(&sg, "permit", SOME_RULES, SOME_CLASSIFIERS);
	assert_int_equal(capture_create(&w, FILE_NAME), 0);
	assert_int_equal(capture_finish(&w), 0);
	assert_int_equal(capture_replay_load(&r, FILE_NAME, &sg), -1);
	assert_int_equal(capture_replay_load(&r, "/nonexistent/file", &sg), -1);
}

static void packets_need_an_address_of_their_family(void **state) {
	struct capture_writer w;
	struct capture_replay r;

	(void)state;
	traffic_config_load(&sg, "permit", SOME_RULES, SOME_CLASSIFIERS);
	sg.modems[0].cpe_limit_ipv6 = 0; /* IPv4 only */
	assert_int_equal(capture_create(&w, FILE_NAME), 0);
	write_udp(&w, 6, 1, 1000, 30);
	write_udp(&w, 4, 1, 1000, 30);
	assert_int_equal(capture_finish(&w), 0);
	assert_int_equal(capture_replay_load(&r, FILE_NAME, &sg), 0);
	assert_int_equal(r.replayed.count, 1);
	assert_int_equal(r.counts.skipped[CAPTURE_SKIP_NO_ADDRESS], 1);
	capture_replay_free(&r);
}

#define test(function) cmocka_unit_test_teardown(function, unload)

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_but_addresses_checksums_and_tag_changes),
		cmocka_unit_test(short_payloads_are_lengthened),
		cmocka_unit_test(an_experimental_header_stays_cut_off),
		cmocka_unit_test(ethernet_padding_is_not_payload),
		cmocka_unit_test(vlan_tags_are_taken_off),
		cmocka_unit_test(what_cannot_be_replayed_has_a_reason),
		test(a_capture_is_counted),
		test(a_replay_is_proven),
		test(destinations_are_mapped_in_turn),
		test(captures_without_a_packet_are_refused),
		test(packets_need_an_address_of_their_family),
	};

	return cmocka_run_group_tests(tests, pool_start, pool_stop);
}
