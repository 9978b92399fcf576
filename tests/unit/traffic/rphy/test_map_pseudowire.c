/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that modems reassemble messages of MAP pseudowires that exceed one packet. */

#include "granting_kit.h"
#include "test_main.h"
#include "wire/management.h"
#include "wire/map.h"
#include "wire/psp.h"

#define CHANNEL 0
#define ELEMENTS 400
#define SIZE (36 + 4 * ELEMENTS) /* bytes of the message */
#define LONGEST MANAGEMENT_MESSAGE_MAX
#define MTU_PART 1400 /* bytes of the message in the first of two packets */

static uint8_t message[MANAGEMENT_MESSAGE_MAX];

/* Writes a MAP of version 5 that grants all minislots to an unknown SID. */
static void make_message(void) {
	struct map map = {.version = 5, .count = ELEMENTS, .alloc_start = 1000};
	struct management m = {.version = 5, .type = MANAGEMENT_MAP};
	uint8_t body[MAP_BODY_MAX];

	for (uint16_t i = 0; i < ELEMENTS; i++)
		map.elements[i] = (struct map_element){0x3000, i, MAP_LONG};
	map.elements[ELEMENTS - 1] = (struct map_element){0, ELEMENTS - 1, MAP_NULL};
	m.body = body;
	m.body_size = map_write(body, sizeof(body), &map);
	assert_int_equal(management_write(&m, message, sizeof(message)), SIZE);
}

static struct rte_mbuf *make_packet(size_t at, size_t length, bool first, bool last) {
	struct rte_mbuf *m = granting_kit_packet(CHANNEL, message + at, length);
	uint8_t *end = rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len);

	psp_entry_write(end - length - PSP_ENTRY_SIZE, first, last, (uint16_t)length);
	return m;
}

/* A packet with bytes `from` to `to` of the message; LOST: a lost packet. */
struct step {
	size_t from, to;
	bool first, last;
};

#define HEAD {0, MTU_PART, .first = true}
#define TAIL {MTU_PART, SIZE, .last = true}
#define WHOLE {0, SIZE, .first = true, .last = true}
#define LOST {0}

static const struct {
	const char *name;
	struct step steps[8];
	unsigned count;
	uint64_t maps, incomplete, missing; /* expected counters of the modems */
} cases[] = {
	{"a long MAP in two packets", {HEAD, TAIL}, 2, 1, 0, 0},
	{"in three packets", {{0, 100, .first = true}, {100, MTU_PART}, TAIL, WHOLE}, 4, 2, 0, 0},
	{"a lost packet",
	 {{0, 100, .first = true}, LOST, {800, MTU_PART}, TAIL, HEAD, TAIL},
	 6,
	 1,
	 1,
	 1},
	{"the last part is missing", {HEAD, LOST, HEAD, TAIL, HEAD, WHOLE}, 6, 2, 2, 1},
	{"the first part is missing", {{0, 100}, TAIL, TAIL, HEAD, TAIL}, 5, 1, 2, 0},
	{"longer than any message",
	 {{0, SIZE, .first = true},
	  {0, LONGEST - SIZE},
	  {0, LONGEST - SIZE},
	  {0, LONGEST - SIZE},
	  {0, 1, .last = true},
	  HEAD,
	  TAIL},
	 7,
	 1,
	 1,
	 0},
};

static void send_step(const struct step *s) {
	if (s->to == 0)
		granting_sequence[CHANNEL]++;
	else
		granting_kit_receive(make_packet(s->from, s->to - s->from, s->first, s->last));
}

static void start(void) {
	granting_kit_start("84", 1000000);
	make_message();
}

/* Asserts the modems' counters. */
static void assert_counts(uint64_t maps, uint64_t incomplete, uint64_t missing) {
	struct grants_result result;

	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.maps, maps);
	assert_int_equal(result.maps_incomplete, incomplete);
	assert_int_equal(result.maps_missing, missing);
	assert_int_equal(result.maps_bad, 0);
	assert_int_equal(result.use[0].data + result.use[1].data, maps * (ELEMENTS - 1));
}

TEST(messages_are_reassembled) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		print_message("  %s\n", cases[i].name);
		uplink_kit_tear_down(state);
		uplink_kit_set_up(state);
		start();
		for (unsigned n = 0; n < cases[i].count; n++)
			send_step(&cases[i].steps[n]);
		assert_counts(cases[i].maps, cases[i].incomplete, cases[i].missing);
	}
}

TEST(pseudowires_reassemble_independently) {
	start();
	send_step(&(struct step)HEAD);
	granting_kit_receive(granting_kit_packet(1, message, SIZE));
	send_step(&(struct step)TAIL);
	assert_counts(2, 0, 0);
}

/* Whole messages in a late packet are processed; a part of a message is discarded. */
TEST(late_part_is_discarded) {
	struct rte_mbuf *late;

	start();
	send_step(&(struct step)HEAD);
	late = make_packet(MTU_PART, SIZE - MTU_PART, false, true);
	send_step(&(struct step)HEAD);
	granting_kit_receive(late);
	send_step(&(struct step)TAIL);
	assert_counts(1, 1, 0);
}

EACH_TEST(uplink_kit_set_up, uplink_kit_tear_down)
ALL_TESTS(uplink_kit_open, uplink_kit_close)
