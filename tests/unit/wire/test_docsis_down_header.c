/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "guard_group.h"
#include "vectors.h"
#include "wire/docsis_mac.h"

TEST(writes_the_published_headers) {
	static const struct {
		const char *name;
		struct docsis_down_header h;
	} cases[] = {
		{"pdu_92", {.ds = DS_EHDR_NONE}},
		{"ds_ehdr",
		 {.ds = DS_EHDR_SEQUENCE,
		  .priority = 3,
		  .sequence_change = true,
		  .dsid = 0xabcde,
		  .sequence = 0x1234}},
		{"bp_down_ds_ehdr",
		 {.privacy = true,
		  .encrypted = true,
		  .key_sequence = 5,
		  .said = 0x123,
		  .ds = DS_EHDR_SEQUENCE,
		  .priority = 3,
		  .dsid = 0x12345,
		  .sequence = 7}},
	};
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		vector_get("docsis.txt", cases[i].name, &v);

		uint8_t *out = guard_take(&guard, v.size);

		assert_int_equal(docsis_down_header_size(&cases[i].h), v.size);
		assert_int_equal(docsis_down_header_write(&cases[i].h, 92, out), v.size);
		assert_memory_equal(out, v.bytes, v.size);
	}
}

static void assert_read_back(const struct docsis_down_header *h, const struct docsis_mac *mac) {
	assert_int_equal(mac->kind, DOCSIS_KIND_PACKET);
	assert_int_equal(mac->privacy, h->privacy ? PRIVACY_BP_DOWN : PRIVACY_NONE);
	if (h->privacy) {
		assert_int_equal(mac->encrypted, h->encrypted);
		assert_int_equal(mac->key_sequence, h->key_sequence);
		assert_int_equal(mac->toggle, h->key_sequence & 1);
		assert_int_equal(mac->privacy_version, DOCSIS_PRIVACY_VERSION);
		assert_int_equal(mac->said_or_sid, h->said);
	}
	assert_int_equal(mac->ds, h->ds);
	assert_int_equal(mac->priority, h->ds >= DS_EHDR_PRIORITY ? h->priority : 0);
	assert_int_equal(mac->dsid, h->ds >= DS_EHDR_DSID ? h->dsid : 0);
	assert_int_equal(mac->sequence, h->ds == DS_EHDR_SEQUENCE ? h->sequence : 0);
	assert_int_equal(mac->sequence_change, h->ds == DS_EHDR_SEQUENCE && h->sequence_change);
	assert_false(mac->request);
}

/* Every layout with the lowest, the highest and a mixed value in every field. */
TEST(reads_back_what_it_writes) {
	static const struct docsis_down_header values[] = {
		{.key_sequence = 0},
		{.encrypted = true,
		 .key_sequence = 15,
		 .said = DOCSIS_SAID_MASK,
		 .priority = 7,
		 .sequence_change = true,
		 .dsid = DOCSIS_DSID_MASK,
		 .sequence = 0xffff},
		{.encrypted = true,
		 .key_sequence = 10,
		 .said = 0x2001,
		 .priority = 5,
		 .dsid = 0x80001},
	};
	static const size_t sizes[] = {0, 1, 64, DOCSIS_PDU_MAX};

	for (unsigned n = 0; n < ARRAY_COUNT(values) * ARRAY_COUNT(sizes) * 8; n++) {
		struct docsis_down_header h = values[n % ARRAY_COUNT(values)];
		size_t pdu = sizes[n / ARRAY_COUNT(values) % ARRAY_COUNT(sizes)];
		unsigned layout = n / (ARRAY_COUNT(values) * ARRAY_COUNT(sizes));
		struct docsis_mac mac;

		h.privacy = layout & 1;
		h.ds = (enum docsis_ds_ehdr)(layout >> 1);

		size_t size = docsis_down_header_size(&h);
		uint8_t *out = guard_take(&guard, size + pdu);

		assert_int_equal(docsis_down_header_write(&h, pdu, out), size);
		assert_int_equal(docsis_mac_parse(out, size + pdu, &mac), DOCSIS_OK);
		assert_read_back(&h, &mac);
		assert_int_equal(mac.header_size, size);
		assert_int_equal(mac.frame_size, size + pdu);
		assert_int_equal(mac.pdu_size, pdu);
		assert_ptr_equal(mac.pdu, out + size);
	}
}

TEST(cuts_values_to_their_fields) {
	struct docsis_down_header h = {.privacy = true,
				       .said = 0xffff,
				       .key_sequence = 0xf2,
				       .ds = DS_EHDR_SEQUENCE,
				       .dsid = 0xffffffff};
	uint8_t out[DOCSIS_DOWN_HEADER_MAX];
	struct docsis_mac mac;

	assert_int_equal(docsis_down_header_write(&h, 0, out), sizeof(out));
	assert_int_equal(docsis_mac_parse(out, sizeof(out), &mac), DOCSIS_OK);
	assert_int_equal(mac.said_or_sid, DOCSIS_SAID_MASK);
	assert_int_equal(mac.key_sequence, 2);
	assert_false(mac.encrypted);
	assert_false(mac.toggle);
	assert_int_equal(mac.dsid, DOCSIS_DSID_MASK);
	assert_int_equal(mac.priority, 0);
	assert_false(mac.sequence_change);
}

TEST(refuses_what_len_cannot_hold) {
	struct docsis_down_header h = {.privacy = true, .ds = DS_EHDR_SEQUENCE};
	size_t most = DOCSIS_LEN_MAX - (DOCSIS_DOWN_HEADER_MAX - DOCSIS_MAC_HEADER);
	uint8_t *out = guard_take(&guard, DOCSIS_DOWN_HEADER_MAX);
	struct docsis_mac mac;

	assert_int_equal(docsis_down_header_write(&h, most + 1, out), 0);
	assert_int_equal(docsis_down_header_write(&h, SIZE_MAX, out), 0);
	for (size_t i = 0; i < DOCSIS_DOWN_HEADER_MAX; i++)
		assert_int_equal(out[i], 0xaa);

	out = guard_take(&guard, DOCSIS_FRAME_MAX);
	assert_int_equal(docsis_down_header_write(&h, most, out), DOCSIS_DOWN_HEADER_MAX);
	assert_int_equal(docsis_mac_parse(out, DOCSIS_FRAME_MAX, &mac), DOCSIS_OK);
	assert_int_equal(mac.frame_size, DOCSIS_FRAME_MAX);
	assert_int_equal(docsis_mac_parse(out, DOCSIS_FRAME_MAX - 1, &mac), DOCSIS_TRUNCATED);
}

/* The fast path writes a header once and then sets LEN, sequence and HCS only. */
TEST(patches_like_a_fresh_header) {
	struct docsis_down_header h = {.privacy = true, .encrypted = true, .ds = DS_EHDR_SEQUENCE};
	uint8_t patched[DOCSIS_DOWN_HEADER_MAX];
	uint8_t fresh[DOCSIS_DOWN_HEADER_MAX];

	docsis_down_header_write(&h, 0, patched);
	for (unsigned n = 0; n < 70000; n += 371) {
		h.sequence = (uint16_t)n;
		docsis_down_header_write(&h, n % 2000, fresh);
		docsis_len_patch(patched, sizeof(patched), n % 2000);
		docsis_sequence_patch(patched, sizeof(patched), h.sequence);
		docsis_hcs_write(patched, sizeof(patched) - DOCSIS_HCS_SIZE);
		assert_memory_equal(patched, fresh, sizeof(fresh));
	}
}

ALL_TESTS(guard_group_open, guard_group_close)
