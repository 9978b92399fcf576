/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of MAP pseudowires that do not fit one packet. */

#include "granting_kit.h"
#include "test_main.h"
#include "wire/management.h"
#include "wire/map.h"
#include "wire/psp.h"

#define CHANNEL 0
#define ELEMENTS 400
#define SIZE (36 + 4 * ELEMENTS) /* of the message */
#define LONGEST MANAGEMENT_MESSAGE_MAX
#define MTU_PART 1400 /* what the core puts into the first of two packets, about */

static uint8_t message[MANAGEMENT_MESSAGE_MAX];

/* A MAP of version 5 that gives every minislot to a SID that no modem has. */
static void message_make(void) {
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

static struct rte_mbuf *packet(size_t at, size_t length, bool first, bool last) {
	struct rte_mbuf *m = granting_kit_packet(CHANNEL, message + at, length);
	uint8_t *end = rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len);

	psp_entry_write(end - length - PSP_ENTRY_SIZE, first, last, (uint16_t)length);
	return m;
}

/* A packet with a part of the message; LOST: one that never comes. */
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
	uint64_t maps, torn, missing; /* what the modems make of it */
} cases[] = {
	{"a long MAP in two packets", {HEAD, TAIL}, 2, 1, 0, 0},
	{"and in three", {{0, 100, .first = true}, {100, MTU_PART}, TAIL, WHOLE}, 4, 2, 0, 0},
	{"with a gap",
	 {{0, 100, .first = true}, LOST, {800, MTU_PART}, TAIL, HEAD, TAIL},
	 6,
	 1,
	 1,
	 1},
	{"without its end", {HEAD, LOST, HEAD, TAIL, HEAD, WHOLE}, 6, 2, 2, 1},
	{"without its begin", {{0, 100}, TAIL, TAIL, HEAD, TAIL}, 5, 1, 2, 0},
	{"that grows without end",
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

static void hand(const struct step *s) {
	if (s->to == 0)
		granting_sequence[CHANNEL]++;
	else
		granting_kit_hand(packet(s->from, s->to - s->from, s->first, s->last));
}

static void hear_begin(void) {
	granting_kit_start("84", 1000000);
	message_make();
}

/* Ends the test: what the modems made of the packets. */
static void heard(uint64_t maps, uint64_t torn, uint64_t missing) {
	struct grants_result result;

	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.maps, maps);
	assert_int_equal(result.maps_torn, torn);
	assert_int_equal(result.maps_missing, missing);
	assert_int_equal(result.maps_bad, 0);
	assert_int_equal(result.use[0].data + result.use[1].data, maps * (ELEMENTS - 1));
}

TEST(messages_are_put_together) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		print_message("  %s\n", cases[i].name);
		uplink_kit_end(state);
		uplink_kit_begin(state);
		hear_begin();
		for (unsigned n = 0; n < cases[i].count; n++)
			hand(&cases[i].steps[n]);
		heard(cases[i].maps, cases[i].torn, cases[i].missing);
	}
}

TEST(each_pseudowire_has_its_own) {
	hear_begin();
	hand(&(struct step)HEAD);
	granting_kit_hand(granting_kit_packet(1, message, SIZE));
	hand(&(struct step)TAIL);
	heard(2, 0, 0);
}

/* Whole ones of a packet that was passed over are heard; its parts have nothing to be joined with. */
TEST(a_part_that_comes_behind_the_next_is_torn) {
	struct rte_mbuf *late;

	hear_begin();
	hand(&(struct step)HEAD);
	late = packet(MTU_PART, SIZE - MTU_PART, false, true);
	hand(&(struct step)HEAD);
	granting_kit_hand(late);
	hand(&(struct step)TAIL);
	heard(1, 1, 0);
}

EACH_TEST(uplink_kit_begin, uplink_kit_end)
ALL_TESTS(uplink_kit_open, uplink_kit_close)
