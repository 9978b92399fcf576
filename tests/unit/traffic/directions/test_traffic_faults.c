/* SPDX-License-Identifier: BSD-3-Clause */
/* Every mistake that a CMTS can make with a packet is counted under its name, as one packet. */
#include "test.h"
#include "traffic_group.h"

#define PACKETS 64

static struct rig_frame frames[PACKETS];

static void send_all(void) {
	for (unsigned i = 0; i < PACKETS; i++)
		rig_send_frame(&rig, &frames[i]);
}

static void wrong_dsid(struct docsis_down_header *h) {
	h->dsid = 0x77;
}

static void other_flows_dsid(struct docsis_down_header *h) {
	h->dsid = 2;
	h->priority = 5;
	h->sequence = 1000;
}

static void wrong_priority(struct docsis_down_header *h) {
	h->priority ^= 1;
}

static void no_sequence(struct docsis_down_header *h) {
	h->ds = DS_EHDR_DSID;
}

static void wrong_said(struct docsis_down_header *h) {
	h->said ^= 0x2000;
}

static void wrong_key_sequence(struct docsis_down_header *h) {
	h->key_sequence ^= 2;
}

static void not_encrypted(struct docsis_down_header *h) {
	h->encrypted = false;
}

static void first_payload_byte(uint8_t *frame, size_t size) {
	(void)size;
	frame[14 + 20 + 8 + 20] ^= 1;
}

static void last_payload_byte(uint8_t *frame, size_t size) {
	frame[size - 1] ^= 0x80;
}

static void source_mac_byte(uint8_t *frame, size_t size) {
	(void)size;
	frame[11] ^= 1;
}

static void ttl(uint8_t *frame, size_t size) {
	(void)size;
	frame[14 + 8]--;
}

static void ip_checksum(uint8_t *frame, size_t size) {
	(void)size;
	frame[14 + 10] ^= 1;
}

static void tag_magic(uint8_t *frame, size_t size) {
	(void)size;
	frame[14 + 20 + 8] ^= 1;
}

static void tag_sequence(uint8_t *frame, size_t size) {
	(void)size;
	frame[14 + 20 + 8 + 8] ^= 0x40;
}

static void ethertype(uint8_t *frame, size_t size) {
	(void)size;
	frame[12] = 0x88;
}

static void unknown_mac(uint8_t *frame, size_t size) {
	(void)size;
	frame[5] = 0x99;
}

static void other_modem(uint8_t *frame, size_t size) {
	(void)size;
	frame[5] = 0x03;
}

/* BP_DOWN stands first: type, key sequence, EN and toggle, SAID. */
static void wrong_toggle(struct rig_frame *f) {
	f->bytes[6] ^= 0x40;
	docsis_hcs_write(f->bytes, f->header_size - 2);
}

static void hcs_bit(struct rig_frame *f) {
	f->bytes[f->header_size - 1] ^= 0x10;
}

static void header_bit(struct rig_frame *f) {
	f->bytes[f->header_size - 3] ^= 1; /* of the sequence number */
}

static void cipher_bit(struct rig_frame *f) {
	f->bytes[f->header_size + 40] ^= 1;
}

static void crc_bit(struct rig_frame *f) {
	f->bytes[f->size - 1] ^= 1;
}

static void one_byte_less(struct rig_frame *f) {
	f->size--;
}

static void one_byte_more(struct rig_frame *f) {
	f->bytes[f->size++] = 0;
}

static void reserved_type(struct rig_frame *f) {
	f->bytes[0] = 0x41;
	docsis_hcs_write(f->bytes, f->header_size - 2);
}

static void hcs_again(struct rig_frame *f) {
	docsis_hcs_write(f->bytes, f->header_size - 2);
}

static void frame_control_parameter(struct rig_frame *f) {
	f->bytes[0] |= 2;
	hcs_again(f);
}

/* BP_DOWN stands first: its fifth byte. */
static void privacy_reserved_byte(struct rig_frame *f) {
	f->bytes[8] = 1;
	hcs_again(f);
}

/* An element of type 0, which fills up an extended header (MULPI). */
static void padding_element(struct rig_frame *f) {
	size_t behind = f->header_size - 2;

	memmove(f->bytes + behind + 1, f->bytes + behind, f->size - behind);
	f->bytes[behind] = 0;
	f->bytes[1]++;
	store_be16(f->bytes + 2, (uint16_t)(load_be16(f->bytes + 2) + 1));
	f->header_size++;
	f->size++;
	hcs_again(f);
}

/* BP_DOWN behind the DS extended header (SEC: it is the first). */
static void privacy_last(struct rig_frame *f) {
	uint8_t privacy[DOCSIS_BP_DOWN_SIZE];
	size_t rest = f->header_size - DOCSIS_MAC_HEADER - sizeof(privacy);

	memcpy(privacy, f->bytes + 4, sizeof(privacy));
	memmove(f->bytes + 4, f->bytes + 4 + sizeof(privacy), rest);
	memcpy(f->bytes + 4 + rest, privacy, sizeof(privacy));
	hcs_again(f);
}

static void numbers_anew(struct docsis_down_header *h) {
	h->sequence_change = true;
}

static void foreign_channel(struct rig_frame *f) {
	f->channel = 2;
}

static const struct {
	const char *name;
	struct rig_fault fault;
	enum corruption expected;
} faults[] = {
	{"HCS bit", {.wire = hcs_bit}, CORRUPTION_HCS},
	{"header bit", {.wire = header_bit}, CORRUPTION_HCS},
	{"reserved type", {.wire = reserved_type}, CORRUPTION_HEADER},
	{"FC_PARM", {.wire = frame_control_parameter}, CORRUPTION_HEADER},
	{"reserved byte of BP_DOWN", {.wire = privacy_reserved_byte}, CORRUPTION_HEADER},
	{"element that nobody expects", {.wire = padding_element}, CORRUPTION_HEADER},
	{"order of elements", {.wire = privacy_last}, CORRUPTION_HEADER},
	{"short by a byte", {.wire = one_byte_less}, CORRUPTION_LENGTH},
	{"long by a byte", {.wire = one_byte_more}, CORRUPTION_LENGTH},
	{"unknown destination", {.plain = unknown_mac}, CORRUPTION_DESTINATION},
	{"channel of others", {.wire = foreign_channel}, CORRUPTION_CHANNEL},
	{"SAID", {.header = wrong_said}, CORRUPTION_PRIVACY},
	{"key sequence", {.header = wrong_key_sequence}, CORRUPTION_UNDECIPHERABLE},
	{"toggle", {.wire = wrong_toggle}, CORRUPTION_PRIVACY},
	{"not encrypted", {.header = not_encrypted}, CORRUPTION_PRIVACY},
	{"other modem", {.plain = other_modem}, CORRUPTION_PRIVACY},
	{"DSID of nobody", {.header = wrong_dsid}, CORRUPTION_DSID},
	{"DSID without sequence", {.header = no_sequence}, CORRUPTION_DS_EHDR},
	{"priority", {.header = wrong_priority}, CORRUPTION_DS_EHDR},
	{"sequence change bit", {.header = numbers_anew}, CORRUPTION_DS_EHDR},
	{"wrong key", {.wrong_key = true}, CORRUPTION_CRC},
	{"encrypted bit", {.wire = cipher_bit}, CORRUPTION_CRC},
	{"clear payload bit", {.modem = 2, .wire = cipher_bit}, CORRUPTION_CRC},
	{"CRC bit", {.wire = crc_bit}, CORRUPTION_CRC},
	{"clear CRC bit", {.modem = 2, .wire = crc_bit}, CORRUPTION_CRC},
	{"CRC bit, not bonded", {.modem = 1, .wire = crc_bit}, CORRUPTION_CRC},
	{"magic", {.plain = tag_magic}, CORRUPTION_TAG},
	{"sequence of the future", {.plain = tag_sequence}, CORRUPTION_TAG},
	{"EtherType", {.plain = ethertype}, CORRUPTION_TAG},
	{"another flow's DSID", {.header = other_flows_dsid}, CORRUPTION_STREAM},
	{"priority, not bonded",
	 {.modem = 1, .flow = 1, .header = wrong_priority},
	 CORRUPTION_STREAM},
	{"source MAC", {.plain = source_mac_byte}, CORRUPTION_IP_HEADER},
	{"TTL", {.plain = ttl}, CORRUPTION_IP_HEADER},
	{"IP checksum", {.plain = ip_checksum}, CORRUPTION_IP_HEADER},
	{"first payload byte", {.plain = first_payload_byte}, CORRUPTION_PAYLOAD},
	{"last payload byte", {.plain = last_payload_byte}, CORRUPTION_PAYLOAD},
};

static void each_fault_is_named_and_counts_once(void **state) {
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(faults); i++) {
		struct traffic_result r;

		print_message("  %s\n", faults[i].name);
		rig_start(&rig, "256", i);
		rig_take(&rig, frames, PACKETS, &faults[i].fault);
		send_all();
		r = rig_finish(&rig);
		assert_int_equal(r.sent, PACKETS);
		assert_int_equal(r.proven, PACKETS - 1);
		if (faults[i].expected == CORRUPTION_UNDECIPHERABLE) {
			assert_int_equal(r.undecipherable, 1);
			assert_int_equal(r.corrupted, 0);
		} else {
			assert_int_equal(r.corrupted, 1);
			assert_int_equal(r.corrupted_by[faults[i].expected], 1);
			assert_int_equal(r.undecipherable, 0);
		}
		assert_int_equal(r.lost + r.duplicated + r.reordered, 0);
		assert_false(traffic_result_good(&r));
	}
}

/* Modems wait for it, although nothing is lost. */
static void a_number_that_no_packet_has_is_seen(void **state) {
	struct traffic_result r;

	(void)state;
	rig_start(&rig, "256", 1);
	for (unsigned half = 0; half < 2; half++) {
		rig_take(&rig, frames, PACKETS, NULL);
		send_all();
		rig.numbers[0][0]++;
	}
	r = rig_finish(&rig);
	assert_int_equal(r.proven, 2 * PACKETS);
	assert_int_equal(r.resequencing_given_up, 1);
	assert_int_equal(r.skipped, 1);
	assert_false(traffic_result_good(&r));
	r.skipped = 0;
	assert_true(traffic_result_good(&r));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fault_is_named_and_counts_once),
		cmocka_unit_test(a_number_that_no_packet_has_is_seen),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}
