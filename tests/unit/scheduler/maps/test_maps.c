/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the model of the upstream scheduler does not have: admission, more flows than a MAP has elements, and the end
 * of time. The model makes all other MAPs.
 */
#include "maps_kit.h"
#include "test_main.h"

static const struct maps_flow best_effort = {.header_bytes = 8};

/* More flows than a MAP has elements, each with little: all have their turn, and those that wait are told. */
TEST(more_flows_than_elements) {
	struct kit k;

	kit_create_alike(&k, kit_ofdma(1), 1, 2000);
	for (uint32_t i = 0; i < 2000; i++) {
		assert_null(kit_flow(&k, i, 1, best_effort));
		kit_ask(&k, i, 88);
	}
	for (int i = 1; i <= 5; i++) {
		kit_next(&k);
		assert_int_equal(kit_counts(&k).granted_bytes, i < 5 ? i * 425 * 88 : 2000 * 88);
	}
	assert_int_equal(kit_counts(&k).pendings, 4 * 61);
	kit_free(&k);
}

/* Who was heard on a channel whose MAP is full of elements is told on another of its channels. */
TEST(full_channels_leave_it_to_others) {
	const uint32_t both = 600;
	struct kit k;

	kit_create_alike(&k, kit_ofdma(1), 2, both + 1);
	for (uint32_t i = 0; i <= both; i++) {
		assert_null(kit_flow(&k, i, i < both ? 1 : 3, best_effort));
		kit_ask(&k, i, i < both ? 88 : 1 << 20);
	}
	kit_next(&k);
	assert_int_equal(k.pendings[0][both + 1], 0);
	assert_int_equal(k.pendings[1][both + 1], 1);
	kit_free(&k);
}

/* Sets flows on two channels until one is refused. Returns how many were taken. */
static uint32_t admit(struct kit *k, struct maps_channel channel, struct maps_flow flow) {
	uint32_t flows = 0;

	kit_create_alike(k, channel, 2, 1000);
	while (kit_flow(k, flows, 3, flow) == NULL)
		flows++;
	return flows;
}

TEST(what_is_promised_is_no_more_than_there_is) {
	const struct maps_flow voice = {
		.type = MAPS_UNSOLICITED,
		.grant_interval = MS(20),
		.grant_jitter = US(800),
		.grant_bytes = 232,
		.grants = 1,
		.header_bytes = 8,
	};
	struct kit r;
	uint32_t flows = admit(&r, kit_sc_qam(1), voice);

	/* 160 000 minislots a second, less 4 000 for requests, and of these seven eighths; 600 for each */
	assert_in_range(flows, 2 * 226, 2 * 228);
	kit_run(&r, r.now + MS(2000));
	assert_int_equal(kit_counts(&r).missed, 0);
	for (uint32_t i = 0; i < flows; i++)
		assert_in_range(kit_granted(&r, i), 98 * 12, 101 * 12);
	assert_null(kit_flow(&r, 0, 0, voice)); /* what one gives up another may have */
	assert_null(kit_flow(&r, flows, 3, voice));
	assert_non_null(kit_flow(&r, 0, 3, voice));
	assert_null(kit_flow(&r, 5, 3, voice)); /* its own place is its own */
	kit_free(&r);
}

/* Reservations, too, and all of them are kept beside a greedy flow. */
TEST(reservations_are_no_more_than_there_is) {
	const struct maps_flow f = {.reserved = 10000000, .header_bytes = 8};
	struct kit r;
	uint32_t flows = admit(&r, kit_ofdma(1), f);

	assert_in_range(flows, 130, 133); /* of 668 Mbps each */
	assert_null(kit_flow(&r, flows, 3, best_effort));
	for (int i = 0; i < 500; i++) {
		for (uint32_t k = 0; k <= flows; k++)
			kit_ask(&r, k, k == flows ? 500000 : 4000);
		kit_next(&r);
	}
	for (uint32_t i = 0; i < flows; i++)
		assert_true(kit_granted(&r, i) * 48 >= 500 * 2025 * 10 / 8 * 99 / 100);
	kit_free(&r);
}

/* The last of times is as good as any. */
TEST(time_has_an_end) {
	static struct map map;
	uint32_t channel, maps = 0;
	struct kit r;

	kit_create_alike(&r, kit_sc_qam(1), 4, 20);
	for (uint32_t i = 0; i < 20; i++)
		kit_flow(&r, i, 15,
			 (struct maps_flow){.type = (enum maps_type)(i % 6),
					    .poll_interval = (uint32_t)MS(10),
					    .grant_interval = (uint32_t)MS(10),
					    .grant_bytes = 100,
					    .grants = 1,
					    .guaranteed_rate = 1000,
					    .sustained = 1000});
	for (int i = 0; i < 3; i++) {
		kit_ask(&r, 0, 1000000);
		while ((channel = maps_make(r.m, UINT64_MAX, &map)) != MAPS_NONE)
			maps++;
	}
	assert_true(maps <= 4);
	assert_in_range(maps_due(r.m), UINT64_C(1) << 62, (UINT64_C(1) << 62) + MS(3));
	assert_true(kit_counts(&r).late > 1000000);
	kit_check_counts(&r);
	kit_free(&r);
}
