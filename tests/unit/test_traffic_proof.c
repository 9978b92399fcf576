/* SPDX-License-Identifier: BSD-3-Clause */
/* Every mistake that a CMTS can make with a packet is counted under its name, as one packet. */
#include "test_traffic_rig.h"

#define PACKETS 64
#define MIX "84:1,256:1,1280:1,1900:1"

static struct rig rig;
static struct rig_frame frames[PACKETS];

static int open_rig(void **state) {
	(void)state;
	rig_open(&rig);
	return 0;
}

static int close_rig(void **state) {
	(void)state;
	rig_close(&rig);
	return 0;
}

static void send_all(void) {
	for (unsigned i = 0; i < PACKETS; i++)
		rig_send_frame(&rig, &frames[i]);
}

static void assert_nothing_wrong(const struct traffic_result *r) {
	assert_int_equal(r->sent, PACKETS);
	assert_int_equal(r->proven, PACKETS);
	assert_true(traffic_result_good(r));
	for (int i = 0; i < UNEXPECTEDS; i++)
		assert_int_equal(r->unexpected[i], 0);
}

static void good_packets_are_proven(void **state) {
	struct traffic_result r;

	(void)state;
	rig_start(&rig, MIX, 1);
	rig_take(&rig, frames, PACKETS, NULL);
	send_all();
	r = rig_finish(&rig);
	assert_nothing_wrong(&r);
	assert_int_equal(r.proven_bytes, r.sent_bytes);
	assert_int_equal(r.sent_by_class[CLASS_PERMIT], PACKETS / 10);
	assert_true(r.latency_us.p50 > 0 && r.latency_us.p50 <= r.latency_us.max);
	assert_true(r.gbps > 0);
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
	{"short by a byte", {.wire = one_byte_less}, CORRUPTION_LENGTH},
	{"long by a byte", {.wire = one_byte_more}, CORRUPTION_LENGTH},
	{"unknown destination", {.plain = unknown_mac}, CORRUPTION_DESTINATION},
	{"channel of others", {.wire = foreign_channel}, CORRUPTION_CHANNEL},
	{"SAID", {.header = wrong_said}, CORRUPTION_PRIVACY},
	{"key sequence", {.header = wrong_key_sequence}, CORRUPTION_PRIVACY},
	{"not encrypted", {.header = not_encrypted}, CORRUPTION_PRIVACY},
	{"other modem", {.plain = other_modem}, CORRUPTION_PRIVACY},
	{"DSID of nobody", {.header = wrong_dsid}, CORRUPTION_DSID},
	{"DSID without sequence", {.header = no_sequence}, CORRUPTION_DS_EHDR},
	{"priority", {.header = wrong_priority}, CORRUPTION_DS_EHDR},
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
	{"priority, not bonded", {.modem = 1, .flow = 1, .header = wrong_priority}, CORRUPTION_STREAM},
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
		assert_int_equal(r.corrupted, 1);
		assert_int_equal(r.corrupted_by[faults[i].expected], 1);
		assert_int_equal(r.lost + r.duplicated + r.reordered, 0);
		assert_false(traffic_result_good(&r));
	}
}

/* Frames in the rig's order, with one of modem and flow to do something with. */
static unsigned start_with_victim(uint32_t modem, uint32_t flow) {
	struct rig_fault nothing = {.modem = modem, .flow = flow};

	rig_start(&rig, "256", 7);
	return rig_take(&rig, frames, PACKETS, &nothing);
}

/* The next packet of the same modem and flow. */
static unsigned follower(unsigned victim) {
	for (unsigned i = victim + 1; i < PACKETS; i++) {
		if (frames[i].modem == frames[victim].modem && frames[i].flow == frames[victim].flow)
			return i;
	}
	fail();
	return 0;
}

static void lost_packets_are_counted(void **state) {
	static const uint32_t modems[] = {0, 1, 2};

	(void)state;
	for (size_t m = 0; m < ARRAY_COUNT(modems); m++) {
		unsigned victim = start_with_victim(modems[m], 0);
		struct traffic_result r;

		for (unsigned i = 0; i < PACKETS; i++) {
			if (i != victim)
				rig_send_frame(&rig, &frames[i]);
		}
		r = rig_finish(&rig);
		assert_int_equal(r.proven, PACKETS - 1);
		assert_int_equal(r.lost, 1);
		assert_int_equal(r.corrupted + r.duplicated + r.reordered, 0);
		assert_false(traffic_result_good(&r));
	}
}

static void everything_lost_is_lost(void **state) {
	struct traffic_result r;

	(void)state;
	rig_start(&rig, MIX, 3);
	rig_take(&rig, frames, PACKETS, NULL);
	r = rig_finish(&rig);
	assert_int_equal(r.lost, PACKETS);
	assert_int_equal(r.proven, 0);
}

static void duplicates_are_counted(void **state) {
	(void)state;
	for (uint32_t modem = 0; modem < RIG_MODEMS; modem++) {
		unsigned victim = start_with_victim(modem, 0);
		struct traffic_result r;

		for (unsigned i = 0; i < PACKETS; i++) {
			rig_send_frame(&rig, &frames[i]);
			if (i == victim)
				rig_send_frame(&rig, &frames[i]);
		}
		r = rig_finish(&rig);
		assert_int_equal(r.proven, PACKETS);
		assert_int_equal(r.duplicated, 1);
		assert_int_equal(r.lost + r.corrupted + r.reordered, 0);
		assert_false(traffic_result_good(&r));
	}
}

/* The second copy comes while the first still waits for an earlier packet. */
static void duplicates_of_waiting_packets_are_counted(void **state) {
	unsigned victim = start_with_victim(0, 0);
	unsigned next = follower(victim);
	struct traffic_result r;

	(void)state;
	for (unsigned i = 0; i < PACKETS; i++) {
		if (i != victim)
			rig_send_frame(&rig, &frames[i]);
		if (i == next) {
			rig_send_frame(&rig, &frames[next]);
			rig_send_frame(&rig, &frames[victim]);
		}
	}
	r = rig_finish(&rig);
	assert_int_equal(r.proven, PACKETS);
	assert_int_equal(r.duplicated, 1);
	assert_int_equal(r.lost + r.corrupted + r.reordered, 0);
}

/* A copy that is damaged is no packet that was sent. */
static void damaged_duplicates_are_duplicates(void **state) {
	unsigned victim = start_with_victim(0, 0);
	struct traffic_result r;

	(void)state;
	send_all();
	crc_bit(&frames[victim]);
	rig_send_frame(&rig, &frames[victim]);
	r = rig_finish(&rig);
	assert_int_equal(r.proven, PACKETS);
	assert_int_equal(r.duplicated, 1);
	assert_int_equal(r.corrupted_by[CORRUPTION_CRC], 1);
	assert_int_equal(r.lost + r.corrupted + r.reordered, 0);
	assert_false(traffic_result_good(&r));
}

static void send_swapped(unsigned a, unsigned b) {
	for (unsigned i = 0; i < PACKETS; i++)
		rig_send_frame(&rig, &frames[i == a ? b : i == b ? a : i]);
}

static void bonded_packets_are_resequenced(void **state) {
	unsigned victim = start_with_victim(0, 0);
	struct traffic_result r;

	(void)state;
	send_swapped(victim, follower(victim));
	r = rig_finish(&rig);
	assert_nothing_wrong(&r);
	assert_int_equal(r.resequenced, 1);
	assert_int_equal(r.resequencing_deepest, 2);
	assert_int_equal(r.resequencing_given_up, 0);
}

static void swapped_packets_of_one_channel_are_reordered(void **state) {
	unsigned victim = start_with_victim(1, 0);
	struct traffic_result r;

	(void)state;
	send_swapped(victim, follower(victim));
	r = rig_finish(&rig);
	assert_int_equal(r.proven, PACKETS);
	assert_int_equal(r.reordered, 1);
	assert_int_equal(r.lost + r.corrupted + r.duplicated, 0);
	assert_false(traffic_result_good(&r));
}

static uint16_t reused_number;

static void reuse_number(struct docsis_down_header *h) {
	h->sequence = reused_number;
}

/* Two packets under one number: a modem delivers the first and discards the second. */
static void a_number_used_twice_is_a_wrong_dsid(void **state) {
	struct rig_fault fault = {.header = reuse_number};
	struct traffic_result r;

	(void)state;
	reused_number = 1;
	rig_start(&rig, "256", 9);
	rig_take(&rig, frames, PACKETS, &fault);
	send_all();
	r = rig_finish(&rig);
	assert_int_equal(r.proven, PACKETS - 1);
	assert_int_equal(r.corrupted, 1);
	assert_int_equal(r.corrupted_by[CORRUPTION_DSID], 1);
	assert_int_equal(r.lost + r.duplicated + r.reordered, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_packets_are_proven),
		cmocka_unit_test(each_fault_is_named_and_counts_once),
		cmocka_unit_test(lost_packets_are_counted),
		cmocka_unit_test(everything_lost_is_lost),
		cmocka_unit_test(duplicates_are_counted),
		cmocka_unit_test(duplicates_of_waiting_packets_are_counted),
		cmocka_unit_test(damaged_duplicates_are_duplicates),
		cmocka_unit_test(bonded_packets_are_resequenced),
		cmocka_unit_test(swapped_packets_of_one_channel_are_reordered),
		cmocka_unit_test(a_number_used_twice_is_a_wrong_dsid),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}
