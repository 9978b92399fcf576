/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "guard_group.h"
#include "vectors.h"
#include "wire/docsis_mac.h"

/* A frame in front of the forbidden page: LEN counts EHDR and PDU. */
static uint8_t *make_frame(uint8_t fc, const void *ehdr, size_t elen, size_t pdu_size) {
	uint8_t *frame = guard_take(&guard, DOCSIS_MAC_HEADER + elen + pdu_size);

	frame[0] = fc;
	frame[1] = (uint8_t)elen;
	store_be16(frame + DOCSIS_LEN_OFFSET, (uint16_t)(elen + pdu_size));
	if (elen > 0)
		memcpy(frame + DOCSIS_EHDR_OFFSET, ehdr, elen);
	docsis_hcs_write(frame, DOCSIS_EHDR_OFFSET + elen);
	return frame;
}

#define EHDR_VERDICT(fc, ehdr, out)                                  \
	docsis_mac_parse(make_frame(fc, ehdr, sizeof(ehdr) - 1, 64), \
			 DOCSIS_MAC_HEADER + sizeof(ehdr) - 1 + 64, out)

TEST(reads_requests) {
	struct docsis_mac mac;
	struct vector v;

	vector_get("docsis.txt", "request_frame", &v);
	assert_int_equal(docsis_mac_parse(guard_copy(&guard, v.bytes, v.size), v.size, &mac),
			 DOCSIS_OK);
	assert_int_equal(mac.kind, DOCSIS_KIND_REQUEST);
	assert_true(mac.request);
	assert_int_equal(mac.request_size, 4);
	assert_int_equal(mac.request_sid, 0x123);
	assert_int_equal(mac.frame_size, 6);

	vector_get("docsis.txt", "queue_request_frame", &v);
	assert_int_equal(docsis_mac_parse(guard_copy(&guard, v.bytes, v.size), v.size, &mac),
			 DOCSIS_OK);
	assert_int_equal(mac.kind, DOCSIS_KIND_QUEUE_REQUEST);
	assert_int_equal(mac.request_size, 0x102);
	assert_int_equal(mac.request_sid, 0x345);
	assert_int_equal(mac.frame_size, 7);
	assert_int_equal(mac.pdu_size, 0);

	assert_int_equal(EHDR_VERDICT(0x01, "\x13\x09\x01\x23", &mac), DOCSIS_OK);
	assert_true(mac.request);
	assert_int_equal(mac.request_size, 9);
	assert_int_equal(mac.request_sid, 0x123);
}

TEST(reads_upstream_privacy) {
	struct docsis_mac mac;
	struct vector v;

	vector_get("docsis.txt", "bp_up2", &v);
	memset(v.bytes + v.size, 0, 92);
	assert_int_equal(docsis_mac_parse(v.bytes, v.size + 92, &mac), DOCSIS_OK);
	assert_int_equal(mac.privacy, PRIVACY_BP_UP2);
	assert_int_equal(mac.key_sequence, 2);
	assert_true(mac.encrypted);
	assert_false(mac.toggle);
	assert_int_equal(mac.said_or_sid, 0x456);
	assert_int_equal(mac.pdu_size, 92);

	assert_int_equal(EHDR_VERDICT(0x01, "\x34\x31\x45\x67\x08", &mac), DOCSIS_OK);
	assert_int_equal(mac.privacy, PRIVACY_BP_UP);
	assert_int_equal(mac.key_sequence, 3);
	assert_false(mac.encrypted);
	assert_true(mac.toggle);
	assert_int_equal(mac.said_or_sid, 0x567);
	assert_int_equal(mac.piggyback, 8);

	assert_int_equal(EHDR_VERDICT(0xc7, "\x35\x11\x80\x01\x07\x19", &mac), DOCSIS_OK);
	assert_int_equal(mac.kind, DOCSIS_KIND_FRAGMENT);
	assert_int_equal(mac.piggyback, 7);
	assert_false(mac.fragment_first);
	assert_true(mac.fragment_last);
	assert_int_equal(mac.fragment_sequence, 9);
}

/* Padding, deprecated, reserved and extended elements stand between those that count. */
TEST(passes_over_other_elements) {
	struct docsis_mac mac;

	assert_int_equal(EHDR_VERDICT(0x01,
				      "\x00\x22\x12\x34\x51\x00\x62\x00\x01\x95\x00\x00\x00\x00\x00"
				      "\xa0\xf3\x84\x01\x02\x85\xff\xff\xff\x12\x34\x00",
				      &mac),
			 DOCSIS_OK);
	assert_int_equal(mac.ds, DS_EHDR_SEQUENCE);
	assert_int_equal(mac.priority, 7);
	assert_int_equal(mac.dsid, 0xfffff);
	assert_int_equal(mac.sequence, 0x1234);
	assert_int_equal(mac.privacy, PRIVACY_NONE);
	assert_int_equal(mac.pdu_size, 64);
}

TEST(refuses_bad_elements) {
	struct docsis_mac mac;

#define REFUSED(fc, ehdr) assert_int_equal(EHDR_VERDICT(fc, ehdr, &mac), DOCSIS_BAD_EHDR)
	REFUSED(0x01, "\x44\x11\x80\x01"); /* ends behind the extended header */
	REFUSED(0x01, "\x44\x11\x80\x01\x00\x85");
	REFUSED(0x01, "\x0f"); /* NULL has no length */
	REFUSED(0x01, "\x01\x00");
	REFUSED(0x01, "\x43\x11\x80\x01"); /* wrong lengths */
	REFUSED(0x01, "\x74\x11\x80\x01\x00");
	REFUSED(0x01, "\x80");
	REFUSED(0x01, "\x82\x00\x00");
	REFUSED(0x01, "\x84\x00\x00\x00\x00");
	REFUSED(0x01, "\x86\x00\x00\x00\x00\x00\x00");
	REFUSED(0x01, "\x12\x00\x00");
	REFUSED(0x01, "\x44\x11\x80\x01\x00\x44\x11\x80\x01\x00"); /* twice */
	REFUSED(0x01, "\x44\x11\x80\x01\x00\x73\x11\x80\x01");
	REFUSED(0x01, "\x81\x00\x81\x00");
	REFUSED(0x01, "\x13\x00\x00\x00\x13\x00\x00\x00");
	REFUSED(0x01, "\x35\x11\x80\x01\x00\x00"); /* fragment element in a whole frame */
	REFUSED(0xc7, "\x34\x11\x80\x01\x00"); /* and the other way round */
	REFUSED(0xc7, "\x81\x00"); /* fragment without BP_UP */
	REFUSED(0xc7, "");
	REFUSED(0xc6, ""); /* fragment without extended header */
	REFUSED(0xc1, "\x81\x00"); /* timing header with one */
#undef REFUSED
	/* The frame is bounded all the same: a stream can go on behind it. */
	assert_int_equal(mac.frame_size, DOCSIS_MAC_HEADER + 2 + 64);
	assert_null(mac.pdu);
}

TEST(bounds_the_extended_header) {
	static const uint8_t pad[255];
	struct docsis_mac mac;

	for (size_t elen = 0; elen <= 255; elen++) {
		enum docsis_verdict wanted = elen <= DOCSIS_EHDR_MAX ? DOCSIS_OK : DOCSIS_BAD_EHDR;
		size_t size = DOCSIS_MAC_HEADER + elen + 1;
		uint8_t *frame = make_frame(0x01, pad, elen, 1);

		assert_int_equal(docsis_mac_parse(frame, size, &mac), wanted);
		assert_int_equal(mac.frame_size, size);
		for (size_t length = 0; length < size && wanted == DOCSIS_OK; length++) {
			frame = guard_copy(&guard, make_frame(0x01, pad, elen, 1), length);
			assert_int_equal(docsis_mac_parse(frame, length, &mac), DOCSIS_TRUNCATED);
			assert_int_equal(mac.frame_size, length < size - 1 ? 0 : size);
		}
	}
}

TEST(refuses_len_below_elen) {
	static const uint8_t pad[8];
	struct docsis_mac mac;

	for (uint16_t len = 0; len < sizeof(pad); len++) {
		uint8_t *frame = make_frame(0x01, pad, sizeof(pad), 0);

		store_be16(frame + DOCSIS_LEN_OFFSET, len);
		docsis_hcs_write(frame, DOCSIS_EHDR_OFFSET + sizeof(pad));
		assert_int_equal(docsis_mac_parse(frame, DOCSIS_MAC_HEADER + sizeof(pad), &mac),
				 DOCSIS_BAD_LENGTH);
		assert_int_equal(mac.frame_size, 0);
	}
}

static enum docsis_verdict wanted_verdict(unsigned fc) {
	switch (fc) {
	case 0x00:
	case 0x01:
	case 0x02:
	case 0x03: /* packet PDU */
	case 0x80:
	case 0x81:
	case 0x82:
	case 0x83: /* isolation packet PDU */
	case 0xc0:
	case 0xc2:
	case 0xc3:
	case 0xf8: return DOCSIS_OK;
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xf9: return DOCSIS_BAD_EHDR;
	}
	return DOCSIS_RESERVED;
}

TEST(knows_every_frame_control) {
	struct docsis_mac mac;

	for (unsigned fc = 0; fc < 256; fc++) {
		if (fc >= 0xc4 && fc <= 0xc5)
			continue; /* requests have a layout of their own */
		if (fc >= 0xc8 && fc <= 0xc9)
			continue;

		uint8_t *frame = make_frame((uint8_t)fc, NULL, 0, 20);

		assert_int_equal(docsis_mac_parse(frame, 26, &mac), wanted_verdict(fc));
		assert_int_equal(mac.fc, fc);
		assert_int_equal(mac.frame_size, 26);
		assert_int_equal(mac.kind == DOCSIS_KIND_RESERVED,
				 wanted_verdict(fc) == DOCSIS_RESERVED);
	}
	assert_int_equal(EHDR_VERDICT(0xc5, "", &mac), DOCSIS_BAD_EHDR);
}

/* Of every published frame: every truncation, more bytes behind it, every flipped header bit. */
TEST(survives_damage) {
	FILE *f = vectors_open("docsis.txt");
	struct docsis_mac mac;
	struct vector v;

	while (vector_next(f, &v)) {
		bool whole = strstr(v.name, "_frame") != NULL;
		size_t header = whole && v.size > 7 ? DOCSIS_MAC_HEADER : v.size;

		if (!whole) {
			memset(v.bytes + v.size, 0x55, 92);
			v.size += 92;
		}
		for (size_t length = 0; length < v.size; length++)
			assert_int_equal(
				docsis_mac_parse(guard_copy(&guard, v.bytes, length), length, &mac),
				DOCSIS_TRUNCATED);
		memset(v.bytes + v.size, 0, 16);
		assert_int_equal(docsis_mac_parse(v.bytes, v.size + 16, &mac), DOCSIS_OK);
		assert_int_equal(mac.frame_size, v.size);
		for (size_t bit = 0; bit < 8 * header; bit++) {
			v.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);

			enum docsis_verdict verdict =
				docsis_mac_parse(guard_copy(&guard, v.bytes, v.size), v.size, &mac);

			assert_true(verdict == DOCSIS_BAD_HCS || verdict == DOCSIS_TRUNCATED);
			assert_int_equal(mac.frame_size, 0);
			v.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	fclose(f);
}

ALL_TESTS(guard_group_open, guard_group_close)
