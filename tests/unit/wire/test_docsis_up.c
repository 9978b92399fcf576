/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "guard_group.h"
#include "vectors.h"
#include "wire/docsis_up.h"

static const struct {
	const char *name;
	struct docsis_up_header h;
} headers[] = {
	{"pdu_92", {.kind = DOCSIS_KIND_PACKET}},
	{"bp_up",
	 {.kind = DOCSIS_KIND_PACKET,
	  .privacy = PRIVACY_BP_UP,
	  .encrypted = true,
	  .key_sequence = 3,
	  .sid = 0x567,
	  .piggyback = 8}},
	{"bp_up2",
	 {.kind = DOCSIS_KIND_PACKET,
	  .privacy = PRIVACY_BP_UP2,
	  .encrypted = true,
	  .key_sequence = 2,
	  .sid = 0x456}},
	{"request_element",
	 {.kind = DOCSIS_KIND_PACKET, .sid = 0x123, .request = true, .request_minislots = 9}},
	{"bp_up2_request",
	 {.kind = DOCSIS_KIND_PACKET,
	  .privacy = PRIVACY_BP_UP2,
	  .encrypted = true,
	  .key_sequence = 5,
	  .sid = 0x123,
	  .request = true,
	  .request_minislots = 9}},
	{"fragment",
	 {.kind = DOCSIS_KIND_FRAGMENT,
	  .privacy = PRIVACY_BP_UP,
	  .encrypted = true,
	  .key_sequence = 1,
	  .sid = 1,
	  .piggyback = 7,
	  .fragment_first = true,
	  .fragment_sequence = 9}},
	{"management", {.kind = DOCSIS_KIND_MANAGEMENT}},
};

TEST(writes_the_published_headers) {
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(headers); i++) {
		vector_get("docsis.txt", headers[i].name, &v);

		uint8_t *out = guard_take(&guard, v.size);

		assert_int_equal(docsis_up_header_size(&headers[i].h), v.size);
		assert_int_equal(docsis_up_header_write(&headers[i].h, 92, out), v.size);
		assert_memory_equal(out, v.bytes, v.size);
	}
}

TEST(writes_the_published_frames) {
	struct vector v;
	uint8_t *out;

	vector_get("docsis.txt", "request_frame", &v);
	out = guard_take(&guard, v.size);
	assert_int_equal(docsis_request_write(4, 0x123, out), v.size);
	assert_memory_equal(out, v.bytes, v.size);

	vector_get("docsis.txt", "queue_request_frame", &v);
	out = guard_take(&guard, v.size);
	assert_int_equal(docsis_queue_request_write(0x102, 0x345, out), v.size);
	assert_memory_equal(out, v.bytes, v.size);

	vector_get("docsis.txt", "concatenation", &v);
	out = guard_take(&guard, v.size);
	assert_int_equal(docsis_concatenation_write(2, 92, out), v.size);
	assert_memory_equal(out, v.bytes, v.size);
}

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

static const struct docsis_up_header values[] = {
	{.sid = 0},
	{.encrypted = true,
	 .key_sequence = 15,
	 .sid = DOCSIS_SAID_MASK,
	 .piggyback = 255,
	 .fragment_first = true,
	 .fragment_last = true,
	 .fragment_sequence = 15,
	 .request_minislots = 255},
	{.key_sequence = 10, .sid = 0x2001, .fragment_first = true, .request_minislots = 1},
	{.encrypted = true,
	 .key_sequence = 5,
	 .sid = 0x1ffe,
	 .piggyback = 0x81,
	 .fragment_last = true},
};

/* Writes and reads a PDU of every layout around these values. */
static void check_layouts(enum docsis_kind kind, struct docsis_up_header h, size_t pdu) {
	h.kind = kind;
	for (unsigned layout = 0; layout < 6; layout++) {
		struct docsis_mac mac;

		h.privacy = (enum docsis_privacy)(PRIVACY_NONE + layout / 2);
		h.request = layout % 2;
		if (kind == DOCSIS_KIND_FRAGMENT && h.privacy == PRIVACY_BP_UP2)
			continue;

		size_t size = docsis_up_header_size(&h);
		uint8_t *out = guard_take(&guard, size + pdu);

		assert_true(size <= DOCSIS_UP_HEADER_MAX);
		assert_int_equal(docsis_up_header_write(&h, pdu, out), size);
		assert_int_equal(docsis_mac_parse(out, size + pdu, &mac), DOCSIS_OK);
		assert_read_back(&h, &mac);
		assert_int_equal(mac.header_size, size);
		assert_int_equal(mac.pdu_size, pdu);
	}
}

TEST(reads_back_what_it_writes) {
	static const enum docsis_kind kinds[] = {DOCSIS_KIND_PACKET, DOCSIS_KIND_ISOLATION,
						 DOCSIS_KIND_MANAGEMENT, DOCSIS_KIND_FRAGMENT};
	static const size_t sizes[] = {0, 1, 64, DOCSIS_PDU_MAX};

	for (size_t k = 0; k < ARRAY_COUNT(kinds); k++)
		for (size_t v = 0; v < ARRAY_COUNT(values); v++)
			for (size_t s = 0; s < ARRAY_COUNT(sizes); s++)
				check_layouts(kinds[k], values[v], sizes[s]);
}

TEST(reads_back_requests) {
	uint8_t *out = guard_take(&guard, DOCSIS_QUEUE_REQUEST_SIZE);
	struct docsis_mac mac;

	for (unsigned n = 0; n <= 0xffff; n += 251) {
		assert_int_equal(docsis_queue_request_write((uint16_t)n, (uint16_t)~n, out), 7);
		assert_int_equal(docsis_mac_parse(out, 7, &mac), DOCSIS_OK);
		assert_int_equal(mac.kind, DOCSIS_KIND_QUEUE_REQUEST);
		assert_int_equal(mac.request_size, n);
		assert_int_equal(mac.request_sid, ~n & DOCSIS_SAID_MASK);

		assert_int_equal(docsis_request_write((uint8_t)n, (uint16_t)n, out), 6);
		assert_int_equal(docsis_mac_parse(out, 6, &mac), DOCSIS_OK);
		assert_int_equal(mac.kind, DOCSIS_KIND_REQUEST);
		assert_int_equal(mac.request_size, n & 0xff);
		assert_int_equal(mac.request_sid, n & DOCSIS_SAID_MASK);
	}
	out = guard_take(&guard, DOCSIS_MAC_HEADER);
	assert_int_equal(docsis_request_write(255, 0xffff, out), DOCSIS_MAC_HEADER);
	assert_int_equal(load_be16(out + 2), DOCSIS_SAID_MASK);
}

TEST(cuts_values_to_their_fields) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_FRAGMENT,
				     .sid = 0xffff,
				     .key_sequence = 0xf2,
				     .fragment_sequence = 0xf3};
	uint8_t out[DOCSIS_UP_HEADER_MAX];
	struct docsis_mac mac;

	assert_int_equal(docsis_up_header_write(&h, 0, out), 12);
	assert_int_equal(docsis_mac_parse(out, 12, &mac), DOCSIS_OK);
	assert_int_equal(mac.said_or_sid, DOCSIS_SAID_MASK);
	assert_false(mac.encrypted);
	assert_false(mac.toggle);
	assert_int_equal(mac.key_sequence, 2);
	assert_int_equal(out[9], 3);

	h.kind = DOCSIS_KIND_PACKET;
	h.request = true;
	assert_int_equal(docsis_up_header_write(&h, 0, out), 10);
	assert_int_equal(load_be16(out + 6), DOCSIS_SAID_MASK);
}

TEST(refuses_other_kinds) {
	static const enum docsis_kind kinds[] = {DOCSIS_KIND_RESERVED, DOCSIS_KIND_TIMING,
						 DOCSIS_KIND_REQUEST, DOCSIS_KIND_QUEUE_REQUEST,
						 DOCSIS_KIND_CONCATENATION};
	uint8_t *out = guard_take(&guard, DOCSIS_UP_HEADER_MAX);
	struct docsis_up_header h = {.privacy = PRIVACY_BP_UP};

	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		h.kind = kinds[i];
		assert_int_equal(docsis_up_header_write(&h, 64, out), 0);
	}
	h.kind = DOCSIS_KIND_PACKET;
	h.privacy = PRIVACY_BP_DOWN;
	assert_int_equal(docsis_up_header_write(&h, 64, out), 0);
	h.kind = DOCSIS_KIND_FRAGMENT;
	h.privacy = PRIVACY_BP_UP2;
	assert_int_equal(docsis_up_header_write(&h, 64, out), 0);
	for (size_t i = 0; i < DOCSIS_UP_HEADER_MAX; i++)
		assert_int_equal(out[i], 0xaa);
}

TEST(refuses_what_len_cannot_hold) {
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_PACKET, .privacy = PRIVACY_BP_UP, .request = true};
	size_t most = DOCSIS_LEN_MAX - (docsis_up_header_size(&h) - DOCSIS_MAC_HEADER);
	uint8_t *out = guard_take(&guard, DOCSIS_UP_HEADER_MAX);
	struct docsis_mac mac;

	assert_int_equal(docsis_up_header_write(&h, most + 1, out), 0);
	assert_int_equal(docsis_up_header_write(&h, SIZE_MAX, out), 0);
	assert_int_equal(docsis_concatenation_write(1, DOCSIS_LEN_MAX + 1, out), 0);
	for (size_t i = 0; i < DOCSIS_UP_HEADER_MAX; i++)
		assert_int_equal(out[i], 0xaa);

	out = guard_take(&guard, DOCSIS_FRAME_MAX);
	assert_int_equal(docsis_up_header_write(&h, most, out), 15);
	assert_int_equal(docsis_mac_parse(out, DOCSIS_FRAME_MAX, &mac), DOCSIS_OK);
	assert_int_equal(docsis_mac_parse(out, DOCSIS_FRAME_MAX - 1, &mac), DOCSIS_TRUNCATED);
	assert_int_equal(docsis_concatenation_write(255, DOCSIS_LEN_MAX, out), 6);
	assert_int_equal(docsis_mac_parse(out, DOCSIS_FRAME_MAX, &mac), DOCSIS_OK);
	assert_int_equal(mac.frame_size, DOCSIS_FRAME_MAX);
}

ALL_TESTS(guard_group_open, guard_group_close)
