/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of the lower MAC: all records of a modem are of one generation of its key, and what has the old one passes. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "downstream/change/internal.h"

#define MODEMS 200
#define FLOWS 7 /* of a modem: no multiple of them is the number of records that a step writes */
#define OLD 1
#define NEW 2

static struct downstream *downstream_with(struct ds_flow **flows) {
	struct downstream *d =
		aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(sizeof(*d), RTE_CACHE_LINE_SIZE));

	*flows = aligned_alloc(RTE_CACHE_LINE_SIZE, MODEMS * FLOWS * sizeof(**flows));
	assert_true(d != NULL && *flows != NULL);
	memset(d, 0, sizeof(*d));
	memset(*flows, 0, MODEMS * FLOWS * sizeof(**flows));
	for (unsigned f = 0; f < MODEMS * FLOWS; f++)
		(*flows)[f].hcs = OLD;
	d->tables.flows = *flows;
	return d;
}

static unsigned modems_of_generation(const struct ds_flow *flows, uint16_t hcs) {
	unsigned modems = 0;

	for (unsigned m = 0; m < MODEMS; m++) {
		for (unsigned f = 1; f < FLOWS; f++)
			assert_int_equal(flows[m * FLOWS + f].hcs, flows[m * FLOWS].hcs);
		modems += flows[m * FLOWS].hcs == hcs;
	}
	return modems;
}

static void records_of_a_modem_change_in_one_step(void **state) {
	static struct ds_flow_write writes[MODEMS * FLOWS];
	struct ds_flow *flows;
	struct downstream *d = downstream_with(&flows);
	struct ds_change c = {.d = d};
	unsigned steps = 1, written = 0;

	(void)state;
	for (unsigned f = 0; f < MODEMS * FLOWS; f++)
		writes[f] = (struct ds_flow_write){{.hcs = NEW}, f, f / FLOWS};
	c.writes.list = writes;
	c.writes.count = MODEMS * FLOWS;
	for (; !ds_change_lower(&c); steps++) {
		unsigned now = modems_of_generation(flows, NEW);

		assert_true(now > written);
		written = now;
	}
	assert_int_equal(modems_of_generation(flows, NEW), MODEMS);
	assert_true(steps > 2);
	free(flows);
	free(d);
}

/* Frames in the ring and in the crypto provider have the key that is freed behind them. */
static void frames_on_their_way_are_waited_for(void **state) {
	struct crypto_queue crypto = {.held = 0};
	struct ds_flow *flows;
	struct downstream *d = downstream_with(&flows);
	struct ds_lower *l = &d->lower;
	struct ds_change c = {.d = d};

	(void)state;
	l->from_upper = aligned_alloc(RTE_CACHE_LINE_SIZE, (size_t)rte_ring_get_memsize(8));
	assert_int_equal(rte_ring_init(l->from_upper, "upper", 8, 0), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(rte_ring_enqueue(l->from_upper, d), 0);
	l->crypto = &crypto;
	l->taken_over = l->submitted = 10;
	assert_false(ds_change_passed(&c));
	l->taken_over = l->submitted = 12;
	assert_false(ds_change_passed(&c));
	l->taken_over = l->submitted = 13;
	crypto.held = 1;
	assert_false(ds_change_passed(&c));
	crypto.held = 0;
	assert_true(ds_change_passed(&c));
	free(l->from_upper);
	free(flows);
	free(d);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_a_modem_change_in_one_step),
		cmocka_unit_test(frames_on_their_way_are_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
