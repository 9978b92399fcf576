/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: 10,000 modems with 8 flows each on 200 channels. */
#include "test.h"

#include <stdlib.h>

#include "scheduler_rig.h"

#define GROUPS 25
#define MODEMS 10000
#define FLOWS_OF_MODEM 8
#define FLOWS (MODEMS * FLOWS_OF_MODEM)
#define SC_QAM_OF_GROUP 7

/*
 * A ring of groups that looks the same from everywhere: each has an OFDM channel and seven SC-QAM
 * ones that it shares with the group before, and as many with the one behind. So the fair share is
 * the same for all.
 */
static struct rig large(void) {
	struct rig r = rig_make();

	for (int i = 0; i < GROUPS; i++)
		rig_channel(&r, RIG_OFDM);
	for (int i = 0; i < GROUPS * SC_QAM_OF_GROUP; i++)
		rig_channel(&r, RIG_SC_QAM);
	for (uint32_t g = 0; g < GROUPS; g++) {
		uint32_t list[2 + 2 * SC_QAM_OF_GROUP] = {g, (g + 1) % GROUPS};

		for (uint32_t i = 0; i < 2 * SC_QAM_OF_GROUP; i++)
			list[2 + i] =
				GROUPS + (SC_QAM_OF_GROUP * g + i) % (GROUPS * SC_QAM_OF_GROUP);
		rig_group(&r, list, ARRAY_COUNT(list));
	}
	for (uint32_t m = 0; m < MODEMS; m++)
		rig_modem(&r, 0, 0);
	r.config.packet_limit = 400000;
	return r;
}

static uint32_t modem_of(uint32_t flow) {
	return flow / FLOWS_OF_MODEM;
}

static void measure(struct rig *r, uint64_t ns) {
	for (uint32_t i = 0; i < FLOWS; i++)
		rig_feed(r, i,
			 (struct rig_source){.kind = RIG_BACKLOGGED,
					     .smallest = 1000,
					     .largest = 1500,
					     .backlog = 3});
	rig_run(r, 30 * RIG_MS); /* the bursts are gone */
	rig_mark(r);
	rig_run(r, ns);
}

/* All flows want more than there is: all get the same, all channels are filled. */
static void all_are_served_alike(void **state) {
	double *modems = calloc(MODEMS, sizeof(*modems)), *flows = calloc(FLOWS, sizeof(*flows));
	struct rig r = large();
	uint64_t least = UINT64_MAX;

	(void)state;
	assert_true(modems && flows);
	for (uint32_t i = 0; i < FLOWS; i++)
		rig_flow(&r, (struct scheduler_flow){.group = modem_of(i) % GROUPS,
						     .modem = modem_of(i)});
	rig_start(&r);
	measure(&r, 100 * RIG_MS);
	for (uint32_t i = 0; i < FLOWS; i++) {
		flows[i] = (double)r.flows[i].bytes;
		modems[modem_of(i)] += flows[i];
		least = r.flows[i].bytes < least ? r.flows[i].bytes : least;
	}
	/* a flow has some four turns of 2,048 bytes in this time */
	assert_true(least > 2 * 1500);
	if (rig_jain(modems, MODEMS) <= 0.999 || rig_jain(flows, FLOWS) <= 0.97)
		fail_msg("Jain's index is %.6f of modems, %.6f of flows", rig_jain(modems, MODEMS),
			 rig_jain(flows, FLOWS));
	rig_expect_filled(&r, 0, (uint32_t)r.config.channel_count);
	rig_end(&r);
	free(modems);
	free(flows);
}

/*
 * Priorities, rates, reserves and weights all at once: limited flows of high priority are served in
 * full, reserves are kept, and the others have what is left.
 */
static void limits_and_reserves_are_kept(void **state) {
	struct rig r = large();
	double sums[FLOWS_OF_MODEM] = {0};

	(void)state;
	for (uint32_t i = 0; i < FLOWS; i++) {
		uint32_t k = i % FLOWS_OF_MODEM;
		struct scheduler_flow f = {.group = modem_of(i) % GROUPS,
					   .modem = modem_of(i),
					   .weight = (uint8_t)(1 + k)};

		if (k >= 6) {
			f.priority = (uint8_t)k;
			f.sustained = (struct scheduler_limit){500000, 3044};
		} else if (k == 0) {
			f.reserved = 250000;
		} else if (k > 2) {
			f.priority = 1;
		}
		rig_flow(&r, f);
	}
	rig_start(&r);
	measure(&r, 100 * RIG_MS);
	for (uint32_t i = 0; i < FLOWS; i++) {
		/*
		 * No more than a packet of quantisation: 0.5 Mbps are 6,250 bytes, 0.25 are 3,125. A reserved
		 * flow may have had 10 ms more before, and has its turns among the starving beside it.
		 */
		if (i % FLOWS_OF_MODEM >= 6)
			assert_in_range(r.flows[i].bytes, 6250 - 1500, 6250 + 3044);
		else if (i % FLOWS_OF_MODEM == 0)
			assert_in_range(r.flows[i].bytes, 3125 - 1500 - 313, 3125 + 3 * 1500);
		sums[i % FLOWS_OF_MODEM] += (double)r.flows[i].bytes;
	}
	/* all began at once, so that their packets of 20 ms do not come evenly */
	rig_expect("bytes of priority", 7, sums[7], MODEMS * 6250.0, 0.03);
	rig_expect("bytes of priority", 6, sums[6], MODEMS * 6250.0, 0.03);
	assert_true(sums[0] > MODEMS * 3125 * 0.995);
	assert_true(sums[3] > 20 * sums[1] && sums[5] > sums[4] && sums[4] > sums[3]);
	rig_expect_filled(&r, 0, (uint32_t)r.config.channel_count);
	rig_end(&r);
}

/* Half a load for random flows: all of it goes at once, on all of the channels. */
static void light_load_passes(void **state) {
	struct rig r = large();
	struct scheduler_delay_report delays;
	const uint32_t packets_of_step = 28; /* 1,220 bytes every 10 us: half of 54.6 Gbps */

	(void)state;
	for (uint32_t i = 0; i < FLOWS; i++)
		rig_flow(&r, (struct scheduler_flow){.group = modem_of(i) % GROUPS,
						     .modem = modem_of(i),
						     .sustained = {RIG_BPS(100), 12500}});
	rig_start(&r);
	for (int step = 0; step < 4000; step++) {
		r.now += RIG_STEP_NS;
		for (uint32_t k = 0; k < packets_of_step; k++)
			rig_put(&r, random_below(&r.random, FLOWS),
				random_between(&r.random, 940, 1500));
		rig_send(&r);
	}
	assert_true(r.inside < 100);
	scheduler_report_delay(r.s, 0, &delays);
	assert_true(delays.packets > 111000);
	assert_true(scheduler_delay_quantile(&delays, 999) < SCHEDULER_LEAD_NS);
	rig_end(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_served_alike),
		cmocka_unit_test(limits_and_reserves_are_kept),
		cmocka_unit_test(light_load_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
