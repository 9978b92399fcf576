/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests management.h: MAC management messages, with and without a DOCSIS frame around them. */
#include "test_main.h"

#include "wire/management.h"
#include "wire_kit.h"

/* Loads a captured MAP without PSP header: a message of a pseudowire, or a frame of a session. */
static void load_captured(bool frame, struct vector *v) {
	size_t before = frame ? 8 : 6;

	vector_get("psp.txt", frame ? "map_extra" : "map_bare", v);
	v->size -= before;
	memmove(v->bytes, v->bytes + before, v->size);
}

static struct management m;

static int parse_message(const uint8_t *bytes, size_t size) {
	return management_read(guard_copy(&guard, bytes, size), size, &m);
}

static int parse_frame(const uint8_t *bytes, size_t size) {
	return management_frame_read(guard_copy(&guard, bytes, size), size, &m);
}

static parse_function *const parsers[] = {parse_message, parse_frame};

static size_t write_guarded(const struct management *in, size_t size, bool frame) {
	uint8_t *out = guard_tail(&guard, size);

	return frame ? management_frame_write(in, out, size) : management_write(in, out, size);
}

/* Parses captured messages, rejects each truncation, and writes the same bytes. */
TEST(captured_messages_round_trip) {
	static const uint8_t sa[] = {0xac, 0x1f, 0x6b, 0x1b, 0xaa, 0xc1};
	struct vector v;

	for (unsigned frame = 0; frame < 2; frame++) {
		load_captured(frame, &v);
		assert_int_equal(v.size, frame ? 62 : 52);
		assert_prefixes(parsers[frame], v.bytes, 0, v.size, MANAGEMENT_TRUNCATED);
		v.bytes[v.size] = 0;
		assert_int_equal(parsers[frame](v.bytes, v.size + 1), MANAGEMENT_TRAILING);
		assert_int_equal(parsers[frame](v.bytes, v.size), MANAGEMENT_OK);
		assert_memory_equal(m.da, management_all_modems, 6);
		assert_memory_equal(m.sa, sa, 6);
		assert_int_equal(m.version, 1);
		assert_int_equal(m.type, MANAGEMENT_MAP);
		assert_int_equal(m.multipart, 0);
		assert_int_equal(m.body_size, 32);
		assert_ptr_equal(m.body + m.body_size, guard.base + guard.size - 4 * frame);
		m.body = v.bytes + (frame ? DOCSIS_MAC_HEADER : 0) + MANAGEMENT_HEADER;
		assert_int_equal(write_guarded(&m, v.size, frame), v.size);
		assert_memory_equal(guard.base + guard.size - v.size, v.bytes, v.size);
	}
}

/* LEN, HCS and CRC are correct. */
TEST(frame_shorter_than_message_header_is_rejected) {
	uint8_t frame[64] = {0};

	for (size_t message = 0; message < MANAGEMENT_HEADER; message++) {
		size_t size = management_frame_close(frame, message);

		assert_int_equal(parse_frame(frame, size),
				 message > 0 ? MANAGEMENT_TRUNCATED : MANAGEMENT_BAD_CRC);
	}
	for (uint8_t pdu = 0; pdu < ETHERNET_CRC_SIZE; pdu++) {
		frame[3] = pdu;
		docsis_hcs_write(frame, 4);
		assert_int_equal(parse_frame(frame, DOCSIS_MAC_HEADER + pdu), MANAGEMENT_BAD_CRC);
	}
}

/* `heads` are the first bytes of frames whose HCS is correct. */
TEST(other_frame_kinds_are_rejected) {
	static const uint8_t heads[][5] = {
		{0x00}, {0x80}, {0xc0},
		{0xf8}, {0xfe}, {0xc2, 1}, /* MAC_PARM without an extended header */
	};
	struct vector v;

	load_captured(true, &v);
	for (unsigned i = 0; i < ARRAY_COUNT(heads); i++) {
		memcpy(v.bytes, heads[i], 2);
		docsis_hcs_write(v.bytes, 4);
		assert_int_equal(parse_frame(v.bytes, v.size), MANAGEMENT_NO_FRAME);
	}
	v.bytes[1] = 0;
	assert_int_equal(parse_frame(v.bytes, v.size), MANAGEMENT_BAD_HCS);
	v.bytes[0] = 0xc3; /* one byte of extended header, formerly HCS */
	v.bytes[1] = 1;
	v.bytes[4] = 0;
	docsis_hcs_write(v.bytes, 5);
	assert_int_equal(parse_frame(v.bytes, v.size), MANAGEMENT_NO_FRAME);
}

TEST(wrong_llc_is_rejected) {
	struct vector v;

	load_captured(false, &v);
	for (size_t at = 14; at < 17; at++) {
		v.bytes[at] ^= 1;
		assert_int_equal(parse_message(v.bytes, v.size), MANAGEMENT_BAD_LLC);
		v.bytes[at] ^= 1;
	}
	v.bytes[19] = 0x21;
	assert_int_equal(parse_message(v.bytes, v.size), MANAGEMENT_OK);
	assert_int_equal(m.multipart, 0x21);
}

TEST(body_size_is_limited) {
	static const uint8_t body[MANAGEMENT_BODY_MAX + 1] = {1, 2, 3};
	static const size_t sizes[] = {0, 1, 247, MANAGEMENT_BODY_MAX};
	static uint8_t message[MANAGEMENT_MESSAGE_MAX + 1];
	struct management in = {.version = 4, .type = 200, .multipart = 0x31, .body = body};

	for (unsigned frame = 0; frame < 2; frame++) {
		size_t extra = MANAGEMENT_HEADER + (frame ? MANAGEMENT_FRAME_EXTRA : 0);

		for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
			size_t size = extra + sizes[i];

			in.body_size = sizes[i];
			for (size_t less = in.body_size == 0 ? 0 : size - 1; less < size; less++)
				assert_int_equal(write_guarded(&in, less, frame), 0);
			assert_int_equal(guard.base[guard.size - 1], 0xaa);
			assert_int_equal(write_guarded(&in, size, frame), size);
			assert_int_equal(parsers[frame](guard.base + guard.size - size, size),
					 MANAGEMENT_OK);
			assert_int_equal(m.body_size, in.body_size);
			assert_memory_equal(m.body, body, m.body_size);
			assert_int_equal(m.multipart, 0x31);
		}
		in.body_size++; /* one byte too long */
		assert_int_equal(write_guarded(&in, 3000, frame), 0);
	}
	message[12] = (MANAGEMENT_BODY_MAX + 7) >> 8;
	message[13] = (MANAGEMENT_BODY_MAX + 7) & 0xff;
	message[16] = 3;
	assert_int_equal(parse_message(message, sizeof(message)), MANAGEMENT_TOO_LONG);
	message[13]--;
	assert_int_equal(parse_message(message, sizeof(message) - 1), MANAGEMENT_OK);
}

TEST(body_may_overlap_output) {
	uint8_t out[256];
	struct management in = {.body = out, .body_size = 200};

	for (unsigned i = 0; i < 200; i++)
		out[i] = (uint8_t)i;
	assert_int_equal(management_write(&in, out, sizeof(out)), 220);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(out[MANAGEMENT_HEADER + i], i);
}

ALL_TESTS(guard_group_open, guard_group_close)
