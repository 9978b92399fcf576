/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests decryption (BPI+) against a plain AES implementation: keys, SIDs, clear frames, CRC. */

#include "crypto_limit.h"
#include "reference_aes.h"
#include "upstream_cases.h"
#include "wire/hcs.h"

#define TWO_KEYS 2 /* stream of modem 0: key sequence 15, and 0 of its next key */
#define ONE_KEY 3 /* stream of modem 1: key sequence 4 */
#define CLEAR 4 /* stream of modem 2: no key */
/* bytes without CRC. BPI+ leaves 12 bytes (DA, SA) clear; 80 bytes are whole blocks, the CRC is a short last one. */
#define SIZE 92

/* Sends a frame with this header. Expects this drop, or with DROP_NONE that the packet arrives. */
static void check_frame(unsigned stream, const struct docsis_up_header *h,
			enum drop_reason reason) {
	uint8_t ethernet[KIT_FRAME_MAX], bytes[KIT_FRAME_MAX];
	uint32_t serial = kit->serial[stream];

	kit_write_ethernet(stream, serial, SIZE, ethernet);
	kit->size[stream][serial] = SIZE;
	kit->serial[stream] += reason == DROP_NONE;
	kit_process(stream, bytes,
		    kit_write_frame(kit_streams[stream].modem, h, ethernet, SIZE, bytes));
	if (reason != DROP_NONE)
		kit_check_dropped(reason, 1);
	kit_check_complete(stream);
}

static struct docsis_up_header make_header(unsigned stream, uint8_t key) {
	return (struct docsis_up_header){
		.kind = DOCSIS_KIND_PACKET,
		.privacy = PRIVACY_BP_UP2,
		.encrypted = true,
		.key_sequence = key,
		.sid = kit_streams[stream].sid,
	};
}

static void without_crc_verification(void) {
	kit->sg.upstream.verify_crc = false;
}

/* With both keys of a modem, as kit_next_frame() alternates between them. */
CASE(packets_of_every_size_decrypt) {
	for (size_t size = KIT_FRAME_MIN; size < 200; size++) {
		kit_process_frame(TWO_KEYS, size);
		kit_process_frame(ONE_KEY, size);
	}
	kit_process_frame(TWO_KEYS, 1996);
	kit_process_frame(CLEAR, 1996);
	assert_int_equal(kit_counter(COUNTER_DECRYPTED),
			 kit->serial[TWO_KEYS] + kit->serial[ONE_KEY]);
	assert_int_equal(kit_counter(COUNTER_CLEAR), 1);
}
CASE_WITH(without_crc_verification, packets_of_every_size_decrypt)

/* The shortest PDU has 14 bytes: after DA and SA, 2 bytes and the CRC are encrypted, less than a cipher block. */
CASE(pdu_shorter_than_cipher_block_decrypts) {
	static const uint8_t pdu[40] = {2, 0, 0, 0, 0, 1, 2, 1, 0, 0, 0, 0, 0x88, 0xb5, 1, 2, 3};
	uint8_t bytes[KIT_FRAME_MAX];
	struct docsis_up_header h = make_header(TWO_KEYS, 15);

	for (size_t size = 14; size < sizeof(pdu); size++) {
		h.key_sequence = size % 2 ? 15 : 0;
		kit_process(TWO_KEYS, bytes, kit_write_frame(0, &h, pdu, size, bytes));
		assert_int_equal(kit->other_frames, size - 13);
		assert_int_equal(kit->other_size, KIT_FRAME_MIN); /* padded */
		assert_memory_equal(kit->other, pdu, size);
	}
}

/* The toggle bit must equal the lowest bit of the key sequence. */
CASE(unknown_key_or_toggle_drops_frame) {
	uint8_t bytes[KIT_FRAME_MAX] = {0}; /* the PDU, bytes + 1000, is all zeros */

	for (uint8_t key = 0; key < 16; key++) {
		struct docsis_up_header h = make_header(TWO_KEYS, key);
		size_t size;

		check_frame(TWO_KEYS, &h, key == 15 || key == 0 ? DROP_NONE : DROP_KEY_UNKNOWN);
		h = make_header(ONE_KEY, key);
		check_frame(ONE_KEY, &h, key == 4 ? DROP_NONE : DROP_KEY_UNKNOWN);
		/* the other value of the toggle bit */
		h = make_header(TWO_KEYS, key);
		size = kit_write_frame(0, &h, bytes + 1000, SIZE, bytes);
		bytes[6] ^= 0x40;
		docsis_hcs_write(bytes, docsis_up_header_size(&h) - DOCSIS_HCS_SIZE);
		kit_process(TWO_KEYS, bytes, size);
		kit_expect_drops(DROP_KEY_UNKNOWN, 1);
	}
}

/* A flow may use all of its own SIDs, also those of other clusters and channels, and no others. */
CASE(foreign_sid_drops_frame) {
	/* 0 and 1: of stream 0's flow; 2: another flow of its modem; 4: of CLEAR; 5: broadcast */
	static const uint16_t all[] = {0x10, 0x11, 0x12, 0x20, 0x30, 0x3fff, 0};

	for (unsigned i = 0; i < ARRAY_COUNT(all); i++) {
		struct docsis_up_header h = make_header(0, 15);

		h.sid = all[i];
		check_frame(0, &h, i < 2 ? DROP_NONE : DROP_PRIVACY_SID);
		h = (struct docsis_up_header){
			.kind = DOCSIS_KIND_PACKET, .privacy = PRIVACY_BP_UP, .sid = all[i]};
		check_frame(CLEAR, &h, i == 4 ? DROP_NONE : DROP_PRIVACY_SID);
	}
}

CASE(clear_frame_passes_only_without_key) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};

	check_frame(CLEAR, &h, DROP_NONE);
	check_frame(TWO_KEYS, &h, DROP_PRIVACY_MISSING);
	check_frame(ONE_KEY, &h, DROP_PRIVACY_MISSING);
	h.privacy = PRIVACY_BP_UP2;
	h.sid = kit_streams[TWO_KEYS].sid;
	check_frame(TWO_KEYS, &h, DROP_PRIVACY_MISSING); /* EN = 0 */
	h.sid = kit_streams[CLEAR].sid;
	check_frame(CLEAR, &h, DROP_NONE);
	h.encrypted = true; /* encrypted by a modem without a key */
	check_frame(CLEAR, &h, DROP_KEY_UNKNOWN);
}

CASE(wrong_crc_drops_frame_if_verified) {
	bool verify = kit->sg.upstream.verify_crc;
	uint8_t bytes[KIT_FRAME_MAX];
	static const unsigned streams[] = {TWO_KEYS, CLEAR};

	for (unsigned bit = 0; bit < 32; bit++) {
		for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
			size_t size = kit_next_frame(streams[i], SIZE, bytes);

			bytes[size - 1 - bit / 8] ^= (uint8_t)(1 << bit % 8);
			kit_process(streams[i], bytes, size);
			kit_expect_drops(DROP_FRAME_CRC, verify);
			if (verify)
				kit->received[streams[i]]++;
			kit_check_complete(streams[i]);
		}
	}
}
CASE_WITH(without_crc_verification, wrong_crc_drops_frame_if_verified)

/* A frame that the provider does not accept, or fails to decrypt, is dropped. The next one passes. */
CASE(crypto_failure_drops_one_frame) {
	const struct docsis_up_header h = make_header(TWO_KEYS, 15);

	for (unsigned fails = 0; fails < 2; fails++) {
		crypto_limit_begin(kit->crypto, fails ? UINT32_MAX : 0, fails);
		check_frame(TWO_KEYS, &h, fails ? DROP_CRYPTO_ERROR : DROP_CRYPTO_FULL);
		crypto_limit_end();
		check_frame(TWO_KEYS, &h, DROP_NONE);
	}
}

/* The provider accepts the first frames of a burst and drops the others. */
CASE(full_crypto_drops_rest_of_burst, .lossy = true) {
	const unsigned sent = 12, accepted = 5;

	crypto_limit_begin(kit->crypto, accepted, 0);
	kit_send_frames(TWO_KEYS, sent, 100);
	kit_settle();
	crypto_limit_end();
	assert_int_equal(kit->received[TWO_KEYS], accepted);
	assert_int_equal(kit->next[TWO_KEYS], accepted); /* the first ones */
	assert_int_equal(kit_counter(COUNTER_DECRYPTED), accepted);
	assert_int_equal(kit_counter(COUNTER_DECRYPTED_AES_128), accepted);
	kit_expect_drops(DROP_CRYPTO_FULL, sent - accepted);
}

/* The privacy element of the downstream is ignored, whatever its SID and key. */
CASE(downstream_privacy_element_is_ignored) {
	static const uint8_t bp_down[5] = {0x44, 0x31, 0x9f, 0xff, 0}; /* EN = 1 */
	uint8_t plain[KIT_FRAME_MAX], bytes[KIT_FRAME_MAX];
	size_t size, header = DOCSIS_MAC_HEADER + sizeof(bp_down);

	size = kit_next_frame(PLAIN, SIZE, plain) - DOCSIS_MAC_HEADER;
	memcpy(bytes, plain, 4);
	bytes[0] |= 1; /* EHDR_ON */
	bytes[1] = sizeof(bp_down);
	store_be16(bytes + 2, (uint16_t)(size + sizeof(bp_down)));
	memcpy(bytes + 4, bp_down, sizeof(bp_down));
	docsis_hcs_write(bytes, header - 2);
	memcpy(bytes + header, plain + DOCSIS_MAC_HEADER, size);
	kit_process(PLAIN, bytes, header + size);
	assert_int_equal(kit_counter(COUNTER_CLEAR), 1);
}

/* A stop drops frames in the crypto provider. The stage list ends before decrypt_collect: a frame stays there. */
CASE(stop_drops_frames_in_crypto) {
	unsigned stages = 0;

	while (strcmp(us_lists[0].stages[stages].name, "decrypt_collect") != 0)
		stages++;
	kit->u->list.count = stages;
	kit_send_frame(0, 120);
	kit_run_round();
	assert_int_equal(kit->u->r.crypto->pending, 1);
	upstream_stop(kit->u);
	assert_int_equal(kit->u->r.crypto->pending, 0);
	assert_int_equal(kit->u->counters.drops[DROP_STOPPED], 1);
	kit->ignore_drops = true;
}
