/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: what flows that always have packets get of the channels in the long run, where the model bounds it for a
 * moment only; shares of modems with equal claims, also across groups that share channels. */
#include "test_main.h"

#include <math.h>

#include "scheduler_kit.h"

#define MBPS UINT64_C(1000000)
#define FAIR_MODEMS 12 /* at most */

/* Flows of one sort. */
struct load_flows {
	unsigned count; /* 0: the list ends */
	double has[2]; /* each of them, from and to so many Mbps; 0: not judged */
	uint32_t bytes[2]; /* shortest and longest packet; 0: 64 and 1518 */
	uint32_t backlog; /* packets that wait; 0: 32 */
	struct scheduler_flow is;
};

struct load {
	const char *name;
	double channels[3]; /* Mbps */
	struct {
		uint32_t first, count;
	} groups[2]; /* 0: one of all channels */
	struct scheduler_modem
		modems[2]; /* without a limit of the first each flow is of its own modem */
	struct load_flows flows[9];
	double all[2]; /* what they have together, Mbps; 0: not judged */
	unsigned before_ms; /* it is measured, for 1 s; 0: 200 ms */
	bool filled; /* all channels are */
};

#define ANY_MODEM {{100000 * MBPS, 1000000}} /* whose limit is never met */

static const struct load loads[] = {
	/* priorities */
	/* lower ones get a packet of 1500 bytes for each 262,144 bytes, in rotation: 5.69 of 1000 Mbps */
	{.name = "lower priorities do not starve",
	 .channels = {1000},
	 .flows = {{1, {0, 0}, {1500, 1500}, .is.priority = 7},
		   {1, {1.34, 1.5}, {1500, 1500}, .is.priority = 6},
		   {1, {1.34, 1.5}, {1500, 1500}, .is.priority = 4},
		   {1, {1.34, 1.5}, {1500, 1500}, .is.priority = 2},
		   {1, {1.34, 1.5}, {1500, 1500}, .is.priority = 0}},
	 .filled = true},
	{.name = "lower priorities share in bytes: short packets below long ones",
	 .channels = {500},
	 .flows = {{1, {0, 0}, {1500, 1500}, .is.priority = 7},
		   {1, {1.15, 1.45}, {64, 64}, .is.priority = 3},
		   {1, {1.15, 1.45}, {64, 64}}}},
	{.name = "lower priorities share in bytes: long packets below short ones",
	 .channels = {500},
	 .flows = {{1, {0, 0}, {64, 64}, .is.priority = 7},
		   {1, {1.2, 1.6}, {1500, 1500}, .is.priority = 3},
		   {1, {1.2, 1.6}, {1500, 1500}}}},
	{.name = "the group with the lower priority has its share",
	 .channels = {100},
	 .groups = {{0, 1}, {0, 1}},
	 .flows = {{1, .is.group = 0, .is.priority = 7}, {1, {0.26, 1.04}, .is.group = 1}}},
	{.name = "lower priorities of all groups that share channels have their turns",
	 .channels = {1000, 1000},
	 .groups = {{0, 2}, {1, 1}},
	 .flows = {{1, {0, 0}, {1500, 1500}, .is.group = 0, .is.priority = 7},
		   {1, {0, 0}, {1500, 1500}, .is.group = 1, .is.priority = 7},
		   {1, {0.5, 6}, {1500, 1500}, .is.group = 0, .is.priority = 6},
		   {1, {0.5, 6}, {1500, 1500}, .is.group = 1, .is.priority = 5},
		   {1, {0.5, 6}, {1500, 1500}, .is.group = 0, .is.priority = 2},
		   {1, {0.5, 6}, {1500, 1500}, .is.group = 1, .is.priority = 1}},
	 .filled = true},
	/* the shared channel goes to priority 5; the half percent is taken of all three */
	{.name = "priorities of one modem's limit",
	 .channels = {1000},
	 .modems = {{{50 * MBPS, 4000}}},
	 .flows = {{1, {48, 50.3}, {64, 64}, .is.priority = 7}, {1, {0.01, 1}, {1500, 1500}}}},
	{.name = "long packets are not kept waiting by short ones of their modem's limit",
	 .channels = {1000},
	 .modems = {{{8 * MBPS, 2000}}},
	 .flows = {{1, {7.9, 8.1}, {1500, 1500}, .is.priority = 7}, {1, {0, 0}, {64, 64}}}},
	{.name = "groups of one modem's limit",
	 .channels = {1000, 1000},
	 .groups = {{0, 1}, {1, 1}},
	 .modems = {{{50 * MBPS, 4000}}},
	 .flows = {{1, {24, 26}, {1500, 1500}, .is.group = 0},
		   {1, {24, 26}, {1500, 1500}, .is.group = 1}}},
	{.name = "short and long packets of one modem's limit",
	 .channels = {1000},
	 .modems = {{{50 * MBPS, 4000}}},
	 .flows = {{1, {24, 26}, {64, 64}}, {1, {24, 26}, {1500, 1500}}}},

	/* weights */
	{.name = "weights, with packets that are longer than turns",
	 .channels = {160},
	 .modems = {ANY_MODEM},
	 .flows = {{1, {19.8, 20.2}, {4000, 9000}, .is.weight = 1},
		   {1, {39.6, 40.4}, {2049, 2049}, .is.weight = 2},
		   {1, {99, 101}, {64, 2017}, .is.weight = 5}}},
	{.name = "weights count inside a modem only",
	 .channels = {200},
	 .modems = {ANY_MODEM, ANY_MODEM},
	 .flows = {{1, {99, 101}, .is.modem = 0},
		   {1, {72, 78}, .is = {.modem = 1, .weight = 255}},
		   {1, {22, 28}, .is = {.modem = 1, .weight = 85}}}},
	/* its packets come one at a time, as soon as the one before went */
	{.name = "modems with one packet have their turns beside a group that has many",
	 .channels = {1000},
	 .groups = {{0, 1}, {0, 1}},
	 .flows = {{20, {43.4, 48.8}, {1500, 1500}, .backlog = 1, .is.group = 0},
		   {1, {43.4, 132}, {1500, 1500}, .is.group = 1}}},
	{.name = "debts outlast an empty queue: flows of a modem",
	 .channels = {1000},
	 .modems = {ANY_MODEM},
	 .flows = {{1, {250, 530}, {16383, 16383}, .backlog = 1},
		   {1, {0, 0}, {1500, 1500}, .backlog = 100}}},
	{.name = "debts outlast an empty queue: modems",
	 .channels = {1000},
	 .flows = {{1, {250, 530}, {16383, 16383}, .backlog = 1},
		   {1, {0, 0}, {1500, 1500}, .backlog = 100}}},

	/* reserved rates: at least these, and of what is beyond no more than the starving get */
	{.name = "a reserved rate above the limit of a modem: others get nothing",
	 .channels = {100},
	 .modems = {{{4 * MBPS, 25000}}},
	 .flows = {{1, {4.97, 5.03}, .is.reserved = 5 * MBPS}, {1, .is.priority = 7}},
	 .all = {4.97, 5.03},
	 .before_ms = 600},
	{.name = "more reserved than there is: packet by packet in turn",
	 .channels = {60},
	 .flows = {{1, {29.7, 30.1}, {1500, 1500}, .is.reserved = 60 * MBPS},
		   {1, {19.8, 20.1}, {1000, 1000}, .is.reserved = 60 * MBPS},
		   {1, {9.9, 10.1}, {500, 500}, .is.reserved = 60 * MBPS},
		   {1, {0.1, 0.6}, .is.priority = 7}}},
	{.name = "more reserved than there is, and as much sustained",
	 .channels = {100},
	 .modems = {ANY_MODEM},
	 .flows = {{5,
		    {18, 22},
		    {1500, 1500},
		    .is = {.sustained = {40 * MBPS, 1500}, .reserved = 40 * MBPS}}}},
};

static void load_open(const struct load *l, struct kit *k) {
	*k = kit_make();
	for (unsigned i = 0; i < ARRAY_COUNT(l->channels) && l->channels[i] > 0; i++)
		kit_channel(k, (uint64_t)(l->channels[i] * 1e6));
	for (unsigned i = 0; i < ARRAY_COUNT(l->groups) && l->groups[i].count > 0; i++)
		kit_group_range(k, l->groups[i].first, l->groups[i].count);
	if (l->groups[0].count == 0)
		kit_group_range(k, 0, (uint32_t)k->config.channel_count);
	for (unsigned i = 0; i < 2 && l->modems[i].aggregate.rate > 0; i++)
		kit_modem(k, l->modems[i].aggregate.rate, l->modems[i].aggregate.burst);
	for (const struct load_flows *f = l->flows; f->count > 0; f++) {
		for (unsigned i = 0; i < f->count; i++) {
			struct scheduler_flow is = f->is;

			if (l->modems[0].aggregate.rate == 0)
				is.modem = kit_modem(k, 0, 0);
			kit_flow(k, is);
		}
	}
	kit_start(k);
}

static void expect_between(const char *load, const char *who, double mbps, const double range[2]) {
	if (range[1] > 0 && (mbps < range[0] || mbps > range[1]))
		fail_msg("%s: %s %.4f Mbps, not %.4f to %.4f", load, who, mbps, range[0], range[1]);
}

static void carry(const struct load *l) {
	uint32_t flow = 0;
	struct kit k;

	load_open(l, &k);
	for (const struct load_flows *f = l->flows; f->count > 0; f++) {
		for (unsigned i = 0; i < f->count; i++)
			kit_feed(&k, flow++, f->bytes[0] > 0 ? f->bytes[0] : 64,
				 f->bytes[1] > 0 ? f->bytes[1] : 1518,
				 f->backlog > 0 ? f->backlog : 32);
	}
	kit_measure(&k, (l->before_ms > 0 ? l->before_ms : 200) * KIT_MS, KIT_S);
	flow = 0;
	for (const struct load_flows *f = l->flows; f->count > 0; f++) {
		for (unsigned i = 0; i < f->count; i++)
			expect_between(l->name, "a flow has", kit_rate_sum(&k, flow++, 1) / 1e6,
				       f->has);
	}
	expect_between(l->name, "all flows have", kit_rate_sum(&k, 0, flow) / 1e6, l->all);
	if (l->filled)
		kit_expect_filled(&k);
	kit_end(&k);
}

TEST(flows_have_what_is_theirs) {
	for (size_t i = 0; i < ARRAY_COUNT(loads); i++)
		carry(&loads[i]);
}

/* Small packets at odd rates: what is less than a nanosecond of each does not get lost. Times are in ticks of 1/64 ns:
 * no packet can be wrong by more than a hundredth. */
TEST(rates_do_not_drift) {
	static const uint64_t rates[] = {777777777, 1890000001, 42240000, KIT_BPS(10000)};

	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		struct kit k = kit_make();
		struct scheduler_channel_report r;
		double drift;

		kit_channel(&k, rates[i]);
		kit_group_range(&k, 0, 1);
		kit_flow(&k, (struct scheduler_flow){.group = 0});
		kit_start(&k);
		kit_feed_all(&k, 31, 31);
		kit_send(&k);
		kit_run(&k, 30 * KIT_MS);
		scheduler_report_channel(k.s, 0, &r);
		/* it was never idle: all times of the packets, one behind the other, from 0 on */
		drift = (double)r.busy_until - 8e9 * (double)r.bytes / (double)rates[i];
		if (fabs(drift) > 1 + 0.01 * (double)r.packets)
			fail_msg("%.0f ns of drift of rate %zu", drift, i);
		kit_end(&k);
	}
}

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
