/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: shares of modems with equal claims, also across groups that share channels. */
#include "test_main.h"

#include <math.h>

#include "scheduler_kit.h"

#define FAIR_MODEMS 12 /* at most */

/* The first flow of a modem; those of the next follow its own. */
static uint32_t flow_of(const struct kit *k, uint32_t modem) {
	uint32_t flow = 0;

	while (flow < k->config.flow_count && k->settings[flow].modem < modem)
		flow++;
	return flow;
}

/* What a set of modems can have together: of one its own limit, of all what the channels bring that any can reach. The
 * flows of a modem are of one group. */
static double room_of(const struct kit *k, unsigned set) {
	const uint64_t one = k->modems[__builtin_ctz(set)].aggregate.rate;
	bool reached[SCHEDULER_MAX_CHANNELS] = {false};
	double room = 0;

	for (unsigned i = 0; set >> i > 0; i++) {
		const struct scheduler_group *g = &k->groups[k->settings[flow_of(k, i)].group];

		for (size_t n = 0; set >> i & 1 && n < g->channel_count; n++)
			reached[g->channels[n]] = true;
	}
	for (size_t n = 0; n < k->config.channel_count; n++)
		room += reached[n] ? (double)k->channels[n].rate : 0;
	if (k->config.rate_limit > 0)
		room = fmin(room, (double)k->config.rate_limit);
	return (set & (set - 1)) == 0 && one > 0 ? fmin(room, (double)one) : room;
}

/*
 * What is fair to modems whose groups share channels (max-min fairness), by filling up: all shares
 * grow at the same speed, and those of a set stop when it has all that it can have. All sets are looked at.
 */
static void fair_shares(const struct kit *k, double *share) {
	const unsigned all = (1u << k->config.modem_count) - 1;
	unsigned growing = all, full;

	for (; growing != 0; growing &= ~full) {
		double level = INFINITY;

		full = growing;
		for (unsigned set = 1; set <= all; set++) {
			double left = room_of(k, set);

			for (uint32_t i = 0; i < k->config.modem_count; i++)
				left -= set & ~growing & 1u << i ? share[i] : 0;
			left /= __builtin_popcount(set & growing);
			if ((set & growing) != 0 && left < level * (1 - 1e-9)) {
				level = left;
				full = set;
			}
		}
		for (uint32_t i = 0; i < k->config.modem_count; i++)
			share[i] = full & growing & 1u << i ? level : share[i];
	}
}

/* Each modem has its fair share, within `part`. */
static void expect_fair(const struct kit *k, double part) {
	double share[FAIR_MODEMS] = {0};

	assert_true(k->config.modem_count <= FAIR_MODEMS);
	fair_shares(k, share);
	for (uint32_t i = 0; i < k->config.modem_count; i++) {
		const uint32_t first = flow_of(k, i), flows = flow_of(k, i + 1) - first;

		kit_expect("modem", i, kit_rate_sum(k, first, flows), share[i], part);
	}
}

/* Turns of which a flow used little are not saved up: beside another one, of its modem or not, it has half. */
TEST(turns_are_not_saved_up) {
	for (unsigned modems = 1; modems <= 2; modems++) {
		struct kit k = kit_make();

		kit_channel(&k, KIT_BPS(100));
		kit_group_range(&k, 0, 1);
		for (uint32_t i = 0; i < 2; i++) {
			kit_modem(&k, 0, 0);
			kit_flow(&k, (struct scheduler_flow){.modem = i % modems});
		}
		kit_start(&k);
		for (unsigned i = 0; i < 1000; i++) {
			kit_put(&k, 0, 100);
			kit_run(&k, 2 * KIT_STEP_NS);
		}
		kit_feed_all(&k, 1500, 1500);
		kit_measure(&k, 0, 50 * KIT_MS);
		assert_in_range(k.flows[1].packets, 200, 220);
		kit_end(&k);
	}
}

static uint32_t random_group(struct kit *k, uint32_t channels, uint32_t otherwise) {
	uint32_t list[6], count = 0;

	for (uint32_t i = 0; i < channels; i++) {
		if (random_below(&k->random, 2) > 0)
			list[count++] = i;
	}
	if (count == 0)
		list[count++] = otherwise % channels;
	return kit_group(k, list, count);
}

/* Some modems of a group, with some flows each; some have limits. */
static void random_modems(struct kit *k, uint32_t group, bool limits) {
	for (uint32_t n = random_between(&k->random, 1, 2); n > 0; n--) {
		const bool limited = limits && random_below(&k->random, 3) == 0;
		const uint64_t rate = limited ? KIT_BPS(random_between(&k->random, 5, 60)) : 0;
		const uint32_t modem = kit_modem(k, rate, 20000);

		for (uint32_t flows = random_between(&k->random, 1, 8); flows > 0; flows--)
			kit_flow(k, (struct scheduler_flow){.group = group, .modem = modem});
	}
}

/* Any channels, groups, flows and packets, also longer than several turns; there may be a limit of all. */
TEST(modems_are_equal) {
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct kit k = kit_make();
		uint32_t channels, groups;

		k.random.state = seed * 7919;
		channels = random_between(&k.random, 2, 6);
		groups = random_between(&k.random, 2, 5);
		for (uint32_t i = 0; i < channels; i++)
			kit_channel(&k, KIT_BPS(random_between(&k.random, 30, 150)));
		for (uint32_t g = 0; g < groups; g++)
			random_modems(&k, random_group(&k, channels, g), seed % 2 == 0);
		if (seed % 3 == 0)
			k.config.rate_limit = KIT_BPS(random_between(&k.random, 50, 300));
		kit_start(&k);
		for (uint32_t i = 0; i < k.config.flow_count; i++) {
			uint32_t smallest = random_between(&k.random, 64, 1500);

			kit_feed(&k, i, smallest, smallest + random_below(&k.random, 8000), 32);
		}
		kit_measure(&k, 50 * KIT_MS, KIT_S);
		expect_fair(&k, 0.03);
		kit_end(&k);
	}
}
