/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests writers of DOCSIS MAC headers: published headers, parsing of written ones, field limits. */
#include "test_main.h"

#include "wire/docsis_up.h"
#include "wire_kit.h"

#define HEADER_MAX DOCSIS_DOWN_HEADER_MAX

/* A header of one direction: `up` or `down` is in use. */
struct header {
	bool is_up;
	struct docsis_down_header down;
	struct docsis_up_header up;
};

static size_t header_size(const struct header *h) {
	return h->is_up ? docsis_up_header_size(&h->up) : docsis_down_header_size(&h->down);
}

static size_t header_write(const struct header *h, size_t pdu, uint8_t *out) {
	return h->is_up ? docsis_up_header_write(&h->up, pdu, out)
			: docsis_down_header_write(&h->down, pdu, out);
}

static void assert_down_header(const struct docsis_down_header *h, const struct docsis_mac *mac) {
	assert_int_equal(mac->kind, DOCSIS_KIND_PACKET);
	assert_int_equal(mac->privacy, h->privacy ? PRIVACY_BP_DOWN : PRIVACY_NONE);
	assert_int_equal(mac->encrypted, h->privacy && h->encrypted);
	assert_int_equal(mac->key_sequence, h->privacy ? h->key_sequence : 0);
	assert_int_equal(mac->said_or_sid, h->privacy ? h->said : 0);
	assert_int_equal(mac->ds, h->ds);
	assert_int_equal(mac->priority, h->ds >= DS_EHDR_PRIORITY ? h->priority : 0);
	assert_int_equal(mac->dsid, h->ds >= DS_EHDR_DSID ? h->dsid : 0);
	assert_int_equal(mac->sequence, h->ds == DS_EHDR_SEQUENCE ? h->sequence : 0);
	assert_int_equal(mac->sequence_change, h->ds == DS_EHDR_SEQUENCE && h->sequence_change);
	assert_false(mac->request);
}

static void assert_up_header(const struct docsis_up_header *h, const struct docsis_mac *mac) {
	bool fragment = h->kind == DOCSIS_KIND_FRAGMENT, private = mac->privacy != PRIVACY_NONE;

	assert_int_equal(mac->kind, h->kind);
	assert_int_equal(mac->privacy, fragment ? PRIVACY_BP_UP : h->privacy);
	assert_int_equal(mac->encrypted, private && h->encrypted);
	assert_int_equal(mac->key_sequence, private ? h->key_sequence : 0);
	assert_int_equal(mac->said_or_sid, private ? h->sid : 0);
	assert_int_equal(mac->piggyback, mac->privacy == PRIVACY_BP_UP ? h->piggyback : 0);
	assert_int_equal(mac->fragment_first, fragment && h->fragment_first);
	assert_int_equal(mac->fragment_last, fragment && h->fragment_last);
	assert_int_equal(mac->fragment_sequence, fragment ? h->fragment_sequence : 0);
	assert_int_equal(mac->request, h->request && !fragment);
	assert_int_equal(mac->request_size, mac->request ? h->request_minislots : 0);
	assert_int_equal(mac->request_sid, mac->request ? h->sid : 0);
	assert_int_equal(mac->ds, DS_EHDR_NONE);
}

/* Writes the header for a PDU of `pdu` bytes, parses it, and compares all fields. */
static void assert_round_trip(const struct header *h, size_t pdu) {
	size_t size = header_size(h);
	uint8_t *out = guard_tail(&guard, size + pdu);
	struct docsis_mac mac;

	assert_true(size <= (h->is_up ? DOCSIS_UP_HEADER_MAX : DOCSIS_DOWN_HEADER_MAX));
	assert_int_equal(header_write(h, pdu, out), size);
	assert_int_equal(docsis_mac_parse(out, size + pdu, &mac), DOCSIS_OK);
	assert_int_equal(mac.header_size, size);
	assert_int_equal(mac.frame_size, size + pdu);
	assert_int_equal(mac.pdu_size, pdu);
	assert_ptr_equal(mac.pdu, out + size);
	assert_int_equal(mac.toggle, mac.key_sequence & 1);
	assert_int_equal(mac.privacy_version,
			 mac.privacy != PRIVACY_NONE ? DOCSIS_PRIVACY_VERSION : 0);
	if (h->is_up)
		assert_up_header(&h->up, &mac);
	else
		assert_down_header(&h->down, &mac);
}

/*
 * Downstream initializers: BP_DOWN, EN, key, SAID, DS EHDR, priority, change, DSID, sequence.
 * Upstream: kind, privacy, EN, key, SID, piggyback, first, last, fragment, request, minislots.
 */
TEST(written_headers_match_published) {
	static const struct {
		const char *name;
		struct header h;
	} cases[] = {
		{"pdu_92", {false, {false}}},
		{"ds_ehdr",
		 {false, {false, false, 0, 0, DS_EHDR_SEQUENCE, 3, true, 0xabcde, 0x1234}}},
		{"bp_down_ds_ehdr",
		 {false, {true, true, 5, 0x123, DS_EHDR_SEQUENCE, 3, false, 0x12345, 7}}},
		{"pdu_92", {true, .up = {DOCSIS_KIND_PACKET}}},
		{"bp_up", {true, .up = {DOCSIS_KIND_PACKET, PRIVACY_BP_UP, true, 3, 0x567, 8}}},
		{"bp_up2", {true, .up = {DOCSIS_KIND_PACKET, PRIVACY_BP_UP2, true, 2, 0x456}}},
		{"request_element",
		 {true, .up = {DOCSIS_KIND_PACKET, 0, 0, 0, 0x123, 0, 0, 0, 0, true, 9}}},
		{"bp_up2_request",
		 {true,
		  .up = {DOCSIS_KIND_PACKET, PRIVACY_BP_UP2, true, 5, 0x123, 0, 0, 0, 0, true, 9}}},
		{"fragment",
		 {true,
		  .up = {DOCSIS_KIND_FRAGMENT, PRIVACY_BP_UP, true, 1, 1, 7, true, false, 9}}},
		{"management", {true, .up = {DOCSIS_KIND_MANAGEMENT}}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		size_t size = header_size(&cases[i].h);

		header_write(&cases[i].h, 92, guard_tail(&guard, size));
		assert_vector("docsis.txt", cases[i].name, size);
	}
	assert_vector("docsis.txt", "request_frame",
		      docsis_request_write(4, 0x123, guard_tail(&guard, 6)));
	assert_vector("docsis.txt", "queue_request_frame",
		      docsis_queue_request_write(0x102, 0x345, guard_tail(&guard, 7)));
	assert_vector("docsis.txt", "concatenation",
		      docsis_concatenation_write(2, 92, guard_tail(&guard, 6)));
}

static const size_t sizes[] = {0, 1, 64, DOCSIS_PDU_MAX};

/* Each layout with the lowest, the highest and a mixed value in each field. */
TEST(downstream_headers_round_trip) {
	static const struct docsis_down_header values[] = {
		{false},
		{false, true, 15, DOCSIS_SAID_MASK, 0, 7, true, DOCSIS_DSID_MASK, 0xffff},
		{false, true, 10, 0x2001, 0, 5, false, 0x81001},
	};

	for (unsigned n = 0; n < 8 * ARRAY_COUNT(values); n++) {
		struct header h = {.down = values[n / 8]};

		h.down.privacy = n & 1;
		h.down.ds = (enum docsis_ds_ehdr)(n % 8 >> 1);
		for (size_t s = 0; s < ARRAY_COUNT(sizes); s++)
			assert_round_trip(&h, sizes[s]);
	}
}

/* The same for each kind of PDU. */
TEST(upstream_headers_round_trip) {
	static const struct docsis_up_header values[] = {
		{0},
		{0, 0, true, 15, DOCSIS_SAID_MASK, 255, true, true, 15, false, 255},
		{0, 0, false, 10, 0x2001, 0, true, false, 0, false, 1},
		{0, 0, true, 5, 0x1ffe, 0x81, false, true, 9},
	};
	static const enum docsis_kind kinds[] = {DOCSIS_KIND_PACKET, DOCSIS_KIND_ISOLATION,
						 DOCSIS_KIND_MANAGEMENT, DOCSIS_KIND_FRAGMENT};

	for (unsigned n = 0; n < 6 * ARRAY_COUNT(kinds) * ARRAY_COUNT(values); n++) {
		struct header h = {true, .up = values[n / 6 % ARRAY_COUNT(values)]};

		h.up.kind = kinds[n / 6 / ARRAY_COUNT(values)];
		h.up.privacy = (enum docsis_privacy)(PRIVACY_NONE + n % 6 / 2);
		h.up.request = n % 2;
		if (h.up.kind == DOCSIS_KIND_FRAGMENT && h.up.privacy == PRIVACY_BP_UP2)
			continue;
		for (size_t s = 0; s < ARRAY_COUNT(sizes); s++)
			assert_round_trip(&h, sizes[s]);
	}
}

TEST(request_frames_round_trip) {
	struct docsis_mac mac;

	for (unsigned n = 0; n <= 2 * 0xffff; n += 251) {
		bool queue = n & 1;
		uint16_t value = (uint16_t)(n / 2), sid = (uint16_t)~value;
		size_t size = queue ? DOCSIS_QUEUE_REQUEST_SIZE : DOCSIS_MAC_HEADER;
		uint8_t *out = guard_tail(&guard, size);

		assert_int_equal(queue ? docsis_queue_request_write(value, sid, out)
				       : docsis_request_write((uint8_t)value, sid, out),
				 size);
		assert_int_equal(load_be16(out + size - 4), sid & DOCSIS_SAID_MASK);
		assert_int_equal(docsis_mac_parse(out, size, &mac), DOCSIS_OK);
		assert_int_equal(mac.kind, queue ? DOCSIS_KIND_QUEUE_REQUEST : DOCSIS_KIND_REQUEST);
		assert_true(mac.request);
		assert_int_equal(mac.request_size, queue ? value : value & 0xff);
		assert_int_equal(mac.request_sid, sid & DOCSIS_SAID_MASK);
		assert_int_equal(mac.frame_size, size);
		assert_int_equal(mac.pdu_size, 0);
	}
}

TEST(values_are_masked_to_field_width) {
	static const struct header cases[][2] = {
		{{false, {true, false, 0xf2, 0xffff, DS_EHDR_SEQUENCE, 0, false, 0xffffffff}},
		 {false,
		  {true, false, 2, DOCSIS_SAID_MASK, DS_EHDR_SEQUENCE, 0, false,
		   DOCSIS_DSID_MASK}}},
		{{true, .up = {DOCSIS_KIND_FRAGMENT, 0, 0, 0xf2, 0xffff, 0, 0, 0, 0xf3}},
		 {true, .up = {DOCSIS_KIND_FRAGMENT, 0, 0, 2, DOCSIS_SAID_MASK, 0, 0, 0, 3}}},
		{{true, .up = {DOCSIS_KIND_PACKET, .sid = 0xffff, .request = true}},
		 {true, .up = {DOCSIS_KIND_PACKET, .sid = DOCSIS_SAID_MASK, .request = true}}},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		uint8_t out[2][HEADER_MAX];
		size_t size = header_write(&cases[i][0], 0, out[0]);

		assert_int_equal(header_write(&cases[i][1], 0, out[1]), size);
		assert_memory_equal(out[0], out[1], size);
	}
}

TEST(up_header_write_rejects_invalid_kinds) {
	static const struct docsis_up_header invalid[] = {
		{DOCSIS_KIND_RESERVED, PRIVACY_BP_UP},
		{DOCSIS_KIND_TIMING, PRIVACY_BP_UP},
		{DOCSIS_KIND_REQUEST, PRIVACY_BP_UP},
		{DOCSIS_KIND_QUEUE_REQUEST, PRIVACY_BP_UP},
		{DOCSIS_KIND_CONCATENATION, PRIVACY_BP_UP},
		{DOCSIS_KIND_PACKET, PRIVACY_BP_DOWN},
		{DOCSIS_KIND_FRAGMENT, PRIVACY_BP_UP2},
	};
	uint8_t *out = guard_tail(&guard, HEADER_MAX);

	for (size_t i = 0; i < ARRAY_COUNT(invalid); i++)
		assert_int_equal(docsis_up_header_write(&invalid[i], 64, out), 0);
	assert_unwritten(out, HEADER_MAX);
}

TEST(pdu_too_long_for_len_is_rejected) {
	static const struct header cases[] = {
		{false, {.privacy = true, .ds = DS_EHDR_SEQUENCE}},
		{true, .up = {DOCSIS_KIND_PACKET, PRIVACY_BP_UP, .request = true}},
	};
	struct docsis_mac mac;

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		size_t max = DOCSIS_LEN_MAX - (header_size(&cases[i]) - DOCSIS_MAC_HEADER);
		uint8_t *out = guard_tail(&guard, HEADER_MAX);

		assert_int_equal(header_write(&cases[i], max + 1, out), 0);
		assert_int_equal(header_write(&cases[i], SIZE_MAX, out), 0);
		assert_int_equal(docsis_concatenation_write(1, DOCSIS_LEN_MAX + 1, out), 0);
		assert_unwritten(out, HEADER_MAX);
		assert_round_trip(&cases[i], max);
		out = guard.base + guard.size - DOCSIS_FRAME_MAX;
		assert_int_equal(docsis_mac_parse(out, DOCSIS_FRAME_MAX - 1, &mac),
				 DOCSIS_TRUNCATED);
		assert_int_equal(docsis_concatenation_write(255, DOCSIS_LEN_MAX, out), 6);
		assert_int_equal(docsis_mac_parse(out, DOCSIS_FRAME_MAX, &mac), DOCSIS_OK);
		assert_int_equal(mac.frame_size, DOCSIS_FRAME_MAX);
	}
}

ALL_TESTS(guard_group_open, guard_group_close)
