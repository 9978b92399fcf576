/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the flow records of a modem change in one step, so that it never has two keys. */
#include "test_main.h"

#include "downstream/change/internal.h"

#include "change_kit.h"

#define MODEMS 200
#define FLOWS 7 /* per modem; does not divide the number of records that a step writes */
#define OLD 1
#define NEW 2

static struct ds_flow flows[MODEMS * FLOWS];

static unsigned count_modems(uint16_t hcs) {
	unsigned modems = 0;

	for (unsigned m = 0; m < MODEMS; m++) {
		for (unsigned f = 1; f < FLOWS; f++)
			assert_int_equal(flows[m * FLOWS + f].hcs, flows[m * FLOWS].hcs);
		modems += flows[m * FLOWS].hcs == hcs;
	}
	return modems;
}

static void check_no_change_begins(struct downstream *d) {
	static const struct live_changes none = {.count = 0};
	char why[LIVE_LINE];

	assert_null(ds_change_begin(d, NULL, &none, NULL, why));
	assert_string_equal(why, "downstream: another change is still being applied");
}

TEST(flow_records_of_modem_change_in_one_step) {
	static struct ds_flow_write writes[MODEMS * FLOWS];
	static struct downstream d = {.tables.flows = flows};
	struct ds_change c = {.d = &d, .upper_state = CHANGE_RETIRING};
	unsigned steps = 1, previous = 0;

	for (unsigned f = 0; f < MODEMS * FLOWS; f++) {
		flows[f].hcs = OLD;
		writes[f] = (struct ds_flow_write){{.hcs = NEW}, f, f / FLOWS};
	}
	d.slots.latest = &c;
	c.writes.list = writes;
	c.writes.count = MODEMS * FLOWS;
	for (; !ds_change_lower(&c); steps++) {
		unsigned now = count_modems(NEW);

		assert_int_equal(change_state_of(&c.lower_state), CHANGE_APPLYING);
		check_no_change_begins(&d);
		assert_true(now > previous);
		previous = now;
	}
	assert_int_equal(count_modems(NEW), MODEMS);
	assert_true(steps > 2);
}

/* A flow keeps its old header and key until the lower MAC applies the change. */
TEST(kept_flow_changes_with_lower_mac) {
	const struct ds_flow *flow = &kit->d->tables.flows[0];

	for (unsigned key = 0; key < 2; key++) {
		struct modem *m = kit_edit_modem(0, 0);

		if (key)
			m->security.cipher = CIPHER_NONE;
		else
			m->service_flows[0].has_dsid = false;
		assert_true(kit_prepare());
		kit_apply(NULL);
		assert_int_equal(flow->sequenced, !key);
		assert_int_equal(flow->key.cipher, CIPHER_AES_128);
		kit_finish(true);
		assert_false(flow->sequenced);
		assert_int_equal(flow->key.cipher, key ? CIPHER_NONE : CIPHER_AES_128);
	}
}

EACH_TEST(kit_setup, kit_teardown)
