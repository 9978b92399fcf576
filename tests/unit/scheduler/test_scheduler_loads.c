/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the long-term rates of flows that always have packets, which the model bounds only for
 * short times. Also tests fair shares of modems, across groups that share channels. */
#include "test_main.h"

#include <math.h>

#include "scheduler_kit.h"

#define MBPS UINT64_C(1000000)
#define FAIR_MODEMS 12 /* limit */

/* Flows with the same settings. */
struct load_flows {
	unsigned count; /* 0: end of the list */
	double mbps[2]; /* Mbps per flow, from and to; 0: not checked */
	uint32_t bytes[2]; /* shortest and longest packet; 0: 64 and 1518 */
	uint32_t backlog; /* queued packets; 0: 32 */
	struct scheduler_flow flow;
};

struct load {
	const char *name;
	double channels[3]; /* Mbps */
	struct {
		uint32_t first, count;
	} groups[2]; /* count 0: one group of all channels */
	struct scheduler_modem
		modems[2]; /* if the first has no limit, each flow has its own modem */
	struct load_flows flows[9];
	double all[2]; /* Mbps of all flows together; 0: not checked */
	unsigned before_ms; /* before the measurement of 1 s; 0: 200 ms */
	bool filled; /* all channels must be busy */
};

#define ANY_MODEM {{100000 * MBPS, 1000000}} /* a limit that is never reached */

static const struct load loads[] = {
	/* priorities */
	/* lower ones get 1500 bytes per 262,144 bytes, in rotation: 5.69 of 1000 Mbps */
	{.name = "lower priorities do not starve",
	 .channels = {1000},
	 .flows = {{1, {0, 0}, {1500, 1500}, .flow.priority = 7},
		   {1, {1.34, 1.5}, {1500, 1500}, .flow.priority = 6},
		   {1, {1.34, 1.5}, {1500, 1500}, .flow.priority = 4},
		   {1, {1.34, 1.5}, {1500, 1500}, .flow.priority = 2},
		   {1, {1.34, 1.5}, {1500, 1500}, .flow.priority = 0}},
	 .filled = true},
	{.name = "lower priorities share in bytes: short packets below long ones",
	 .channels = {500},
	 .flows = {{1, {0, 0}, {1500, 1500}, .flow.priority = 7},
		   {1, {1.15, 1.45}, {64, 64}, .flow.priority = 3},
		   {1, {1.15, 1.45}, {64, 64}}}},
	{.name = "lower priorities share in bytes: long packets below short ones",
	 .channels = {500},
	 .flows = {{1, {0, 0}, {64, 64}, .flow.priority = 7},
		   {1, {1.2, 1.6}, {1500, 1500}, .flow.priority = 3},
		   {1, {1.2, 1.6}, {1500, 1500}}}},
	{.name = "the group with the lower priority has its share",
	 .channels = {100},
	 .groups = {{0, 1}, {0, 1}},
	 .flows = {{1, .flow.group = 0, .flow.priority = 7}, {1, {0.26, 1.04}, .flow.group = 1}}},
	{.name = "lower priorities of all groups that share channels are served",
	 .channels = {1000, 1000},
	 .groups = {{0, 2}, {1, 1}},
	 .flows = {{1, {0, 0}, {1500, 1500}, .flow.group = 0, .flow.priority = 7},
		   {1, {0, 0}, {1500, 1500}, .flow.group = 1, .flow.priority = 7},
		   {1, {0.5, 6}, {1500, 1500}, .flow.group = 0, .flow.priority = 6},
		   {1, {0.5, 6}, {1500, 1500}, .flow.group = 1, .flow.priority = 5},
		   {1, {0.5, 6}, {1500, 1500}, .flow.group = 0, .flow.priority = 2},
		   {1, {0.5, 6}, {1500, 1500}, .flow.group = 1, .flow.priority = 1}},
	 .filled = true},
	{.name = "priorities of one modem's limit",
	 .channels = {1000},
	 .modems = {{{50 * MBPS, 4000}}},
	 .flows = {{1, {48, 50.3}, {64, 64}, .flow.priority = 7}, {1, {0.01, 1}, {1500, 1500}}}},
	{.name = "long packets are not kept waiting by short ones of their modem's limit",
	 .channels = {1000},
	 .modems = {{{8 * MBPS, 2000}}},
	 .flows = {{1, {7.9, 8.1}, {1500, 1500}, .flow.priority = 7}, {1, {0, 0}, {64, 64}}}},
	{.name = "groups of one modem's limit",
	 .channels = {1000, 1000},
	 .groups = {{0, 1}, {1, 1}},
	 .modems = {{{50 * MBPS, 4000}}},
	 .flows = {{1, {24, 26}, {1500, 1500}, .flow.group = 0},
		   {1, {24, 26}, {1500, 1500}, .flow.group = 1}}},
	{.name = "short and long packets of one modem's limit",
	 .channels = {1000},
	 .modems = {{{50 * MBPS, 4000}}},
	 .flows = {{1, {24, 26}, {64, 64}}, {1, {24, 26}, {1500, 1500}}}},

	/* weights */
	{.name = "weights, with packets that are longer than a quantum",
	 .channels = {160},
	 .modems = {ANY_MODEM},
	 .flows = {{1, {19.8, 20.2}, {4000, 9000}, .flow.weight = 1},
		   {1, {39.6, 40.4}, {2049, 2049}, .flow.weight = 2},
		   {1, {99, 101}, {64, 2017}, .flow.weight = 5}}},
	{.name = "weights count within a modem only",
	 .channels = {200},
	 .modems = {ANY_MODEM, ANY_MODEM},
	 .flows = {{1, {99, 101}, .flow.modem = 0},
		   {1, {72, 78}, .flow = {.modem = 1, .weight = 255}},
		   {1, {22, 28}, .flow = {.modem = 1, .weight = 85}}}},
	/* a packet arrives when the one before has left */
	{.name = "modems with one packet are served beside a group with many",
	 .channels = {1000},
	 .groups = {{0, 1}, {0, 1}},
	 .flows = {{20, {43.4, 48.8}, {1500, 1500}, .backlog = 1, .flow.group = 0},
		   {1, {43.4, 132}, {1500, 1500}, .flow.group = 1}}},
	{.name = "debts outlast an empty queue: flows of a modem",
	 .channels = {1000},
	 .modems = {ANY_MODEM},
	 .flows = {{1, {250, 530}, {16383, 16383}, .backlog = 1},
		   {1, {0, 0}, {1500, 1500}, .backlog = 100}}},
	{.name = "debts outlast an empty queue: modems",
	 .channels = {1000},
	 .flows = {{1, {250, 530}, {16383, 16383}, .backlog = 1},
		   {1, {0, 0}, {1500, 1500}, .backlog = 100}}},

	/* reserved rates: at least these, and of what is left no more than lower priorities get */
	{.name = "a reserved rate above the limit of a modemleaves nothing to others",
	 .channels = {100},
	 .modems = {{{4 * MBPS, 25000}}},
	 .flows = {{1, {4.97, 5.03}, .flow.reserved = 5 * MBPS}, {1, .flow.priority = 7}},
	 .all = {4.97, 5.03},
	 .before_ms = 600},
	{.name = "more reserved than the channel has: packet by packet",
	 .channels = {60},
	 .flows = {{1, {29.7, 30.1}, {1500, 1500}, .flow.reserved = 60 * MBPS},
		   {1, {19.8, 20.1}, {1000, 1000}, .flow.reserved = 60 * MBPS},
		   {1, {9.9, 10.1}, {500, 500}, .flow.reserved = 60 * MBPS},
		   {1, {0.1, 0.6}, .flow.priority = 7}}},
	{.name = "more reserved than the channel has, and as much sustained",
	 .channels = {100},
	 .modems = {ANY_MODEM},
	 .flows = {{5,
		    {18, 22},
		    {1500, 1500},
		    .flow = {.sustained = {40 * MBPS, 1500}, .reserved = 40 * MBPS}}}},
};

static void start_load(const struct load *l, struct kit *k) {
	*k = kit_init();
	for (unsigned i = 0; i < ARRAY_COUNT(l->channels) && l->channels[i] > 0; i++)
		kit_add_channel(k, (uint64_t)(l->channels[i] * 1e6));
	for (unsigned i = 0; i < ARRAY_COUNT(l->groups) && l->groups[i].count > 0; i++)
		kit_add_group_range(k, l->groups[i].first, l->groups[i].count);
	if (l->groups[0].count == 0)
		kit_add_group_range(k, 0, (uint32_t)k->config.channel_count);
	for (unsigned i = 0; i < 2 && l->modems[i].aggregate.rate > 0; i++)
		kit_add_modem(k, l->modems[i].aggregate.rate, l->modems[i].aggregate.burst);
	for (const struct load_flows *f = l->flows; f->count > 0; f++) {
		for (unsigned i = 0; i < f->count; i++) {
			struct scheduler_flow settings = f->flow;

			if (l->modems[0].aggregate.rate == 0)
				settings.modem = kit_add_modem(k, 0, 0);
			kit_add_flow(k, settings);
		}
	}
	kit_start(k);
}

static void check_between(const char *load, const char *what, double mbps, const double range[2]) {
	if (range[1] > 0 && (mbps < range[0] || mbps > range[1]))
		fail_msg("%s: %s %.4f Mbps, not %.4f to %.4f", load, what, mbps, range[0],
			 range[1]);
}

static void run_load(const struct load *l) {
	uint32_t flow = 0;
	struct kit k;

	start_load(l, &k);
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
			check_between(l->name, "a flow gets", kit_rate_sum(&k, flow++, 1) / 1e6,
				      f->mbps);
	}
	check_between(l->name, "all flows get", kit_rate_sum(&k, 0, flow) / 1e6, l->all);
	if (l->filled)
		kit_check_busy(&k);
	kit_close(&k);
}

TEST(flows_get_expected_rates) {
	for (size_t i = 0; i < ARRAY_COUNT(loads); i++)
		run_load(&loads[i]);
}

/* Small packets at odd rates: fractions of a nanosecond must not get lost. Times are in ticks of
 * 1/64 ns, so no packet is off by more than 0.01 ns. */
TEST(rates_do_not_drift) {
	static const uint64_t rates[] = {777777777, 1890000001, 42240000, KIT_MBPS(10000)};

	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		struct kit k = kit_init();
		struct scheduler_channel_report r;
		double drift;

		kit_add_channel(&k, rates[i]);
		kit_add_group_range(&k, 0, 1);
		kit_add_flow(&k, (struct scheduler_flow){.group = 0});
		kit_start(&k);
		kit_feed_all(&k, 31, 31);
		kit_dequeue_all(&k);
		kit_run(&k, 30 * KIT_MS);
		scheduler_report_channel(k.s, 0, &r);
		/* the channel was never idle: the times of all packets from 0 on */
		drift = (double)r.busy_until - 8e9 * (double)r.bytes / (double)rates[i];
		if (fabs(drift) > 1 + 0.01 * (double)r.packets)
			fail_msg("%.0f ns of drift of rate %zu", drift, i);
		kit_close(&k);
	}
}

/* The first flow of a modem. Flows are in the order of their modems. */
static uint32_t first_flow(const struct kit *k, uint32_t modem) {
	uint32_t flow = 0;

	while (flow < k->config.flow_count && k->settings[flow].modem < modem)
		flow++;
	return flow;
}

/* The rate that a set of modems can have: of the channels that they reach, and of a single modem at
 * most its limit. The flows of a modem are in one group. */
static double rate_of_set(const struct kit *k, unsigned set) {
	const uint64_t one = k->modems[__builtin_ctz(set)].aggregate.rate;
	bool reached[SCHEDULER_MAX_CHANNELS] = {false};
	double rate = 0;

	for (unsigned i = 0; set >> i > 0; i++) {
		const struct scheduler_group *g = &k->groups[k->settings[first_flow(k, i)].group];

		for (size_t n = 0; set >> i & 1 && n < g->channel_count; n++)
			reached[g->channels[n]] = true;
	}
	for (size_t n = 0; n < k->config.channel_count; n++)
		rate += reached[n] ? (double)k->channels[n].rate : 0;
	if (k->config.rate_limit > 0)
		rate = fmin(rate, (double)k->config.rate_limit);
	return (set & (set - 1)) == 0 && one > 0 ? fmin(rate, (double)one) : rate;
}

/* Computes fair shares of modems whose groups share channels (max-min fairness). All shares grow at
 * the same speed, until a set of modems has all that it can have. Visits all sets. */
static void fair_shares(const struct kit *k, double *share) {
	const unsigned all = (1u << k->config.modem_count) - 1;
	unsigned growing = all, full;

	for (; growing != 0; growing &= ~full) {
		double level = INFINITY;

		full = growing;
		for (unsigned set = 1; set <= all; set++) {
			double left = rate_of_set(k, set);

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

/* Each modem gets its fair share, within `part`. */
static void check_fair(const struct kit *k, double part) {
	double share[FAIR_MODEMS] = {0};

	assert_true(k->config.modem_count <= FAIR_MODEMS);
	fair_shares(k, share);
	for (uint32_t i = 0; i < k->config.modem_count; i++) {
		const uint32_t first = first_flow(k, i), flows = first_flow(k, i + 1) - first;

		kit_check_near("modem", i, kit_rate_sum(k, first, flows), share[i], part);
	}
}

/* A flow does not save up unused rounds: beside another, of its modem or not, it gets half. */
TEST(unused_rounds_are_not_saved_up) {
	for (unsigned modems = 1; modems <= 2; modems++) {
		struct kit k = kit_init();

		kit_add_channel(&k, KIT_MBPS(100));
		kit_add_group_range(&k, 0, 1);
		for (uint32_t i = 0; i < 2; i++) {
			kit_add_modem(&k, 0, 0);
			kit_add_flow(&k, (struct scheduler_flow){.modem = i % modems});
		}
		kit_start(&k);
		for (unsigned i = 0; i < 1000; i++) {
			kit_enqueue(&k, 0, 100);
			kit_run(&k, 2 * KIT_STEP_NS);
		}
		kit_feed_all(&k, 1500, 1500);
		kit_measure(&k, 0, 50 * KIT_MS);
		assert_in_range(k.flows[1].packets, 200, 220);
		kit_close(&k);
	}
}

static uint32_t random_group(struct kit *k, uint32_t channels, uint32_t fallback) {
	uint32_t list[6], count = 0;

	for (uint32_t i = 0; i < channels; i++) {
		if (random_below(&k->random, 2) > 0)
			list[count++] = i;
	}
	if (count == 0)
		list[count++] = fallback % channels;
	return kit_add_group(k, list, count);
}

/* Adds modems to a group, with some flows each. Some have limits. */
static void random_modems(struct kit *k, uint32_t group, bool limits) {
	for (uint32_t n = random_between(&k->random, 1, 2); n > 0; n--) {
		const bool limited = limits && random_below(&k->random, 3) == 0;
		const uint64_t rate = limited ? KIT_MBPS(random_between(&k->random, 5, 60)) : 0;
		const uint32_t modem = kit_add_modem(k, rate, 20000);

		for (uint32_t flows = random_between(&k->random, 1, 8); flows > 0; flows--)
			kit_add_flow(k, (struct scheduler_flow){.group = group, .modem = modem});
	}
}

/* Random channels, groups, flows and packets, also longer than several quanta, and rate limits. */
TEST(modems_get_fair_shares) {
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct kit k = kit_init();
		uint32_t channels, groups;

		k.random.state = seed * 7919;
		channels = random_between(&k.random, 2, 6);
		groups = random_between(&k.random, 2, 5);
		for (uint32_t i = 0; i < channels; i++)
			kit_add_channel(&k, KIT_MBPS(random_between(&k.random, 30, 150)));
		for (uint32_t g = 0; g < groups; g++)
			random_modems(&k, random_group(&k, channels, g), seed % 2 == 0);
		if (seed % 3 == 0)
			k.config.rate_limit = KIT_MBPS(random_between(&k.random, 50, 300));
		kit_start(&k);
		for (uint32_t i = 0; i < k.config.flow_count; i++) {
			uint32_t smallest = random_between(&k.random, 64, 1500);

			kit_feed(&k, i, smallest, smallest + random_below(&k.random, 8000), 32);
		}
		kit_measure(&k, 50 * KIT_MS, KIT_S);
		check_fair(&k, 0.03);
		kit_close(&k);
	}
}
