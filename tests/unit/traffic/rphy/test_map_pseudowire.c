/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of MAP pseudowires that do not fit one packet. */
#include <string.h>

#include "granting_rig.h"
#include "test.h"
#include "uplink_group.h"
#include "wire/management.h"
#include "wire/map.h"
#include "wire/psp.h"

#define CHANNEL 0
#define ELEMENTS 400
#define MTU_PART 1400 /* what the core puts into the first of two packets, about */

static struct granting_rig granting;
static uint8_t message[MANAGEMENT_MESSAGE_MAX];
static size_t size;

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
	size = management_write(&m, message, sizeof(message));
	assert_int_equal(size, 36 + 4 * ELEMENTS);
}

static struct rte_mbuf *packet(size_t at, size_t length, bool first, bool last) {
	struct rte_mbuf *m = granting_rig_packet(&granting, CHANNEL, message + at, length);
	uint8_t *end = rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len);

	psp_entry_write(end - length - PSP_ENTRY_SIZE, first, last, (uint16_t)length);
	return m;
}

static void hand(size_t at, size_t length, bool first, bool last) {
	granting_rig_hand(&granting, packet(at, length, first, last));
}

static void hand_head(void) {
	hand(0, MTU_PART, true, false);
}

static void hand_tail(void) {
	hand(MTU_PART, size - MTU_PART, false, true);
}

/* A packet that never comes. */
static void lose(void) {
	granting.sequence[CHANNEL]++;
}

static void hear_begin(void) {
	granting_rig_config(&rig);
	uplink_rig_start(&rig, "84", 1000000);
	granting_rig_start(&granting, &rig);
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
	granting_rig_end(&granting);
}

static void a_long_map_comes_in_two_packets(void **state) {
	(void)state;
	hear_begin();
	hand_head();
	hand_tail();
	heard(1, 0, 0);
}

static void and_in_three(void **state) {
	(void)state;
	hear_begin();
	hand(0, 100, true, false);
	hand(100, MTU_PART - 100, false, false);
	hand_tail();
	hand(0, size, true, true);
	heard(2, 0, 0);
}

static void each_pseudowire_has_its_own(void **state) {
	(void)state;
	hear_begin();
	hand_head();
	granting_rig_hand(&granting, granting_rig_packet(&granting, 1, message, size));
	hand_tail();
	heard(2, 0, 0);
}

static void one_with_a_gap_is_torn(void **state) {
	(void)state;
	hear_begin();
	hand(0, 100, true, false);
	lose();
	hand(100 + 700, MTU_PART - 800, false, false);
	hand_tail();
	hand_head();
	hand_tail();
	heard(1, 1, 1);
}

static void one_without_its_end_is_torn(void **state) {
	(void)state;
	hear_begin();
	hand_head();
	lose();
	hand_head();
	hand_tail();
	hand_head();
	hand(0, size, true, true);
	heard(2, 2, 1);
}

static void one_without_its_begin_is_torn(void **state) {
	(void)state;
	hear_begin();
	hand(0, 100, false, false);
	hand_tail();
	hand_tail();
	hand_head();
	hand_tail();
	heard(1, 2, 0);
}

/* Whole ones of a packet that was passed over are heard; its parts have nothing to be joined with. */
static void a_part_that_comes_behind_the_next_is_torn(void **state) {
	struct rte_mbuf *late;

	(void)state;
	hear_begin();
	hand_head();
	late = packet(MTU_PART, size - MTU_PART, false, true);
	hand_head();
	granting_rig_hand(&granting, late);
	hand_tail();
	heard(1, 1, 0);
}

static void none_grows_without_end(void **state) {
	(void)state;
	hear_begin();
	hand(0, size, true, false);
	for (unsigned i = 0; i < 3; i++)
		hand(0, sizeof(message) - size, false, false);
	hand(0, 1, false, true);
	hand_head();
	hand_tail();
	heard(1, 1, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_long_map_comes_in_two_packets, begin, end),
		cmocka_unit_test_setup_teardown(and_in_three, begin, end),
		cmocka_unit_test_setup_teardown(each_pseudowire_has_its_own, begin, end),
		cmocka_unit_test_setup_teardown(one_with_a_gap_is_torn, begin, end),
		cmocka_unit_test_setup_teardown(one_without_its_end_is_torn, begin, end),
		cmocka_unit_test_setup_teardown(one_without_its_begin_is_torn, begin, end),
		cmocka_unit_test_setup_teardown(a_part_that_comes_behind_the_next_is_torn, begin,
						end),
		cmocka_unit_test_setup_teardown(none_grows_without_end, begin, end),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}
