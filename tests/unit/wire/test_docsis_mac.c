/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests docsis_mac.h, the parser of DOCSIS MAC headers and their extended header elements. */
#include "test_main.h"

#include "wire/docsis_mac.h"
#include "wire_kit.h"

static struct docsis_mac mac;

/* Builds a frame with a correct LEN and HCS at the end of the guarded buffer. */
static uint8_t *make_frame(uint8_t fc, const void *ehdr, size_t elen, size_t pdu_size) {
	uint8_t *frame = guard_tail(&guard, DOCSIS_MAC_HEADER + elen + pdu_size);

	frame[0] = fc;
	frame[1] = (uint8_t)elen;
	store_be16(frame + DOCSIS_LEN_OFFSET, (uint16_t)(elen + pdu_size));
	if (elen > 0)
		memcpy(frame + DOCSIS_EHDR_OFFSET, ehdr, elen);
	docsis_hcs_write(frame, DOCSIS_EHDR_OFFSET + elen);
	return frame;
}

/* The header has padding, deprecated, reserved and extended elements beside the DS EHDR. */
TEST(irrelevant_ehdr_elements_are_skipped) {
	static const uint8_t ehdr[] = "\x00\x22\x12\x34\x51\x00\x62\x00\x01\x95\x00\x00\x00\x00\x00"
				      "\xa0\xf3\x84\x01\x02\x85\xff\xff\xff\x12\x34\x00";
	size_t size = sizeof(ehdr) - 1;

	assert_int_equal(docsis_mac_parse(make_frame(0x01, ehdr, size, 64),
					  DOCSIS_MAC_HEADER + size + 64, &mac),
			 DOCSIS_OK);
	assert_int_equal(mac.ds, DS_EHDR_SEQUENCE);
	assert_int_equal(mac.priority, 7);
	assert_int_equal(mac.dsid, 0xfffff);
	assert_int_equal(mac.sequence, 0x1234);
	assert_int_equal(mac.privacy, PRIVACY_NONE);
	assert_int_equal(mac.pdu_size, 64);
}

TEST(malformed_ehdr_is_rejected) {
	static const struct {
		uint8_t fc, size;
		const char *ehdr;
	} cases[] = {
		{0x01, 4, "\x44\x11\x80\x01"}, /* element exceeds the extended header */
		{0x01, 6, "\x44\x11\x80\x01\x00\x85"},
		{0x01, 1, "\x0f"}, /* NULL element with a length */
		{0x01, 2, "\x01\x00"},
		{0x01, 4, "\x43\x11\x80\x01"}, /* wrong lengths */
		{0x01, 5, "\x74\x11\x80\x01\x00"},
		{0x01, 1, "\x80"},
		{0x01, 3, "\x82\x00\x00"},
		{0x01, 5, "\x84\x00\x00\x00\x00"},
		{0x01, 7, "\x86\x00\x00\x00\x00\x00\x00"},
		{0x01, 3, "\x12\x00\x00"},
		{0x01, 10, "\x44\x11\x80\x01\x00\x44\x11\x80\x01\x00"}, /* twice */
		{0x01, 9, "\x44\x11\x80\x01\x00\x73\x11\x80\x01"},
		{0x01, 4, "\x81\x00\x81\x00"},
		{0x01, 8, "\x13\x00\x00\x00\x13\x00\x00\x00"},
		{0x01, 6, "\x35\x11\x80\x01\x00\x00"}, /* fragment element in a packet PDU */
		{0xc7, 5, "\x34\x11\x80\x01\x00"}, /* fragment without fragment element */
		{0xc7, 2, "\x81\x00"}, /* fragment without BP_UP */
		{0xc7, 0, ""},
		{0xc6, 0, ""}, /* fragment without extended header */
		{0xc1, 2, "\x81\x00"}, /* timing header with extended header */
		{0xc5, 0, ""}, /* request frame with extended header */
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		size_t size = DOCSIS_MAC_HEADER + cases[i].size + 64;
		const uint8_t *frame = make_frame(cases[i].fc, cases[i].ehdr, cases[i].size, 64);

		assert_int_equal(docsis_mac_parse(frame, size, &mac), DOCSIS_BAD_EHDR);
		assert_null(mac.pdu);
		/* the size is still known, so that a stream can continue after the frame */
		if (cases[i].fc != 0xc5)
			assert_int_equal(mac.frame_size, size);
	}
}

TEST(ehdr_longer_than_limit_is_rejected) {
	static const uint8_t pad[255];

	for (size_t elen = 0; elen <= 255; elen++) {
		enum docsis_verdict expected =
			elen <= DOCSIS_EHDR_MAX ? DOCSIS_OK : DOCSIS_BAD_EHDR;
		size_t size = DOCSIS_MAC_HEADER + elen + 1;
		uint8_t *frame = make_frame(0x01, pad, elen, 1);

		assert_int_equal(docsis_mac_parse(frame, size, &mac), expected);
		assert_int_equal(mac.frame_size, size);
		for (size_t length = 0; length < size && expected == DOCSIS_OK; length++) {
			frame = guard_copy(&guard, make_frame(0x01, pad, elen, 1), length);
			assert_int_equal(docsis_mac_parse(frame, length, &mac), DOCSIS_TRUNCATED);
			assert_int_equal(mac.frame_size, length < size - 1 ? 0 : size);
		}
	}
}

TEST(len_below_elen_is_rejected) {
	static const uint8_t pad[8];

	for (uint16_t len = 0; len < sizeof(pad); len++) {
		uint8_t *frame = make_frame(0x01, pad, sizeof(pad), 0);

		store_be16(frame + DOCSIS_LEN_OFFSET, len);
		docsis_hcs_write(frame, DOCSIS_EHDR_OFFSET + sizeof(pad));
		assert_int_equal(docsis_mac_parse(frame, DOCSIS_MAC_HEADER + sizeof(pad), &mac),
				 DOCSIS_BAD_LENGTH);
		assert_int_equal(mac.frame_size, 0);
	}
}

TEST(every_frame_control_is_classified) {
	/* packet PDUs, isolation packet PDUs, and the other types */
	static const char good[] = "\x00\x01\x02\x03\x80\x81\x82\x83\xc0\xc2\xc3\xf8";
	static const char bare[] = "\xc1\xc6\xc7\xf9"; /* mandatory extended header is missing */

	for (unsigned fc = 0; fc < 256; fc++) {
		enum docsis_verdict expected =
			memchr(good, (int)fc, sizeof(good) - 1) != NULL	  ? DOCSIS_OK
			: memchr(bare, (int)fc, sizeof(bare) - 1) != NULL ? DOCSIS_BAD_EHDR
									  : DOCSIS_RESERVED;

		if (fc == 0xc4 || fc == 0xc5 || fc == 0xc8 || fc == 0xc9)
			continue; /* requests have another layout */
		assert_int_equal(docsis_mac_parse(make_frame((uint8_t)fc, NULL, 0, 20), 26, &mac),
				 expected);
		assert_int_equal(mac.fc, fc);
		assert_int_equal(mac.frame_size, 26);
		assert_int_equal(mac.kind == DOCSIS_KIND_RESERVED, expected == DOCSIS_RESERVED);
	}
}

static int parse_verdict(const uint8_t *bytes, size_t size) {
	return docsis_mac_parse(bytes, size, &mac);
}

/* For each published frame: each truncation, trailing bytes, and each flipped header bit. */
TEST(truncated_and_corrupt_frames_are_rejected) {
	FILE *f = vectors_open("docsis.txt");
	struct vector v;

	while (vector_next(f, &v)) {
		bool whole = strstr(v.name, "_frame") != NULL;
		size_t header = whole && v.size > 7 ? DOCSIS_MAC_HEADER : v.size;

		if (!whole) {
			memset(v.bytes + v.size, 0x55, 92);
			v.size += 92;
		}
		assert_prefixes(parse_verdict, v.bytes, 0, v.size, DOCSIS_TRUNCATED);
		memset(v.bytes + v.size, 0, 16);
		assert_int_equal(docsis_mac_parse(v.bytes, v.size + 16, &mac), DOCSIS_OK);
		assert_int_equal(mac.frame_size, v.size);
		for (size_t bit = 0; bit < 8 * header; bit++) {
			int actual;

			flip_bit(v.bytes, bit);
			actual = parse_verdict(guard_copy(&guard, v.bytes, v.size), v.size);
			assert_true(actual == DOCSIS_BAD_HCS || actual == DOCSIS_TRUNCATED);
			assert_int_equal(mac.frame_size, 0);
			flip_bit(v.bytes, bit);
		}
	}
	fclose(f);
}

ALL_TESTS(guard_group_open, guard_group_close)
