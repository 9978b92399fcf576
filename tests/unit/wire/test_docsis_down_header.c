/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "wire/docsis_mac.h"
#include "wire_kit.h"

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

/* Writes the header of a PDU in front of the forbidden page, and reads it. */
static void check_header(const struct docsis_down_header *h, size_t pdu) {
	size_t size = docsis_down_header_size(h);
	uint8_t *out = guard_take(&guard, size + pdu);
	struct docsis_mac mac;

	assert_int_equal(docsis_down_header_write(h, pdu, out), size);
	assert_int_equal(docsis_mac_parse(out, size + pdu, &mac), DOCSIS_OK);
	assert_read_back(h, &mac);
	assert_int_equal(mac.header_size, size);
	assert_int_equal(mac.frame_size, size + pdu);
	assert_int_equal(mac.pdu_size, pdu);
	assert_ptr_equal(mac.pdu, out + size);
}

/* As in the structure: BP_DOWN, EN, key, SAID, and DS EHDR, priority, change, DSID, sequence. */
TEST(writes_the_published_headers) {
	static const struct {
		const char *name;
		struct docsis_down_header h;
	} cases[] = {
		{"pdu_92", {false}},
		{"ds_ehdr", {false, false, 0, 0, DS_EHDR_SEQUENCE, 3, true, 0xabcde, 0x1234}},
		{"bp_down_ds_ehdr", {true, true, 5, 0x123, DS_EHDR_SEQUENCE, 3, false, 0x12345, 7}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		size_t size = docsis_down_header_size(&cases[i].h);

		docsis_down_header_write(&cases[i].h, 92, guard_take(&guard, size));
		is_vector("docsis.txt", cases[i].name, size);
	}
}

/* Every layout with the lowest, the highest and a mixed value in every field. */
TEST(reads_back_what_it_writes) {
	static const struct docsis_down_header values[] = {
		{false},
		{false, true, 15, DOCSIS_SAID_MASK, 0, 7, true, DOCSIS_DSID_MASK, 0xffff},
		{false, true, 10, 0x2001, 0, 5, false, 0x81001},
	};
	static const size_t sizes[] = {0, 1, 64, DOCSIS_PDU_MAX};

	for (unsigned layout = 0; layout < 8; layout++) {
		for (size_t v = 0; v < ARRAY_COUNT(values); v++) {
			struct docsis_down_header h = values[v];

			h.privacy = layout & 1;
			h.ds = (enum docsis_ds_ehdr)(layout >> 1);
			for (size_t s = 0; s < ARRAY_COUNT(sizes); s++)
				check_header(&h, sizes[s]);
		}
	}
}

TEST(cuts_values_to_their_fields) {
	static const struct docsis_down_header
		wide = {true, false, 0xf2, 0xffff, DS_EHDR_SEQUENCE, 0, false, 0xffffffff},
		cut = {true,  false,	       2, DOCSIS_SAID_MASK, DS_EHDR_SEQUENCE, 0,
		       false, DOCSIS_DSID_MASK};
	uint8_t out[2][DOCSIS_DOWN_HEADER_MAX];

	assert_int_equal(docsis_down_header_write(&wide, 0, out[0]), sizeof(out[0]));
	assert_int_equal(docsis_down_header_write(&cut, 0, out[1]), sizeof(out[1]));
	assert_memory_equal(out[0], out[1], sizeof(out[0]));
}

TEST(refuses_what_len_cannot_hold) {
	struct docsis_down_header h = {.privacy = true, .ds = DS_EHDR_SEQUENCE};
	size_t most = DOCSIS_LEN_MAX - (DOCSIS_DOWN_HEADER_MAX - DOCSIS_MAC_HEADER);
	uint8_t *out = guard_take(&guard, DOCSIS_DOWN_HEADER_MAX);
	struct docsis_mac mac;

	assert_int_equal(docsis_down_header_write(&h, most + 1, out), 0);
	assert_int_equal(docsis_down_header_write(&h, SIZE_MAX, out), 0);
	untouched(out, DOCSIS_DOWN_HEADER_MAX);
	check_header(&h, most);
	assert_int_equal(docsis_mac_parse(guard.base + guard.room - DOCSIS_FRAME_MAX,
					  DOCSIS_FRAME_MAX - 1, &mac),
			 DOCSIS_TRUNCATED);
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
