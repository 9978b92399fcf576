/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: shares of modems with equal claims, also across groups that share channels. */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler_kit.h"

#define JAIN 0.999
#define FAIR_MODEMS 12 /* at most */

/*
 * What is fair to modems whose groups share channels (max-min fairness), by filling up: all shares
 * grow at the same speed, and one stops at its own limit, or when the channels that some set of
 * modems can reach are full. All sets are looked at. The flows of a modem are of one group.
 */
struct fair {
	unsigned items;
	double limit[FAIR_MODEMS]; /* own rate; 0: none */
	double room[1 << FAIR_MODEMS]; /* what each set of them can reach */
	double share[FAIR_MODEMS];
	bool done[FAIR_MODEMS];
};

static double share_at(const struct fair *f, unsigned i, double level) {
	if (f->done[i])
		return f->share[i];
	return f->limit[i] > 0 && f->limit[i] < level ? f->limit[i] : level;
}

static double load_of(const struct fair *f, unsigned set, double level) {
	double sum = 0;

	for (unsigned i = 0; i < f->items; i++) {
		if (set >> i & 1)
			sum += share_at(f, i, level);
	}
	return sum;
}

static bool fits(const struct fair *f, double level) {
	for (unsigned set = 1; set < 1u << f->items; set++) {
		if (load_of(f, set, level) > f->room[set] * (1 + 1e-9))
			return false;
	}
	return true;
}

/* Who can grow no more at this level? Returns how many can. */
static unsigned stop_full(struct fair *f, double level) {
	bool full[FAIR_MODEMS] = {false};
	unsigned growing = 0;

	for (unsigned set = 1; set < 1u << f->items; set++) {
		if (load_of(f, set, level) < f->room[set] * (1 - 1e-6))
			continue;
		for (unsigned i = 0; i < f->items; i++)
			full[i] |= set >> i & 1;
	}
	for (unsigned i = 0; i < f->items; i++) {
		f->share[i] = share_at(f, i, level);
		f->done[i] |= full[i] || (f->limit[i] > 0 && f->limit[i] <= level);
		growing += !f->done[i];
	}
	return growing;
}

static void fill_up(struct fair *f) {
	do {
		double low = 0, high = 1e12;

		for (int i = 0; i < 80; i++) {
			double middle = (low + high) / 2;

			if (fits(f, middle))
				low = middle;
			else
				high = middle;
		}
		if (stop_full(f, low) == 0)
			return;
	} while (true);
}

/* The first flow of a modem; those of the next follow its own. */
static uint32_t flow_of(const struct kit *k, uint32_t modem) {
	uint32_t flow = 0;

	while (flow < k->config.flow_count && k->settings[flow].modem < modem)
		flow++;
	return flow;
}

/* What the channels bring that any modem of the set can reach. */
static double room_of(const struct kit *k, unsigned set) {
	bool reached[SCHEDULER_MAX_CHANNELS] = {false};
	double room = 0;

	for (unsigned i = 0; set >> i > 0; i++) {
		const struct scheduler_group *g = &k->groups[k->settings[flow_of(k, i)].group];

		for (size_t n = 0; set >> i & 1 && n < g->channel_count; n++)
			reached[g->channels[n]] = true;
	}
	for (size_t n = 0; n < k->config.channel_count; n++)
		room += reached[n] ? (double)k->channels[n].rate : 0;
	if (k->config.rate_limit > 0 && room > (double)k->config.rate_limit)
		room = (double)k->config.rate_limit;
	return room;
}

/* Bits per second of each, with packets at all times. Returns how many there are. */
static unsigned fair_shares(const struct kit *k, double *shares) {
	static struct fair fair;
	struct fair *f = &fair;

	memset(f, 0, sizeof(*f));
	f->items = (unsigned)k->config.modem_count;
	assert_true(f->items <= FAIR_MODEMS);
	for (unsigned i = 0; i < f->items; i++)
		f->limit[i] = (double)k->modems[i].aggregate.rate;
	for (unsigned set = 1; set < 1u << f->items; set++)
		f->room[set] = room_of(k, set);
	fill_up(f);
	memcpy(shares, f->share, f->items * sizeof(*shares));
	return f->items;
}

/* Each modem has its fair share, within `part`; those with the same have all but the same. */
static void expect_fair(const struct kit *k, double part) {
	double share[FAIR_MODEMS], ratio[FAIR_MODEMS];
	unsigned count = fair_shares(k, share);

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t first = flow_of(k, i);
		const double rate = kit_rate_sum(k, first, flow_of(k, i + 1) - first);

		ratio[i] = rate / share[i];
		kit_expect("modem", i, rate, share[i], part);
	}
	if (kit_jain(ratio, count) <= JAIN)
		fail_msg("Jain's index is %.6f", kit_jain(ratio, count));
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

/* 10,000 modems with 8 flows each on 200 channels. */
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
static struct kit large(void) {
	struct kit k = kit_make();

	for (int i = 0; i < GROUPS; i++)
		kit_channel(&k, KIT_OFDM);
	for (int i = 0; i < GROUPS * SC_QAM_OF_GROUP; i++)
		kit_channel(&k, KIT_SC_QAM);
	for (uint32_t g = 0; g < GROUPS; g++) {
		uint32_t list[2 + 2 * SC_QAM_OF_GROUP] = {g, (g + 1) % GROUPS};

		for (uint32_t i = 0; i < 2 * SC_QAM_OF_GROUP; i++)
			list[2 + i] =
				GROUPS + (SC_QAM_OF_GROUP * g + i) % (GROUPS * SC_QAM_OF_GROUP);
		kit_group(&k, list, ARRAY_COUNT(list));
	}
	for (uint32_t m = 0; m < MODEMS; m++)
		kit_modem(&k, 0, 0);
	k.config.packet_limit = 400000;
	return k;
}

static uint32_t modem_of(uint32_t flow) {
	return flow / FLOWS_OF_MODEM;
}

/* All flows want more than there is: all get the same, all channels are filled. */
TEST(all_are_served_alike) {
	double *modems = calloc(MODEMS, sizeof(*modems)), *flows = calloc(FLOWS, sizeof(*flows));
	struct kit k = large();
	uint64_t least = UINT64_MAX;

	assert_true(modems && flows);
	for (uint32_t i = 0; i < FLOWS; i++)
		kit_flow(&k, (struct scheduler_flow){.group = modem_of(i) % GROUPS,
						     .modem = modem_of(i)});
	kit_start(&k);
	for (uint32_t i = 0; i < FLOWS; i++)
		kit_feed(&k, i, 1000, 1500, 3);
	kit_measure(&k, 30 * KIT_MS, 100 * KIT_MS);
	for (uint32_t i = 0; i < FLOWS; i++) {
		flows[i] = (double)k.flows[i].bytes;
		modems[modem_of(i)] += flows[i];
		least = k.flows[i].bytes < least ? k.flows[i].bytes : least;
	}
	/* a flow has some four turns of 2,048 bytes in this time */
	assert_true(least > 2 * 1500);
	if (kit_jain(modems, MODEMS) <= 0.999 || kit_jain(flows, FLOWS) <= 0.97)
		fail_msg("Jain's index is %.6f of modems, %.6f of flows", kit_jain(modems, MODEMS),
			 kit_jain(flows, FLOWS));
	kit_expect_filled(&k);
	kit_end(&k);
	free(modems);
	free(flows);
}
