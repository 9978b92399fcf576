/* SPDX-License-Identifier: BSD-3-Clause */
/* BPI+ against a plain implementation: keys and their toggle, SIDs, the clear, CRC. */

#include "crypto_limit.h"
#include "plain_aes.h"
#include "upstream_cases.h"
#include "wire/hcs.h"

#define AES 2 /* stream of modem 0, two keys: 15 and 0 */
#define ONE_KEY 3 /* of modem 1: 4 */
#define CLEAR 4 /* of modem 2 */
#define SIZE 92 /* the last four bytes are less than a block of the cipher */

/* A frame with a header of the test's own. `reason` DROP_REASONS: it must arrive. */
static void frame(unsigned stream, const struct docsis_up_header *h, enum drop_reason reason) {
	uint8_t ethernet[BENCH_FRAME_MAX], bytes[BENCH_FRAME_MAX];
	uint32_t serial = bench->serial[stream];

	bench_ethernet(stream, serial, SIZE, ethernet);
	bench->size[stream][serial] = SIZE;
	bench->serial[stream] += reason == DROP_REASONS;
	bench_handle(stream, bytes,
		     bench_frame(bench_streams[stream].modem, h, ethernet, SIZE, bytes));
	if (reason != DROP_REASONS)
		bench_dropped(reason, 1);
	bench_complete(stream);
}

static struct docsis_up_header header(unsigned stream, uint8_t key) {
	return (struct docsis_up_header){
		.kind = DOCSIS_KIND_PACKET,
		.privacy = PRIVACY_BP_UP2,
		.encrypted = true,
		.key_sequence = key,
		.sid = bench_streams[stream].sid,
	};
}

static void no_crc(void) {
	bench->sg.upstream.verify_crc = false;
}

/* All sizes of packets, with both keys in turn (bench_mac() sees to that). */
CASE(every_size) {
	for (size_t size = BENCH_SMALLEST; size < 200; size++) {
		bench_whole(AES, size);
		bench_whole(ONE_KEY, size);
	}
	bench_whole(AES, 1996);
	bench_whole(CLEAR, 1996);
	assert_int_equal(bench_count(COUNTER_DECRYPTED),
			 bench->serial[AES] + bench->serial[ONE_KEY]);
	assert_int_equal(bench_count(COUNTER_CLEAR), 1);
}
CASE_AGAIN(no_crc, every_size)

/* The shortest PDU: six bytes of ciphertext, less than a block. */
CASE(shorter_than_a_block) {
	static const uint8_t pdu[40] = {2, 0, 0, 0, 0, 1, 2, 1, 0, 0, 0, 0, 0x88, 0xb5, 1, 2, 3};
	uint8_t bytes[BENCH_FRAME_MAX];
	struct docsis_up_header h = header(AES, 15);

	for (size_t size = 14; size < sizeof(pdu); size++) {
		h.key_sequence = size % 2 ? 15 : 0;
		bench_handle(AES, bytes, bench_frame(0, &h, pdu, size, bytes));
		assert_int_equal(bench->others, size - 13);
		assert_int_equal(bench->other_size, BENCH_SMALLEST); /* padded */
		assert_memory_equal(bench->other, pdu, size);
	}
}

/* The toggle says what the lowest bit of the key sequence says. */
CASE(keys_and_toggles) {
	uint8_t bytes[BENCH_FRAME_MAX];

	for (uint8_t key = 0; key < 16; key++) {
		struct docsis_up_header h = header(AES, key);
		size_t size;

		frame(AES, &h, key == 15 || key == 0 ? DROP_REASONS : DROP_KEY_UNKNOWN);
		h = header(ONE_KEY, key);
		frame(ONE_KEY, &h, key == 4 ? DROP_REASONS : DROP_KEY_UNKNOWN);
		/* the other toggle */
		h = header(AES, key);
		size = bench_frame(0, &h, bytes + 1000, SIZE, bytes);
		bytes[6] ^= 0x40;
		docsis_hcs_write(bytes, docsis_up_header_size(&h) - DOCSIS_HCS_SIZE);
		bench_handle(AES, bytes, size);
		bench_expect(DROP_KEY_UNKNOWN, 1);
	}
}

/* Every flow's own SIDs, those of its other clusters and channels too, and no other. */
CASE(sids) {
	static const uint16_t all[] = {0x10, 0x11, 0x12, 0x20, 0x30, 0x3fff, 0};

	for (unsigned i = 0; i < ARRAY_COUNT(all); i++) {
		struct docsis_up_header h = header(0, 15);

		h.sid = all[i];
		frame(0, &h, i < 2 ? DROP_REASONS : DROP_PRIVACY_SID);
		h = (struct docsis_up_header){
			.kind = DOCSIS_KIND_PACKET, .privacy = PRIVACY_BP_UP, .sid = all[i]};
		frame(CLEAR, &h, i == 4 ? DROP_REASONS : DROP_PRIVACY_SID);
	}
}

CASE(in_the_clear) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};

	frame(CLEAR, &h, DROP_REASONS);
	frame(AES, &h, DROP_PRIVACY_MISSING);
	frame(ONE_KEY, &h, DROP_PRIVACY_MISSING);
	h.privacy = PRIVACY_BP_UP2;
	h.sid = bench_streams[AES].sid;
	frame(AES, &h, DROP_PRIVACY_MISSING); /* EN = 0 */
	h.sid = bench_streams[CLEAR].sid;
	frame(CLEAR, &h, DROP_REASONS);
	h.encrypted = true; /* it has no key: what it used is not known */
	frame(CLEAR, &h, DROP_KEY_UNKNOWN);
}

CASE(bits_of_the_crc) {
	bool verify = bench->sg.upstream.verify_crc;
	uint8_t bytes[BENCH_FRAME_MAX];
	static const unsigned streams[] = {AES, CLEAR};

	for (unsigned bit = 0; bit < 32; bit++) {
		for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
			size_t size = bench_mac(streams[i], SIZE, bytes);

			bytes[size - 1 - bit / 8] ^= (uint8_t)(1 << bit % 8);
			bench_handle(streams[i], bytes, size);
			bench_expect(DROP_FRAME_CRC, verify);
			if (verify)
				bench->came[streams[i]]++;
			bench_complete(streams[i]);
		}
	}
}
CASE_AGAIN(no_crc, bits_of_the_crc)

/* The provider takes no more, or fails: that frame is dropped, the next one is not. */
CASE(provider_does_not) {
	const struct docsis_up_header h = header(AES, 15);

	for (unsigned fails = 0; fails < 2; fails++) {
		crypto_limit_begin(bench->crypto, fails ? UINT32_MAX : 0, fails);
		frame(AES, &h, fails ? DROP_CRYPTO_ERROR : DROP_CRYPTO_FULL);
		crypto_limit_end();
		frame(AES, &h, DROP_REASONS);
	}
}

/* As many frames of a burst as it has room for go on. */
CASE(provider_takes_a_few, .lossy = true) {
	const unsigned sent = 12, left = 5;

	crypto_limit_begin(bench->crypto, left, 0);
	bench_put_many(AES, sent, 100);
	bench_settle();
	crypto_limit_end();
	assert_int_equal(bench->came[AES], left);
	assert_int_equal(bench->next[AES], left); /* the first ones */
	assert_int_equal(bench_count(COUNTER_DECRYPTED), left);
	assert_int_equal(bench_count(COUNTER_DECRYPTED_AES_128), left);
	bench_expect(DROP_CRYPTO_FULL, sent - left);
}

/* The element of the downstream says nothing here, whatever SID and key it names. */
CASE(element_of_the_other_direction) {
	static const uint8_t bp_down[5] = {0x44, 0x31, 0x9f, 0xff, 0}; /* EN = 1 */
	uint8_t plain[BENCH_FRAME_MAX], bytes[BENCH_FRAME_MAX];
	size_t size, header = DOCSIS_MAC_HEADER + sizeof(bp_down);

	size = bench_mac(PLAIN, SIZE, plain) - DOCSIS_MAC_HEADER;
	memcpy(bytes, plain, 4);
	bytes[0] |= 1; /* EHDR_ON */
	bytes[1] = sizeof(bp_down);
	store_be16(bytes + 2, (uint16_t)(size + sizeof(bp_down)));
	memcpy(bytes + 4, bp_down, sizeof(bp_down));
	docsis_hcs_write(bytes, header - 2);
	memcpy(bytes + header, plain + DOCSIS_MAC_HEADER, size);
	bench_handle(PLAIN, bytes, header + size);
	assert_int_equal(bench_count(COUNTER_CLEAR), 1);
}

/* What the provider has at the stop ends there, too: the list ends before it is collected. */
CASE(stopped_in_decryption) {
	unsigned rows = 0;

	while (strcmp(us_lists[0].stages[rows].name, "decrypt_collect") != 0)
		rows++;
	bench->u->list.count = rows;
	bench_put(0, 120);
	bench_round();
	assert_int_equal(bench->u->r.crypto->pending, 1);
	upstream_stop(bench->u);
	assert_int_equal(bench->u->r.crypto->pending, 0);
	assert_int_equal(bench->u->counters.drops[DROP_STOPPED], 1);
	bench->any_drops = true;
}
