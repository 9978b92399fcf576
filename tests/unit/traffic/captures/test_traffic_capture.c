/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests replay of captures: which frames are skipped, and that replayed packets are proven.
 * tests/e2e/run/test_traffic_replay.py compares the sent bytes. */

#include "captures/capture_replay.h"
#include "core/end_tag.h"
#include "core/generator.h"
#include "packets.h"
#include "test_main.h"
#include "traffic_config.h"
#include "wire/ip.h"

#define FILE_NAME "test-traffic-capture.pcap"
#define MAX_SIZE 1514

static struct captured_frame frame;

/* Writes a UDP packet with `payload` bytes and a wrong checksum. Returns its size. */
static size_t udp_frame(unsigned family, uint16_t payload, uint8_t *out) {
	static const uint8_t to[16] = {0x20, 1, 0xd, 0xb8};
	size_t size = family == 4 ? packet_write_ipv4(out, 42u + payload, 1, to)
				  : packet_write_ipv6(out, 62u + payload, 1, to);

	store_be16(out + size - payload - 2, 0xbad1);
	return size;
}

static enum capture_skip read_frame(const uint8_t *bytes, size_t size) {
	return capture_frame_read(bytes, size, size, MAX_SIZE, &frame);
}

/* RFC 7045: a truncated header of type 253 or 254 ends the chain; the tag must not complete it. */
TEST(truncated_experimental_header_stays_truncated) {
	uint8_t in[200];

	for (uint16_t payload = 0; payload < 40; payload++) {
		size_t size = udp_frame(6, payload, in);
		unsigned upper = payload + 8u; /* a tag of 20 bytes fits into 28 */
		bool whole = upper < 28 && upper + upper % 2 + 20 >= 40;

		in[14 + 6] = 253;
		in[14 + 40 + 1] = 4; /* the header has 40 bytes */
		assert_int_equal(read_frame(in, size),
				 whole ? CAPTURE_SKIP_MALFORMED : CAPTURE_ACCEPTED);
		if (!whole)
			assert_int_equal(end_tag_find(frame.bytes, frame.size), frame.tag_at);
	}
}

/* tests/e2e/run/test_traffic_replay.py tests the other reasons. */
TEST(skipped_frame_has_a_reason) {
	uint8_t in[2100];
	size_t size = udp_frame(4, 40, in);

	assert_int_equal(read_frame(in, 13), CAPTURE_SKIP_TOO_SHORT);
	assert_int_equal(read_frame(in, 33), CAPTURE_SKIP_TOO_SHORT);
	assert_int_equal(read_frame(in, size - 1), CAPTURE_SKIP_MALFORMED);
	for (size_t length = 0; length < size; length++) {
		enum capture_skip reason = capture_frame_read(in, length, size, MAX_SIZE, &frame);

		assert_int_equal(reason, CAPTURE_SKIP_TRUNCATED);
	}
	in[39]++; /* UDP length */
	assert_int_equal(read_frame(in, size), CAPTURE_SKIP_MALFORMED);
	in[23] = 6; /* TCP with an invalid data offset */
	assert_int_equal(read_frame(in, size), CAPTURE_SKIP_MALFORMED);
	assert_int_equal(read_frame(in, udp_frame(4, MAX_SIZE - 42, in)), CAPTURE_ACCEPTED);
	assert_int_equal(read_frame(in, udp_frame(4, MAX_SIZE - 41, in)), CAPTURE_SKIP_TOO_LONG);
	assert_int_equal(read_frame(in, udp_frame(6, 2000, in)), CAPTURE_SKIP_TOO_LONG);
	size = udp_frame(4, 19, in);
	assert_int_equal(capture_frame_read(in, size, size, size + 20, &frame),
			 CAPTURE_SKIP_TOO_LONG);
	assert_int_equal(capture_frame_read(in, size, size, size + 21, &frame), CAPTURE_ACCEPTED);
}

/* Captures a UDP packet to `port`; `last` is the last byte of the destination address. */
static void write_udp(struct capture_writer *w, unsigned family, uint8_t last, uint16_t port,
		      uint16_t payload) {
	uint8_t in[2000];
	size_t size = udp_frame(family, payload, in);

	in[family == 4 ? 33 : 53] = last;
	store_be16(in + (family == 4 ? 36 : 56), port);
	capture_write(w, 0, in, (uint32_t)size);
}

/* Closes the capture and loads it for the group `sg`. */
static struct capture_replay load_replay(struct capture_writer *w) {
	struct capture_replay r;

	assert_int_equal(capture_finish(w), 0);
	assert_int_equal(capture_replay_load(&r, FILE_NAME, &sg), 0);
	remove(FILE_NAME);
	return r;
}

/* A capture is replayed in order and repeatedly. Each packet is proven, each change detected. */
TEST(replayed_packets_are_proven) {
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	struct rte_mbuf *packets[GENERATOR_BURST];
	struct generator_options options = {.seed = 4, .pool = pool};
	uint32_t next[3] = {0};
	struct capture_writer w;
	struct capture_replay r;
	struct generator *g;
	uint64_t bytes;

	traffic_config_load("permit",
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
	r = load_replay(&w);
	options.replay = &r.replayed;
	g = generator_create(&sg, &options);
	assert_int_equal(generator_burst(g, 7, packets, 30, &bytes), 30);
	for (uint32_t i = 0; i < 30; i++) {
		uint8_t *p = rte_pktmbuf_mtod(packets[i], uint8_t *);
		uint32_t size = packets[i]->pkt_len, stream = i % 4 == 1 ? 2 : 0;
		struct arrived out;

		assert_int_equal(traffic_verify(g, stream, p, size, &out), CORRUPTION_NONE);
		assert_int_equal(out.sequence, next[stream]++);
		assert_int_equal(out.tsc, 7);
		for (uint32_t at = 6; at < size; at++) {
			p[at] ^= 0x10;
			assert_int_not_equal(traffic_verify(g, stream, p, size, &out),
					     CORRUPTION_NONE);
			p[at] ^= 0x10;
		}
		assert_int_not_equal(traffic_verify(g, stream, p, size - 1, &out), CORRUPTION_NONE);
		assert_int_equal(traffic_verify(g, 1, p, size, &out), CORRUPTION_STREAM);
	}
	assert_int_equal(g->by_class[CLASS_CLASSIFIED], 8);
	generator_unsend(g, packets + 10, 20);
	rte_pktmbuf_free_bulk(packets, 10);
	assert_int_equal(g->next, 10 % 4);
	assert_int_equal(g->sent[0], 7);
	assert_int_equal(g->sent[2], 3);
	assert_int_equal(g->packets, 10);
	generator_free(g);
	capture_replay_free(&r);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

TEST(packet_needs_address_of_its_family) {
	struct capture_writer w;
	struct capture_replay r;

	traffic_config_load("permit", EXAMPLE_RULES, EXAMPLE_CLASSIFIERS);
	sg.modems[0].cpe_limit_ipv6 = 0; /* IPv4 only */
	assert_int_equal(capture_create(&w, FILE_NAME), 0);
	write_udp(&w, 6, 1, 1000, 30);
	write_udp(&w, 4, 1, 1000, 30);
	r = load_replay(&w);
	assert_int_equal(r.replayed.count, 1);
	assert_int_equal(r.counts.skipped[CAPTURE_SKIP_NO_ADDRESS], 1);
	capture_replay_free(&r);
}

ALL_TESTS(traffic_config_open, traffic_config_close)
