/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets how much: priorities, equal shares, rates. */
#include "maps_kit.h"
#include "test_main.h"

#define MBPS 1000000
#define ALWAYS 1500000 /* bytes that a greedy flow is owed at least */
#define FLOWS 200

/* Flows of one sort that always ask for more. */
struct load_flows {
	uint32_t count; /* 0: the list ends */
	uint32_t channels; /* a bit of each */
	double least, most; /* Mbps of data minislots of each; 0: not judged */
	struct maps_flow is;
};

/* A channel has 668.4 Mbps, less the region for requests. */
struct load {
	const char *name;
	uint32_t channels;
	struct load_flows flows[5];
	uint32_t ms;
};

static const struct load loads[] = {
	{"equals have equal shares",
	 4,
	 {{130, 0xf, 20.3, 20.6, {.header_bytes = 8, .priority = 3}}},
	 3000},
	/* what is most even is 3 / 75 of a channel each */
	{"shares are as even as channels let them",
	 3,
	 {{25, 1, 26.4, 26.8, {.priority = 1}},
	  {10, 3, 26.4, 26.8, {.priority = 1}},
	  {40, 7, 26.4, 26.8, {.priority = 1}}},
	 3000},
	/* of the shared channel it has as little as it ran ahead */
	{"a flow with a channel of its own leaves the other to those that have no more",
	 2,
	 {{1, 3, 660, 700, {.priority = 1}}, {19, 1, 33.5, 35.2, {.priority = 1}}},
	 3000},
	{"lower priorities have what higher ones leave",
	 1,
	 {{1, 1, 199, 201, {.priority = 7, .sustained = 200 * MBPS}},
	  {1, 1, 298.5, 301.5, {.priority = 4, .sustained = 300 * MBPS}},
	  {1, 1, 150, 170, {.priority = 0}}},
	 2000},
	{"lower priorities have nothing beside a greedy one",
	 2,
	 {{1, 3, 1320, 1340, {.priority = 7}}, {7, 3, 0, 0.001, {.priority = 6}}},
	 200},
	/* headers, and what the last minislot of a grant has in excess, come on top */
	{"reserved rates are kept beside higher priorities, and no more",
	 2,
	 {{20, 3, 40, 65, {.priority = 7, .header_bytes = 8}},
	  {5, 3, 0.99, 1.05, {.header_bytes = 8, .reserved = 1 * MBPS}},
	  {5, 3, 4.97, 5.18, {.header_bytes = 8, .reserved = 5 * MBPS}},
	  {5, 3, 9.95, 10.35, {.header_bytes = 8, .reserved = 10 * MBPS}}},
	 10000},
	{"a sustained rate after its burst",
	 1,
	 {{1, 1, 0.0755, 0.0765, {.sustained = 64000, .sustained_burst = 30000}},
	  {1, 1, 10, 10.12, {.sustained = 10 * MBPS, .sustained_burst = 30000}},
	  {1, 1, 99.9, 100.6, {.sustained = 100 * MBPS, .sustained_burst = 30000}}},
	 20000},
	/* the burst lasts for 4.2 s */
	{"a peak rate while the burst lasts",
	 1,
	 {{1, 1, 19.9, 20.1, {.sustained = MBPS, .sustained_burst = 10000000, .peak = 20 * MBPS}}},
	 2000},
	{"a sustained rate when the burst is over",
	 1,
	 {{1, 1, 8.98, 9.05, {.sustained = MBPS, .sustained_burst = 10000000, .peak = 20 * MBPS}}},
	 10000},
	{"short grants for all",
	 1,
	 {{200, 1, 0.55, 0.6, {.header_bytes = 8, .max_burst = 128}}},
	 40},
};

/* Each is owed much before each round. */
static void ask_greedily(struct kit *k, uint32_t flows, uint64_t until) {
	uint64_t asked[FLOWS] = {0};

	while (maps_due(k->m) < until) {
		for (uint32_t i = 0; i < flows; i++) {
			uint64_t got = kit_granted(k, i) * k->channels[0].minislot_bytes;

			for (; asked[i] < got + ALWAYS; asked[i] += ALWAYS / 5)
				assert_int_equal(kit_ask(k, i, ALWAYS / 5), MAPS_TAKEN);
		}
		kit_next(k);
	}
}

static void carry(const struct load *l) {
	uint32_t flow = 0;
	uint64_t begin;
	struct kit k;

	kit_create_alike(&k, kit_ofdma(1), l->channels, FLOWS);
	for (const struct load_flows *f = l->flows; f->count > 0; f++)
		for (uint32_t i = 0; i < f->count; i++)
			assert_null(kit_flow(&k, flow++, f->channels, f->is));
	begin = k.now;
	ask_greedily(&k, flow, begin + MS(l->ms));
	flow = 0;
	for (const struct load_flows *f = l->flows; f->count > 0; f++) {
		for (uint32_t i = 0; i < f->count; i++) {
			double bits = (double)kit_granted(&k, flow++) * 48 * 8;
			double mbps = bits / ((double)l->ms * 1000);

			if (f->most > 0 && (mbps < f->least || mbps > f->most))
				fail_msg("%s: flow %u has %.4f Mbps, not %.4f to %.4f", l->name,
					 flow - 1, mbps, f->least, f->most);
		}
	}
	kit_check_counts(&k);
	kit_free(&k);
}

TEST(flows_have_what_is_theirs) {
	for (size_t i = 0; i < ARRAY_COUNT(loads); i++)
		carry(&loads[i]);
}

/* More flows than a MAP has elements, each with little: all have their turn, and those that wait are told. */
TEST(more_flows_than_elements) {
	struct kit k;

	kit_create_alike(&k, kit_ofdma(1), 1, 2000);
	for (uint32_t i = 0; i < 2000; i++) {
		assert_null(kit_flow(&k, i, 1, (struct maps_flow){.header_bytes = 8}));
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
		assert_null(
			kit_flow(&k, i, i < both ? 1 : 3, (struct maps_flow){.header_bytes = 8}));
		kit_ask(&k, i, i < both ? 88 : 1 << 20);
	}
	kit_next(&k);
	assert_int_equal(k.pendings[0][both + 1], 0);
	assert_int_equal(k.pendings[1][both + 1], 1);
	kit_free(&k);
}
