/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "downstream/qos.h"
#include "wire/docsis_mac.h"

#define OFDM_RATE 1890000000 /* bits per second */
#define SC_QAM_RATE 42240000
#define MTU 1500
#define MAX_SEGMENTS 16
#define FLUSH_NS 50000

/* The first two are published configurations. The third is a machine with eight OFDM and 192 SC-QAM
 * channels: four times the layout of the second, with 48 SC-QAM channels. Columns as in struct bench_case. */
const struct bench_case bench_cases[CASE_COUNT] = {
	{"6ofdm", 300, 1, 6, 0, 10000000000, 64},
	{"2ofdm-32sc-qam", 300, 1, 2, 32, 10000000000, 64},
	{"8ofdm-192sc-qam", 10000, 4, 2, 48, 0, 16},
};

unsigned case_groups(const struct bench_case *c) {
	return c->clusters * (c->sc_qam > 0 ? 4 : 2);
}

uint64_t case_rate(const struct bench_case *c) {
	uint64_t sum =
		c->clusters * (c->ofdm * (uint64_t)OFDM_RATE + c->sc_qam * (uint64_t)SC_QAM_RATE);

	return c->rate_limit != 0 && c->rate_limit < sum ? c->rate_limit : sum;
}

/* DEPI framing of all channels. */
static struct scheduler_depi depi(void) {
	const struct rphy_config rphy = {
		.core_ip.family = 4,
		.mtu = MTU,
		.max_segments = MAX_SEGMENTS,
		.flush_ns = FLUSH_NS,
	};
	const struct channel channel = {.psp_extra = PSP_EXTRA_COUNTER};

	return qos_depi(&rphy, &channel);
}

/* Assumes full DEPI frames: each packet has its share of one more split, and of the frames' overhead. */
double case_overhead(double mean) {
	struct scheduler_depi d = depi();
	double framed = mean + DOCSIS_DOWN_HEADER_MAX;
	double segments = 1 + framed / d.capacity;
	double bytes = framed + segments * d.entry_bytes;

	return bytes + bytes / d.capacity * d.frame_bytes - mean;
}

unsigned case_packets(const struct bench_case *c) {
	return case_flows(c) * c->queue_packets;
}

/* Group g of a cluster: one half of its OFDM channels, and one half of its SC-QAM channels if any. */
static size_t group_channels(const struct bench_case *c, unsigned group, uint32_t *out) {
	unsigned groups = case_groups(c) / c->clusters;
	unsigned first = group / groups * (c->ofdm + c->sc_qam), g = group % groups;
	unsigned ofdm_half = c->sc_qam > 0 ? g / 2 : g, sc_qam_half = g % 2;
	size_t n = 0;

	for (unsigned i = 0; i < c->ofdm / 2; i++)
		out[n++] = first + ofdm_half * (c->ofdm / 2) + i;
	for (unsigned i = 0; i < c->sc_qam / 2; i++)
		out[n++] = first + c->ofdm + sc_qam_half * (c->sc_qam / 2) + i;
	return n;
}

/* Input of scheduler_create(), which copies it. */
struct tables {
	struct scheduler_channel channels[SCHEDULER_MAX_CHANNELS];
	struct scheduler_group groups[SCHEDULER_MAX_CHANNELS];
	uint32_t members[SCHEDULER_MAX_CHANNELS * 4];
	struct scheduler_modem *modems;
	struct scheduler_flow *flows;
};

static void fill_channels(const struct bench_case *c, struct tables *t) {
	uint32_t *members = t->members;

	for (unsigned i = 0; i < case_channels(c); i++)
		t->channels[i] = (struct scheduler_channel){
			.rate = i % (c->ofdm + c->sc_qam) < c->ofdm ? OFDM_RATE : SC_QAM_RATE,
			.depi = depi(),
		};
	for (unsigned g = 0; g < case_groups(c); g++) {
		size_t count = group_channels(c, g, members);

		t->groups[g] = (struct scheduler_group){members, count};
		members += count;
	}
}

static void fill_flows(const struct bench_case *c, double mean, unsigned strict, struct tables *t) {
	uint32_t buffer = (uint32_t)(c->queue_packets * mean);

	for (unsigned m = 0; m < c->modems; m++)
		t->modems[m].aggregate =
			(struct scheduler_limit){CASE_MODEM_RATE, CASE_MODEM_BURST};
	for (unsigned f = 0; f < case_flows(c); f++) {
		unsigned number = f % CASE_FLOWS;

		t->flows[f] = (struct scheduler_flow){
			.group = f / CASE_FLOWS % case_groups(c),
			.modem = f / CASE_FLOWS,
			.priority =
				(uint8_t)(number < strict ? SCHEDULER_PRIORITIES - 1 - number : 0),
			.weight = (uint8_t)(1 << number % 4), /* as in the profiles */
			.header_bytes = DOCSIS_DOWN_HEADER_MAX,
			.sustained = {CASE_FLOW_RATE, CASE_FLOW_BURST},
			.min_buffer = buffer,
			.buffer = buffer,
			.max_buffer = buffer,
			.aqm = SCHEDULER_TAIL_DROP,
		};
	}
}

struct scheduler *case_scheduler(const struct bench_case *c, double mean, unsigned strict) {
	struct tables *t = calloc(1, sizeof(*t));
	struct scheduler *s = NULL;
	const char *why = "no memory";

	if (t != NULL) {
		t->modems = calloc(c->modems, sizeof(*t->modems));
		t->flows = calloc(case_flows(c), sizeof(*t->flows));
	}
	if (t != NULL && t->modems != NULL && t->flows != NULL) {
		fill_channels(c, t);
		fill_flows(c, mean, strict, t);
		s = scheduler_create(
			&(struct scheduler_config){
				.channels = t->channels,
				.channel_count = case_channels(c),
				.groups = t->groups,
				.group_count = case_groups(c),
				.modems = t->modems,
				.modem_count = c->modems,
				.flows = t->flows,
				.flow_count = case_flows(c),
				.rate_limit = c->rate_limit,
				.packet_limit = case_packets(c),
				.seed = 1,
			},
			&why);
	}
	if (s == NULL)
		fprintf(stderr, "%s: no scheduler: %s\n", c->name, why);
	if (t != NULL) {
		free(t->modems);
		free(t->flows);
	}
	free(t);
	return s;
}
