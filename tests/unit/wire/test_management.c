/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "wire/management.h"
#include "wire_kit.h"

/* A segment of a MAP pseudowire, or a frame of a downstream session: without what is before it. */
static void captured(const char *name, size_t before, struct vector *v) {
	vector_get("psp.txt", name, v);
	v->size -= before;
	memmove(v->bytes, v->bytes + before, v->size);
}

static enum management_verdict read_guarded(const uint8_t *bytes, size_t size, bool frame,
					    struct management *out) {
	const uint8_t *at = guard_copy(&guard, bytes, size);

	return frame ? management_frame_read(at, size, out) : management_read(at, size, out);
}

static size_t write_guarded(const struct management *m, size_t size, bool frame) {
	uint8_t *out = guard_take(&guard, size);

	return frame ? management_frame_write(m, out, size) : management_write(m, out, size);
}

TEST(captured_come_back) {
	static const uint8_t sa[] = {0xac, 0x1f, 0x6b, 0x1b, 0xaa, 0xc1};
	struct management m;
	struct vector v;

	for (unsigned frame = 0; frame < 2; frame++) {
		uint8_t written[64];

		captured(frame ? "map_extra" : "map_bare", frame ? 8 : 6, &v);
		assert_int_equal(v.size, frame ? 62 : 52);
		assert_int_equal(read_guarded(v.bytes, v.size, frame, &m), MANAGEMENT_OK);
		assert_memory_equal(m.da, management_all_modems, 6);
		assert_memory_equal(m.sa, sa, 6);
		assert_int_equal(m.version, 1);
		assert_int_equal(m.type, MANAGEMENT_MAP);
		assert_int_equal(m.multipart, 0);
		assert_int_equal(m.body_size, 32);
		assert_ptr_equal(m.body + m.body_size, guard.base + guard.room - 4 * frame);
		assert_int_equal(frame ? management_frame_write(&m, written, v.size)
				       : management_write(&m, written, v.size),
				 v.size);
		assert_memory_equal(written, v.bytes, v.size);
	}
}

TEST(every_truncation_is_told) {
	struct management m;
	struct vector v;

	for (unsigned frame = 0; frame < 2; frame++) {
		captured(frame ? "map_extra" : "map_bare", frame ? 8 : 6, &v);
		for (size_t size = 0; size < v.size; size++)
			assert_int_equal(read_guarded(v.bytes, size, frame, &m),
					 MANAGEMENT_TRUNCATED);
		v.bytes[v.size] = 0;
		assert_int_equal(read_guarded(v.bytes, v.size + 1, frame, &m), MANAGEMENT_TRAILING);
	}
}

/* A frame whose LEN, HCS and CRC are right, and that has no room for a message. */
TEST(frames_too_short_for_a_message) {
	uint8_t frame[64] = {0};
	struct management m;

	for (size_t message = 0; message < MANAGEMENT_HEADER; message++) {
		size_t size = management_frame_close(frame, message);

		assert_int_equal(read_guarded(frame, size, true, &m),
				 message > 0 ? MANAGEMENT_TRUNCATED : MANAGEMENT_BAD_CRC);
	}
	for (uint8_t pdu = 0; pdu < ETHERNET_CRC_SIZE; pdu++) {
		frame[3] = pdu;
		docsis_hcs_write(frame, 4);
		assert_int_equal(read_guarded(frame, DOCSIS_MAC_HEADER + pdu, true, &m),
				 MANAGEMENT_BAD_CRC);
	}
}

TEST(every_bit_of_a_frame_is_covered) {
	struct management m;
	struct vector v;

	captured("map_extra", 8, &v);
	for (size_t bit = 0; bit < 8 * v.size; bit++) {
		enum management_verdict verdict;

		flip(v.bytes, bit);
		verdict = read_guarded(v.bytes, v.size, true, &m);
		assert_true(verdict == MANAGEMENT_BAD_CRC ||
			    (bit / 8 < DOCSIS_MAC_HEADER && verdict != MANAGEMENT_OK));
		flip(v.bytes, bit);
	}
}

/* The first bytes, of whose header the HCS is right. */
TEST(other_frames_are_none) {
	static const uint8_t heads[][5] = {
		{0x00}, {0x80}, {0xc0},
		{0xf8}, {0xfe}, {0xc2, 1}, /* MAC_PARM without an extended header */
	};
	struct management m;
	struct vector v;

	captured("map_extra", 8, &v);
	for (unsigned i = 0; i < ARRAY_COUNT(heads); i++) {
		memcpy(v.bytes, heads[i], 2);
		docsis_hcs_write(v.bytes, 4);
		assert_int_equal(read_guarded(v.bytes, v.size, true, &m), MANAGEMENT_NO_FRAME);
	}
	v.bytes[1] = 0;
	assert_int_equal(read_guarded(v.bytes, v.size, true, &m), MANAGEMENT_BAD_HCS);
	v.bytes[0] = 0xc3; /* with one byte of extended header, which is the HCS of before */
	v.bytes[1] = 1;
	v.bytes[4] = 0;
	docsis_hcs_write(v.bytes, 5);
	assert_int_equal(read_guarded(v.bytes, v.size, true, &m), MANAGEMENT_NO_FRAME);
}

TEST(llc_is_fixed) {
	struct management m;
	struct vector v;

	captured("map_bare", 6, &v);
	for (size_t at = 14; at < 17; at++) {
		v.bytes[at] ^= 1;
		assert_int_equal(read_guarded(v.bytes, v.size, false, &m), MANAGEMENT_BAD_LLC);
		v.bytes[at] ^= 1;
	}
	v.bytes[19] = 0x21;
	assert_int_equal(read_guarded(v.bytes, v.size, false, &m), MANAGEMENT_OK);
	assert_int_equal(m.multipart, 0x21);
}

TEST(sizes_have_bounds) {
	static const uint8_t body[MANAGEMENT_BODY_MAX + 1] = {1, 2, 3};
	static uint8_t message[MANAGEMENT_MESSAGE_MAX + 1];
	struct management m = {.version = 4, .type = 200, .multipart = 0x31, .body = body};
	struct management back;

	for (unsigned frame = 0; frame < 2; frame++) {
		size_t extra = MANAGEMENT_HEADER + (frame ? MANAGEMENT_FRAME_EXTRA : 0);

		for (m.body_size = 0; m.body_size <= MANAGEMENT_BODY_MAX; m.body_size += 247) {
			size_t size = extra + m.body_size;

			assert_int_equal(write_guarded(&m, size - 1, frame), 0);
			assert_int_equal(*(guard.base + guard.room - 1), 0xaa);
			assert_int_equal(write_guarded(&m, size, frame), size);
			assert_int_equal(
				read_guarded(guard.base + guard.room - size, size, frame, &back),
				MANAGEMENT_OK);
			assert_int_equal(back.body_size, m.body_size);
			assert_memory_equal(back.body, body, m.body_size);
			assert_int_equal(back.multipart, 0x31);
		}
		assert_int_equal(write_guarded(&m, 3000, frame), 0); /* one byte too long */
		assert_int_equal(write_guarded(&m, 0, frame), 0);
	}
	message[12] = (MANAGEMENT_BODY_MAX + 7) >> 8;
	message[13] = (MANAGEMENT_BODY_MAX + 7) & 0xff;
	message[16] = 3;
	assert_int_equal(read_guarded(message, sizeof(message), false, &back), MANAGEMENT_TOO_LONG);
	message[13]--;
	assert_int_equal(read_guarded(message, sizeof(message) - 1, false, &back), MANAGEMENT_OK);
}

TEST(a_body_may_lie_under_its_header) {
	uint8_t out[256];
	struct management m = {.body = out, .body_size = 200};

	for (unsigned i = 0; i < 200; i++)
		out[i] = (uint8_t)i;
	assert_int_equal(management_write(&m, out, sizeof(out)), 220);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(out[MANAGEMENT_HEADER + i], i);
}

TEST(no_room_for_a_frame) {
	struct management m = {.type = MANAGEMENT_MAP};

	for (size_t size = 0; size < 30; size++)
		assert_int_equal(write_guarded(&m, size, true), 0);
	assert_int_equal(write_guarded(&m, 30, true), 30);
	m.body = (const uint8_t *)"x";
	m.body_size = 1;
	assert_int_equal(write_guarded(&m, 21, false), 21);
	assert_int_equal(guard.base[guard.room - 1], 'x');
}

ALL_TESTS(guard_group_open, guard_group_close)
