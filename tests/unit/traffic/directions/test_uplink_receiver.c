/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests uplink_receiver.h: packets from the network port are proven, or counted by their fault. */
#include "directions/uplink_receiver.h"

#include "fake_uplink.h"
#include "test_main.h"

#include "guard_group.h"
#include "wire/ip.h"

#define HZ 1000000000ull
#define MADE 1000000ull /* TSC */
#define SENT (MADE + 2000)
#define RECEIVED (MADE + 52000) /* 50 us later */
#define OTHER_SEED 99

static struct uplink *uplink;
static struct uplink_receiver receiver;
static struct evidence *evidence;

struct frame {
	uint32_t size;
	uint8_t bytes[FAKE_FRAME_MAX];
};

static struct uplink *create_fake(uint64_t seed) {
	struct uplink_options options = {.seed = seed};

	return uplink_create(NULL, &options);
}

static int open_receiver(void **state) {
	uplink = create_fake(1);
	assert_int_equal(uplink_receiver_create(&receiver, uplink, HZ, true), 0);
	assert_true(receiver.started > 0);
	receiver.started = MADE;
	evidence = evidence_create();
	assert_non_null(evidence);
	receiver.evidence = evidence;
	return 0;
}

static int close_receiver(void **state) {
	evidence_free(evidence);
	uplink_receiver_free(&receiver);
	uplink_free(uplink);
	return 0;
}

static void make_packet(uint32_t stream, struct frame *f) {
	f->size = fake_uplink_make(uplink, stream, MADE, SENT, f->bytes);
}

/* Processes a frame that ends at an inaccessible page. */
static void process(const struct frame *f) {
	uplink_receiver_process(&receiver, guard_copy(&guard, f->bytes, f->size), f->size,
				RECEIVED);
}

static void make_and_process(uint32_t stream) {
	struct frame f;

	make_packet(stream, &f);
	process(&f);
}

static uint64_t unexpected_sum(void) {
	uint64_t sum = 0;

	for (int i = 0; i < UPLINK_UNEXPECTEDS; i++)
		sum += receiver.unexpected[i];
	return sum;
}

static void assert_counts(uint64_t proven, uint64_t corrupted, uint64_t unexpected) {
	assert_int_equal(receiver.proof.proven, proven);
	assert_int_equal(uplink_receiver_corrupted(&receiver), corrupted);
	assert_int_equal(unexpected_sum(), unexpected);
}

TEST(good_packets_are_proven) {
	for (int i = 0; i < 3000; i++)
		make_and_process((uint32_t)i % FAKE_STREAMS);
	assert_counts(3000, 0, 0);
	assert_int_equal(receiver.proof.proven_bytes, uplink_sent_bytes(uplink));
	assert_int_equal(receiver.proof.duplicated + receiver.proof.reordered, 0);
	assert_int_equal(receiver.proof.missing, 0);
	assert_int_equal(uplink_receiver_missing(&receiver), 0);
}

TEST(latency_starts_at_send_time) {
	struct frame f;

	make_and_process(0);
	f.size = fake_uplink_make(uplink, 1, MADE, 0, f.bytes); /* send time unknown */
	process(&f);
	f.size = fake_uplink_make(uplink, 2, MADE, MADE - 1, f.bytes); /* invalid */
	process(&f);
	assert_counts(3, 0, 0);
	assert_int_equal(receiver.proof.latency_unknown, 2);
	assert_int_equal(receiver.proof.latency->total_count, 1);
	assert_float_equal(proof_latency_us(&receiver.proof).p50, 50.0, 0.1);
	assert_float_equal(proof_latency_us(&receiver.proof).max, 50.0, 0.1);
	uplink_receiver_free(&receiver);
	assert_int_equal(uplink_receiver_create(&receiver, uplink, HZ, false), 0);
	assert_true(proof_latency_us(&receiver.proof).max == 0); /* latency is switched off */
}

/* Each flipped bit is counted once, even one of the time in a packet without checksum. */
TEST(every_flipped_bit_is_detected) {
	const size_t time = FAKE_UDP_IPV4_TAG + 12;
	struct frame f;
	uint64_t n = 0;

	for (uint32_t stream = 0; stream < FAKE_STREAMS; stream++) {
		make_packet(stream, &f); /* 84 bytes */
		make_packet(stream, &f); /* 256 bytes */
		for (size_t bit = 0; bit < 8 * (size_t)f.size; bit++) {
			uint64_t tags = receiver.corrupted[UPLINK_CORRUPTION_TAG];
			uint8_t *bytes = guard_copy(&guard, f.bytes, f.size);

			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			/* any time but MADE is outside of the run */
			uplink_receiver_process(&receiver, bytes, f.size, MADE);
			assert_int_equal(uplink_receiver_corrupted(&receiver) + unexpected_sum(),
					 ++n);
			if (stream == FAKE_UDP_IPV4 && bit / 8 >= time && bit / 8 < time + 8)
				assert_int_equal(receiver.corrupted[UPLINK_CORRUPTION_TAG],
						 tags + 1);
		}
	}
	assert_int_equal(receiver.proof.proven, 0);
}

/* A packet of 256 bytes is truncated or extended. Without a whole IP header it is foreign. */
TEST(every_wrong_length_is_detected) {
	static const uint32_t longer[] = {257, 265, 329, 841, FAKE_FRAME_MAX};
	const uint32_t headers = ETHERNET_HEADER + IPV4_HEADER;

	for (uint32_t stream = 0; stream < FAKE_STREAMS; stream++) {
		struct frame f = {0};

		make_packet(stream, &f);
		make_packet(stream, &f);
		for (f.size = 0; f.size < 256; f.size++)
			process(&f);
		for (size_t i = 0; i < ARRAY_COUNT(longer); i++) {
			f.size = longer[i];
			process(&f);
		}
	}
	assert_counts(0, FAKE_STREAMS * (256 - headers + 5), FAKE_STREAMS * headers);
	assert_int_equal(receiver.corrupted[UPLINK_CORRUPTION_TRUNCATED],
			 FAKE_STREAMS * (256 - headers));
	assert_int_equal(receiver.corrupted[UPLINK_CORRUPTION_LENGTH], FAKE_STREAMS * 5);
	assert_int_equal(receiver.unexpected[UPLINK_UNEXPECTED_FOREIGN], FAKE_STREAMS * headers);
}

TEST(wrong_tags_are_detected) {
	static const struct {
		size_t at;
		uint32_t value;
	} cases[] = {{4, FAKE_STREAMS}, {4, UINT32_MAX}, {8, 1}, {8, UINT32_MAX}};
	struct frame f, other;

	make_packet(0, &f);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		other = f;
		store_be32(other.bytes + FAKE_UDP_IPV4_TAG + cases[i].at, cases[i].value);
		process(&other);
	}
	assert_int_equal(receiver.corrupted[UPLINK_CORRUPTION_TAG], 4);
	process(&f);
	assert_counts(1, 4, 0);
	for (int i = 0; i < 6; i++)
		make_packet(0, &f); /* 84 bytes again */
	make_packet(0, &other);
	memcpy(f.bytes + FAKE_UDP_IPV4_TAG, other.bytes + FAKE_UDP_IPV4_TAG, PACKET_TAG_SIZE);
	process(&f);
	assert_counts(1, 5, 0);
	assert_int_equal(evidence_count(evidence), 5);
	assert_int_equal(receiver.corrupted[UPLINK_CORRUPTION_CONTENTS], 1);
}

/* `made`: streams of the packets made. `arrivals`: indexes of these in the order of arrival. */
static const struct {
	const char *name, *made, *arrivals;
	uint32_t proven, duplicated, reordered;
	uint32_t gaps, missing;
} order_cases[] = {
	{"duplicates, at once and later", "0010", "012131", 4, 2, 0, 0, 0},
	{"missing, another stream continues", "010", "12", 2, 0, 0, 1, 1},
	{"reordered", "010", "120", 3, 0, 1, 0, 0},
	{"lost, including the last", "22222", "03", 2, 0, 0, 2, 3},
};

TEST(order_is_checked_per_stream) {
	for (size_t i = 0; i < ARRAY_COUNT(order_cases); i++) {
		struct frame made[8];

		print_message("  %s\n", order_cases[i].name);
		close_receiver(state);
		open_receiver(state);
		for (unsigned n = 0; order_cases[i].made[n] != '\0'; n++)
			make_packet((uint32_t)(order_cases[i].made[n] - '0'), &made[n]);
		for (const char *c = order_cases[i].arrivals; *c != '\0'; c++)
			process(&made[*c - '0']);
		assert_counts(order_cases[i].proven, 0, 0);
		assert_int_equal(receiver.proof.duplicated, order_cases[i].duplicated);
		assert_int_equal(receiver.proof.reordered, order_cases[i].reordered);
		assert_int_equal(receiver.proof.missing, order_cases[i].gaps);
		assert_int_equal(uplink_receiver_missing(&receiver), order_cases[i].missing);
	}
}

TEST(packet_older_than_window_is_not_proven) {
	struct frame first;

	make_packet(0, &first);
	for (int i = 0; i <= WINDOW_SIZE; i++)
		make_and_process(0);
	process(&first);
	assert_counts(WINDOW_SIZE + 1, 0, 1);
	assert_int_equal(receiver.unexpected[UPLINK_UNEXPECTED_TOO_OLD], 1);
	assert_int_equal(uplink_receiver_missing(&receiver), 1);
}

TEST(foreign_frames_are_unexpected) {
	static const struct frame foreign[] = {
		{60, {0}},
		/* ARP to one station, then neighbour discovery: to one station, from a global address */
		{60, {2, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8}},
		{70, {0x32, 0x33, 0,	0, 0, 2, 2, 0,	0,  0,	 0,    1,
		      0x86, 0xdd, 0x60, 0, 0, 0, 0, 16, 58, 255, 0xfe, 0x80}},
		{70, {0x33, 0x33, 0,	0, 0, 2, 2, 0,	0,  0,	 0,    1,
		      0x86, 0xdd, 0x60, 0, 0, 0, 0, 16, 58, 255, 0x20, 0x01}},
		/* IPv4 that ends before the frame's padding */
		{64,
		 {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17}},
		{2048, {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xcc}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(foreign); i++)
		process(&foreign[i]);
	assert_counts(0, 0, ARRAY_COUNT(foreign));
	assert_int_equal(evidence_count(evidence), ARRAY_COUNT(foreign));
	assert_int_equal(receiver.unexpected[UPLINK_UNEXPECTED_FOREIGN], ARRAY_COUNT(foreign));
}

TEST(frames_of_the_links_protocols_are_no_fault) {
	static const struct frame own[] = {
		{60, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8}},
		{60, {1, 0x80, 0xc2, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 39, 0x42, 0x42, 3}}, /* STP */
		{60, {1, 0x80, 0xc2, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 9}}, /* LACP */
		{200, {1, 0x80, 0xc2, 0, 0, 14, 2, 0, 0, 0, 0, 1, 0x88, 0xcc}}, /* LLDP */
		{60,
		 {1, 0, 0x5e, 0, 0, 22, 2, 0, 0, 0, 0, 1, 8, 0, 0x46, 0, 0, 40, 0, 0, 0, 0, 1, 2}},
		/* a router solicitation, and a report of listeners from the unspecified address */
		{70, {0x33, 0x33, 0,	0, 0, 2, 2, 0,	0,  0,	 0,    1,
		      0x86, 0xdd, 0x60, 0, 0, 0, 0, 16, 58, 255, 0xfe, 0x80}},
		{90, {0x33, 0x33, 0,	0, 0, 22, 2, 0,	 0, 0, 0,	 1,
		      0x86, 0xdd, 0x60, 0, 0, 0,  0, 36, 0, 1, [54] = 58}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(own); i++)
		process(&own[i]);
	assert_int_equal(evidence_count(evidence), 0);
	assert_int_equal(receiver.unexpected[UPLINK_UNEXPECTED_LINK], ARRAY_COUNT(own));
	assert_int_equal(receiver.unexpected[UPLINK_UNEXPECTED_FOREIGN], 0);
}

TEST(packets_of_earlier_run_are_unexpected) {
	struct uplink *other = create_fake(OTHER_SEED);
	struct frame f;

	for (uint32_t stream = 0; stream < FAKE_STREAMS; stream++) {
		f.size = fake_uplink_make(other, stream, MADE - 1, MADE, f.bytes);
		process(&f);
	}
	assert_counts(0, 0, FAKE_STREAMS);
	/* another magic with a time of this run is corruption */
	f.size = fake_uplink_make(other, 0, MADE, SENT, f.bytes);
	process(&f);
	assert_int_equal(receiver.corrupted[UPLINK_CORRUPTION_TAG], 1);
	uplink_free(other);
}

EACH_TEST(open_receiver, close_receiver)
ALL_TESTS(guard_group_open, guard_group_close)
