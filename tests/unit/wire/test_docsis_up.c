/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "wire/docsis_up.h"
#include "wire_kit.h"

static void assert_privacy(const struct docsis_up_header *h, const struct docsis_mac *mac) {
	assert_int_equal(mac->encrypted, h->encrypted);
	assert_int_equal(mac->key_sequence, h->key_sequence);
	assert_int_equal(mac->toggle, h->key_sequence & 1);
	assert_int_equal(mac->privacy_version, DOCSIS_PRIVACY_VERSION);
	assert_int_equal(mac->said_or_sid, h->sid);
	assert_int_equal(mac->piggyback, mac->privacy == PRIVACY_BP_UP ? h->piggyback : 0);
}

static void assert_read_back(const struct docsis_up_header *h, const struct docsis_mac *mac) {
	bool fragment = h->kind == DOCSIS_KIND_FRAGMENT;

	assert_int_equal(mac->kind, h->kind);
	assert_int_equal(mac->privacy, fragment ? PRIVACY_BP_UP : h->privacy);
	if (mac->privacy != PRIVACY_NONE)
		assert_privacy(h, mac);
	assert_int_equal(mac->fragment_first, fragment && h->fragment_first);
	assert_int_equal(mac->fragment_last, fragment && h->fragment_last);
	assert_int_equal(mac->fragment_sequence, fragment ? h->fragment_sequence : 0);
	assert_int_equal(mac->request, h->request && !fragment);
	assert_int_equal(mac->request_size, mac->request ? h->request_minislots : 0);
	assert_int_equal(mac->request_sid, mac->request ? h->sid : 0);
	assert_int_equal(mac->ds, DS_EHDR_NONE);
}

/* Writes the header of a PDU in front of the forbidden page, and reads it. */
static void check_header(const struct docsis_up_header *h, size_t pdu) {
	size_t size = docsis_up_header_size(h);
	uint8_t *out = guard_take(&guard, size + pdu);
	struct docsis_mac mac;

	assert_true(size <= DOCSIS_UP_HEADER_MAX);
	assert_int_equal(docsis_up_header_write(h, pdu, out), size);
	assert_int_equal(docsis_mac_parse(out, size + pdu, &mac), DOCSIS_OK);
	assert_read_back(h, &mac);
	assert_int_equal(mac.header_size, size);
	assert_int_equal(mac.pdu_size, pdu);
}

/* As in the structure: kind, privacy, EN, key, SID, piggyback, first, last, fragment, request, minislots. */
TEST(writes_the_published_headers) {
	static const struct {
		const char *name;
		struct docsis_up_header h;
	} headers[] = {
		{"pdu_92", {DOCSIS_KIND_PACKET}},
		{"bp_up", {DOCSIS_KIND_PACKET, PRIVACY_BP_UP, true, 3, 0x567, 8}},
		{"bp_up2", {DOCSIS_KIND_PACKET, PRIVACY_BP_UP2, true, 2, 0x456}},
		{"request_element", {DOCSIS_KIND_PACKET, 0, 0, 0, 0x123, 0, 0, 0, 0, true, 9}},
		{"bp_up2_request",
		 {DOCSIS_KIND_PACKET, PRIVACY_BP_UP2, true, 5, 0x123, 0, 0, 0, 0, true, 9}},
		{"fragment", {DOCSIS_KIND_FRAGMENT, PRIVACY_BP_UP, true, 1, 1, 7, true, false, 9}},
		{"management", {DOCSIS_KIND_MANAGEMENT}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(headers); i++) {
		size_t size = docsis_up_header_size(&headers[i].h);

		docsis_up_header_write(&headers[i].h, 92, guard_take(&guard, size));
		is_vector("docsis.txt", headers[i].name, size);
	}
}

TEST(writes_the_published_frames) {
	is_vector("docsis.txt", "request_frame",
		  docsis_request_write(4, 0x123, guard_take(&guard, 6)));
	is_vector("docsis.txt", "queue_request_frame",
		  docsis_queue_request_write(0x102, 0x345, guard_take(&guard, 7)));
	is_vector("docsis.txt", "concatenation",
		  docsis_concatenation_write(2, 92, guard_take(&guard, 6)));
}

/* A PDU of every kind and layout around the lowest, the highest and mixed values. */
TEST(reads_back_what_it_writes) {
	static const struct docsis_up_header values[] = {
		{0},
		{0, 0, true, 15, DOCSIS_SAID_MASK, 255, true, true, 15, false, 255},
		{0, 0, false, 10, 0x2001, 0, true, false, 0, false, 1},
		{0, 0, true, 5, 0x1ffe, 0x81, false, true, 9},
	};
	static const enum docsis_kind kinds[] = {DOCSIS_KIND_PACKET, DOCSIS_KIND_ISOLATION,
						 DOCSIS_KIND_MANAGEMENT, DOCSIS_KIND_FRAGMENT};
	static const size_t sizes[] = {0, 1, 64, DOCSIS_PDU_MAX};

	for (unsigned n = 0; n < 6 * ARRAY_COUNT(kinds) * ARRAY_COUNT(values); n++) {
		struct docsis_up_header h = values[n / 6 % ARRAY_COUNT(values)];

		h.kind = kinds[n / 6 / ARRAY_COUNT(values)];
		h.privacy = (enum docsis_privacy)(PRIVACY_NONE + n % 6 / 2);
		h.request = n % 2;
		if (h.kind == DOCSIS_KIND_FRAGMENT && h.privacy == PRIVACY_BP_UP2)
			continue;
		for (size_t s = 0; s < ARRAY_COUNT(sizes); s++)
			check_header(&h, sizes[s]);
	}
}

TEST(reads_back_requests) {
	uint8_t *out = guard_take(&guard, DOCSIS_QUEUE_REQUEST_SIZE);
	struct docsis_mac mac;

	for (unsigned n = 0; n <= 0xffff; n += 251) {
		assert_int_equal(docsis_queue_request_write((uint16_t)n, (uint16_t)~n, out), 7);
		assert_int_equal(docsis_mac_parse(out, 7, &mac), DOCSIS_OK);
		assert_true(mac.request && mac.kind == DOCSIS_KIND_QUEUE_REQUEST);
		assert_int_equal(mac.request_size, n);
		assert_int_equal(mac.request_sid, ~n & DOCSIS_SAID_MASK);
		assert_int_equal(mac.frame_size, 7);
		assert_int_equal(mac.pdu_size, 0);

		assert_int_equal(docsis_request_write((uint8_t)n, (uint16_t)n, out), 6);
		assert_int_equal(docsis_mac_parse(out, 6, &mac), DOCSIS_OK);
		assert_true(mac.request && mac.kind == DOCSIS_KIND_REQUEST);
		assert_int_equal(mac.request_size, n & 0xff);
		assert_int_equal(mac.request_sid, n & DOCSIS_SAID_MASK);
		assert_int_equal(mac.frame_size, 6);
	}
	out = guard_take(&guard, DOCSIS_MAC_HEADER);
	assert_int_equal(docsis_request_write(255, 0xffff, out), DOCSIS_MAC_HEADER);
	assert_int_equal(load_be16(out + 2), DOCSIS_SAID_MASK);
}

TEST(cuts_values_to_their_fields) {
	static const struct docsis_up_header cases[][2] = {
		{{DOCSIS_KIND_FRAGMENT, 0, 0, 0xf2, 0xffff, 0, 0, 0, 0xf3},
		 {DOCSIS_KIND_FRAGMENT, 0, 0, 2, DOCSIS_SAID_MASK, 0, 0, 0, 3}},
		{{DOCSIS_KIND_PACKET, .sid = 0xffff, .request = true},
		 {DOCSIS_KIND_PACKET, .sid = DOCSIS_SAID_MASK, .request = true}},
	};

	for (unsigned i = 0; i < 2; i++) {
		uint8_t out[2][DOCSIS_UP_HEADER_MAX];
		size_t size = docsis_up_header_write(&cases[i][0], 0, out[0]);

		assert_int_equal(docsis_up_header_write(&cases[i][1], 0, out[1]), size);
		assert_memory_equal(out[0], out[1], size);
	}
}

TEST(refuses_other_kinds) {
	static const struct docsis_up_header others[] = {
		{DOCSIS_KIND_RESERVED, PRIVACY_BP_UP},
		{DOCSIS_KIND_TIMING, PRIVACY_BP_UP},
		{DOCSIS_KIND_REQUEST, PRIVACY_BP_UP},
		{DOCSIS_KIND_QUEUE_REQUEST, PRIVACY_BP_UP},
		{DOCSIS_KIND_CONCATENATION, PRIVACY_BP_UP},
		{DOCSIS_KIND_PACKET, PRIVACY_BP_DOWN},
		{DOCSIS_KIND_FRAGMENT, PRIVACY_BP_UP2},
	};
	uint8_t *out = guard_take(&guard, DOCSIS_UP_HEADER_MAX);

	for (size_t i = 0; i < ARRAY_COUNT(others); i++)
		assert_int_equal(docsis_up_header_write(&others[i], 64, out), 0);
	untouched(out, DOCSIS_UP_HEADER_MAX);
}

TEST(refuses_what_len_cannot_hold) {
	struct docsis_up_header h = {DOCSIS_KIND_PACKET, PRIVACY_BP_UP, .request = true};
	size_t most = DOCSIS_LEN_MAX - (docsis_up_header_size(&h) - DOCSIS_MAC_HEADER);
	uint8_t *out = guard_take(&guard, DOCSIS_UP_HEADER_MAX);
	struct docsis_mac mac;

	assert_int_equal(docsis_up_header_write(&h, most + 1, out), 0);
	assert_int_equal(docsis_up_header_write(&h, SIZE_MAX, out), 0);
	assert_int_equal(docsis_concatenation_write(1, DOCSIS_LEN_MAX + 1, out), 0);
	untouched(out, DOCSIS_UP_HEADER_MAX);
	check_header(&h, most);
	out = guard_take(&guard, DOCSIS_FRAME_MAX);
	assert_int_equal(docsis_concatenation_write(255, DOCSIS_LEN_MAX, out), 6);
	assert_int_equal(docsis_mac_parse(out, DOCSIS_FRAME_MAX, &mac), DOCSIS_OK);
	assert_int_equal(mac.frame_size, DOCSIS_FRAME_MAX);
}

ALL_TESTS(guard_group_open, guard_group_close)
