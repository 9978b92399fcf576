/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests impair.h: bursts that impairments do not hit, the release of delayed packets, and the bytes that a wrong bit
 * of an encrypted frame damages. */
#include <limits.h>
#include <stdlib.h>

#include "impairments/impair.h"
#include "model/group/security.h"
#include "test_main.h"

/* Not hit: the first bursts of a stream, and without sequence numbers those near a hit burst. */
TEST(first_and_neighbouring_bursts_are_not_hit) {
	static struct impair im;
	struct shadow_stream framed = {.framed = true}, legacy = {0};

	assert_false(impair_may_hit(&framed, 0));
	assert_false(impair_may_hit(&framed, 1));
	assert_true(impair_may_hit(&framed, 2) && impair_may_hit(&legacy, 2));
	impair_hit(&im, &framed, 20, IMPAIR_CLEAR);
	impair_hit(&im, &legacy, 20, IMPAIR_CLEAR);
	assert_int_equal(im.hits[IMPAIR_CLEAR], 2);
	assert_true(impair_may_hit(&framed, 20) && impair_may_hit(&framed, 21));
	assert_true(impair_may_hit(&legacy, 14) && impair_may_hit(&legacy, 26));
	for (uint32_t burst = 15; burst <= 25; burst++)
		assert_false(impair_may_hit(&legacy, burst));
}

/* A packet may be delayed during a round, after the time of the round's start. */
TEST(delayed_packet_is_released_after_its_time) {
	static struct uplink_output output;
	static struct rte_mbuf packet;
	static struct impair_session session;
	static struct impair im = {
		.output = &output, .sessions = &session, .session_count = 1, .delayed = 1};

	im.max_delay = 1000;
	session.impair = &im;
	session.delayed[session.delayed_count++] =
		(struct impair_delayed){.m = &packet, .since = 5000, .release = 4};
	impair_release(&im, 4990, false);
	impair_release(&im, 5999, false);
	assert_int_equal(output.pending_count, 0);
	impair_release(&im, 6000, false);
	assert_int_equal(output.pending_count, 1);
	assert_int_equal(im.delayed, 0);
}

#define TAG_END 62 /* in a frame with IPv4 and UDP headers */

/* Draws an error of a kind in an encrypted packet of `size` bytes without CRC. Returns its fate, and sets `at` to the
 * damaged byte of the PDU; -1: none. */
static enum shadow_fate damage(enum cipher cipher, enum impairment kind, uint32_t size, int *at) {
	static uint8_t bytes[256] = {0};
	static struct rte_mbuf buffer = {.buf_addr = bytes};
	static struct shadow_stream shadow;
	static struct impair im = {.shadow = {.streams = &shadow, .stream_count = 1}};
	static struct uplink_stream stream;
	static struct uplink_grant g = {.buffer = &buffer, .stream = &stream};
	const struct crypto_key key = {.cipher = (uint8_t)cipher};
	const struct uplink_frame f = {
		.h = {.kind = DOCSIS_KIND_PACKET, .privacy = PRIVACY_BP_UP2},
		.key = &key,
		.mark = kind,
	};
	uint32_t header = (uint32_t)docsis_up_header_size(&f.h);
	enum shadow_fate fate;

	store_be16(bytes + header + 12, 0x0800);
	bytes[header + 14 + 9] = 17;
	impair_frames.grant(&im, &g);
	impair_frames.made(&im, &g, &f, 0, 0, header + size + 4);
	assert_int_equal(shadow.frames.count, 1);
	fate = shadow_frames_get(&shadow.frames, 0)->fate;
	*at = g.flip_count > 0 ? (int)(g.flips[0].at - header) : -1;
	free(shadow.frames.all);
	shadow.frames = (struct shadow_frames){0};
	return fate;
}

/* A wrong bit damages a block of the cipher: 8 bytes with DES, 16 with AES, from byte 12 on. An incomplete last block
 * loses that bit only. */
TEST(wrong_crc_damages_payload_in_its_block) {
	static const struct {
		uint32_t size; /* without CRC */
		enum cipher cipher;
		enum shadow_fate fate;
	} cases[] = {
		{80, CIPHER_DES, FATE_PAYLOAD}, /* last block: 76 to 83 */
		{80, CIPHER_AES_128, FATE_CRC}, /* last block: 60 to 75 */
		{84, CIPHER_DES, FATE_CRC}, /* 76 to 83 */
		{84, CIPHER_AES_128, FATE_CRC}, /* 76 to 91 is incomplete */
		{88, CIPHER_DES, FATE_PAYLOAD}, /* 84 to 91 */
		{88, CIPHER_AES_256, FATE_PAYLOAD}, /* 76 to 91 */
		{64, CIPHER_DES, FATE_GOOD}, /* 60 to 67, with two bytes of the tag */
		{64, CIPHER_AES_128, FATE_CRC}, /* 44 to 59 */
	};
	int at;

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		for (unsigned n = 0; n < 100; n++) {
			assert_int_equal(
				damage(cases[i].cipher, IMPAIR_CRC_ERROR, cases[i].size, &at),
				cases[i].fate);
			assert_int_equal(at >= (int)cases[i].size, cases[i].fate != FATE_GOOD);
		}
	}
}

/* Bytes in the block of the tag's end stay intact. */
TEST(wrong_payload_spares_the_block_of_the_tag) {
	static const struct {
		enum cipher cipher;
		int first; /* lowest byte that may be damaged */
	} cases[] = {{CIPHER_DES, 68}, {CIPHER_AES_128, 76}, {CIPHER_NONE, TAG_END}};
	int at;

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		int lowest = INT_MAX;

		for (unsigned n = 0; n < 1000; n++) {
			assert_int_equal(damage(cases[i].cipher, IMPAIR_PAYLOAD_ERROR, 96, &at),
					 FATE_PAYLOAD);
			lowest = RTE_MIN(lowest, at);
		}
		assert_int_equal(lowest, cases[i].first);
	}
}
