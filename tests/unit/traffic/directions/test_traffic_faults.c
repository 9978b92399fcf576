/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that each fault of a CMTS in a downstream frame is counted once, as the expected corruption. */
#include "test_main.h"
#include "traffic_kit.h"

#define PACKETS 64

static struct rig_frame frames[PACKETS];

/* Inserts an element of type 0. MULPI permits this padding, but the data plane never writes it. */
static void insert_padding_element(struct rig_frame *f) {
	size_t behind = f->header_size - 2;

	memmove(f->bytes + behind + 1, f->bytes + behind, f->size - behind);
	f->bytes[behind] = 0;
	f->bytes[1]++;
	store_be16(f->bytes + 2, (uint16_t)(load_be16(f->bytes + 2) + 1));
	f->header_size++;
	f->size++;
	docsis_hcs_write(f->bytes, f->header_size - 2);
}

/* Moves BP_DOWN behind the DS extended header. SEC requires that it is first. */
static void move_privacy_last(struct rig_frame *f) {
	uint8_t privacy[DOCSIS_BP_DOWN_SIZE];
	size_t size = f->header_size - DOCSIS_MAC_HEADER - sizeof(privacy);

	memcpy(privacy, f->bytes + 4, sizeof(privacy));
	memmove(f->bytes + 4, f->bytes + 4 + sizeof(privacy), size);
	memcpy(f->bytes + 4 + size, privacy, sizeof(privacy));
	docsis_hcs_write(f->bytes, f->header_size - 2);
}

/* Where the fault is. The order selects the callback of struct rig_fault. */
enum location {
	NOWHERE, /* `fault` has the callback or the wrong key */
	/* A field of the header, before the HCS is computed. */
	SAID,
	KEY_SEQUENCE,
	NOT_ENCRYPTED,
	NO_PRIVACY,
	DSID,
	OTHER_FLOW,
	NO_SEQUENCE,
	SEQUENCE_CHANGE,
	PRIORITY,
	/* A byte of the packet, before CRC and encryption. */
	IN_PACKET,
	BEFORE_END_OF_PACKET,
	/* The encoded frame: a byte, its channel or its size. */
	IN_HEADER, /* the HCS is updated */
	BEFORE_END_OF_HEADER, /* the HCS, or a byte before it; the HCS is not updated */
	BEHIND_HEADER,
	BEFORE_END, /* the CRC */
	CHANNEL, /* modem 1's instead of modem 0's */
	SHORT,
	LONG,
};

/* Offset of the traffic program's tag in a packet: 20 bytes, with a magic number at 0 and a sequence number at 8. */
#define TAG (14 + 20 + 8)

/* Modem 0 is bonded and encrypted, 1 is encrypted but not bonded, 2 is bonded and not encrypted. */
static const struct fault {
	const char *name;
	enum corruption expected;
	struct rig_fault fault;
	enum location location;
	size_t at; /* bytes from the start; BEFORE_*: back from the end, 1 is the last byte */
	uint8_t flip; /* bits of that byte */
} faults[] = {
	{"HCS bit", CORRUPTION_HCS, {0}, BEFORE_END_OF_HEADER, 1, 0x10},
	{"bit of the sequence number", CORRUPTION_HCS, {0}, BEFORE_END_OF_HEADER, 3, 1},
	{"reserved type", CORRUPTION_HEADER, {0}, IN_HEADER, 0, 0x40},
	{"FC_PARM", CORRUPTION_HEADER, {0}, IN_HEADER, 0, 2},
	{"reserved byte of BP_DOWN", CORRUPTION_HEADER, {0}, IN_HEADER, 8, 1},
	{"unexpected element", CORRUPTION_HEADER, {.wire = insert_padding_element}},
	{"order of elements", CORRUPTION_HEADER, {.wire = move_privacy_last}},
	{"short by a byte", CORRUPTION_LENGTH, {0}, SHORT},
	{"long by a byte", CORRUPTION_LENGTH, {0}, LONG},
	{"unknown destination", CORRUPTION_DESTINATION, {0}, IN_PACKET, 5, 0x98},
	{"channel of another bonding group", CORRUPTION_CHANNEL, {0}, CHANNEL},
	{"SAID", CORRUPTION_PRIVACY, {0}, SAID},
	{"key sequence", CORRUPTION_UNDECIPHERABLE, {0}, KEY_SEQUENCE},
	{"toggle", CORRUPTION_PRIVACY, {0}, IN_HEADER, 6, 0x40},
	{"not encrypted", CORRUPTION_PRIVACY, {0}, NOT_ENCRYPTED},
	{"no BP_DOWN", CORRUPTION_PRIVACY, {0}, NO_PRIVACY},
	{"other modem", CORRUPTION_PRIVACY, {0}, IN_PACKET, 5, 2},
	{"unknown DSID", CORRUPTION_DSID, {0}, DSID},
	{"DSID without sequence", CORRUPTION_DS_EHDR, {0}, NO_SEQUENCE},
	{"priority", CORRUPTION_DS_EHDR, {0}, PRIORITY},
	{"sequence change bit", CORRUPTION_DS_EHDR, {0}, SEQUENCE_CHANGE},
	{"wrong key", CORRUPTION_CRC, {.wrong_key = true}},
	{"encrypted bit", CORRUPTION_CRC, {0}, BEHIND_HEADER, 40, 1},
	{"clear payload bit", CORRUPTION_CRC, {.modem = 2}, BEHIND_HEADER, 40, 1},
	{"CRC bit", CORRUPTION_CRC, {0}, BEFORE_END, 1, 1},
	{"clear CRC bit", CORRUPTION_CRC, {.modem = 2}, BEFORE_END, 1, 1},
	{"CRC bit, not bonded", CORRUPTION_CRC, {.modem = 1}, BEFORE_END, 1, 1},
	{"magic", CORRUPTION_TAG, {0}, IN_PACKET, TAG, 1},
	{"sequence of the future", CORRUPTION_TAG, {0}, IN_PACKET, TAG + 8, 0x40},
	{"EtherType", CORRUPTION_TAG, {0}, IN_PACKET, 12, 0x80},
	{"another flow's DSID", CORRUPTION_STREAM, {0}, OTHER_FLOW},
	{"priority, not bonded", CORRUPTION_STREAM, {.modem = 1, .flow = 1}, PRIORITY},
	{"source MAC", CORRUPTION_IP_HEADER, {0}, IN_PACKET, 11, 1},
	{"TTL", CORRUPTION_IP_HEADER, {0}, IN_PACKET, 14 + 8, 1},
	{"IP checksum", CORRUPTION_IP_HEADER, {0}, IN_PACKET, 14 + 10, 1},
	{"first payload byte", CORRUPTION_PAYLOAD, {0}, IN_PACKET, TAG + 20, 1},
	{"last payload byte", CORRUPTION_PAYLOAD, {0}, BEFORE_END_OF_PACKET, 1, 0x80},
};
static const struct fault *current;

static void change_header(struct docsis_down_header *h) {
	switch (current->location) {
	case SAID: h->said ^= 0x2000; break;
	case KEY_SEQUENCE: h->key_sequence ^= 2; break;
	case NOT_ENCRYPTED: h->encrypted = false; break;
	case NO_PRIVACY: h->privacy = h->encrypted = false; break;
	case DSID: h->dsid = 0x77; break;
	case NO_SEQUENCE: h->ds = DS_EHDR_DSID; break;
	case SEQUENCE_CHANGE: h->sequence_change = true; break;
	case PRIORITY: h->priority ^= 1; break;
	default: /* OTHER_FLOW: modem 0's second flow, with a number far ahead */
		h->dsid = 2;
		h->priority = 5;
		h->sequence = 1000;
	}
}

static void flip_in_packet(uint8_t *packet, size_t size) {
	packet[current->location == IN_PACKET ? current->at : size - current->at] ^= current->flip;
}

static void change_frame(struct rig_frame *f) {
	switch (current->location) {
	case BEFORE_END_OF_HEADER: f->bytes[f->header_size - current->at] ^= current->flip; break;
	case BEHIND_HEADER: f->bytes[f->header_size + current->at] ^= current->flip; break;
	case BEFORE_END: f->bytes[f->size - current->at] ^= current->flip; break;
	case CHANNEL: f->channel = 2; break;
	case SHORT: f->size--; break;
	case LONG: f->bytes[f->size++] = 0; break;
	default:
		f->bytes[current->at] ^= current->flip;
		docsis_hcs_write(f->bytes, f->header_size - 2);
	}
}

TEST(each_fault_is_counted_once_as_expected) {
	for (size_t i = 0; i < ARRAY_COUNT(faults); i++) {
		struct rig_fault fault = faults[i].fault;
		struct traffic_result r;
		bool undecipherable = faults[i].expected == CORRUPTION_UNDECIPHERABLE;

		current = &faults[i];
		if (current->location == IN_PACKET || current->location == BEFORE_END_OF_PACKET)
			fault.plain = flip_in_packet;
		else if (current->location >= IN_HEADER)
			fault.wire = change_frame;
		else if (current->location != NOWHERE)
			fault.header = change_header;
		print_message("  %s\n", current->name);
		rig_start(&rig, "256", i);
		rig_collect(&rig, frames, PACKETS, &fault);
		rig_send_frames(&rig, frames, PACKETS);
		r = rig_finish(&rig);
		assert_int_equal(r.sent, PACKETS);
		rig_assert_result(&r, (struct rig_errors){.corrupted = !undecipherable,
							  .undecipherable = undecipherable});
		if (!undecipherable)
			assert_int_equal(r.corrupted_by[current->expected], 1);
	}
}

/* The CMTS skips a sequence number of a DSID. No packet is lost, but the modem waits for it in vain: the run fails. */
TEST(skipped_dsid_number_is_counted) {
	struct traffic_result r;

	rig_start(&rig, "256", 1);
	for (unsigned half = 0; half < 2; half++) {
		rig_collect(&rig, frames, PACKETS, NULL);
		rig_send_frames(&rig, frames, PACKETS);
		rig.sequences[0][0]++;
	}
	r = rig_finish(&rig);
	rig_assert_result(&r, (struct rig_errors){.other = true});
	assert_int_equal(r.resequencing_given_up, 1);
	assert_int_equal(r.skipped, 1);
	r.skipped = 0;
	rig_assert_result(&r, (struct rig_errors){0});
}

ALL_TESTS(rig_open, rig_close)
