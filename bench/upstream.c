/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream: receives UEPI packets, sends Ethernet frames. Modems fill grants of 2 kB, which all
 * SIDs get in round robin. A packet counts when its frame is transmitted. */
#include <rte_cycles.h>

#include "direction.h"
#include "wire/docsis_mac.h"

/* The lower of the published rate per service group, and nine tenths of the channels' rate. */
#define RATE_MAX 2000000000.0
#define CHANNEL_SHARE 0.9
#define PRIVACY_ELEMENT 5 /* BP_UP */
#define OVERHEAD (DOCSIS_MAC_HEADER + PRIVACY_ELEMENT + RTE_ETHER_CRC_LEN)
#define ROUNDS 65536 /* exceeds the rounds of a batch */

static struct pipeline *list(struct bench *b, unsigned index) {
	return upstream_pipeline(bench_group(b)->upstream, index);
}

static double rate(const struct service_group *sg) {
	double channels = 0;

	for (size_t c = 0; c < sg->upstream_channel_count; c++)
		channels += (double)sg->upstream_channels[c].rate;
	return RTE_MIN(channels * CHANNEL_SHARE, RATE_MAX);
}

/* Recreates the upstream: to the old one, most packets of a restarted device would be late. */
static int begin(struct bench *b) {
	struct us_resources r = bench_group(b)->upstream->r;

	upstream_free(bench_group(b)->upstream);
	bench_group(b)->upstream = upstream_create(bench_group(b)->sg, &r);
	return bench_group(b)->upstream == NULL ? -1 : 0;
}

static void options(struct traffic_options *o, const struct mix *mix) {
	o->no_downstream = true;
	o->upstream = true;
	o->upstream_mix = *mix;
}

/* The number of L2TPv3 packets: nearly all have the MTU's size. */
static unsigned batch(const struct bench *b, double mean_bytes) {
	return (unsigned)(BENCH_BATCH * (mean_bytes + OVERHEAD) / bench_config(b)->rphy.mtu) + 1;
}

static uint64_t counter(const struct upstream *u, enum counter which) {
	return u->counters.values[which];
}

/* Runs until all packets are received and no more output is possible without further input. */
static uint64_t carry(struct bench *b, unsigned fed, uint64_t step_ns) {
	const struct upstream *u = bench_group(b)->upstream;
	uint64_t received = counter(u, COUNTER_RECEIVED) + fed;
	uint64_t transmitted = counter(u, COUNTER_TRANSMITTED);

	for (unsigned i = 0; i < ROUNDS; i++) {
		if (counter(u, COUNTER_RECEIVED) >= received && !upstream_busy(u))
			break;
		bench_round(b, &bench_upstream, step_ns);
	}
	return counter(u, COUNTER_TRANSMITTED) - transmitted;
}

/* Lets modems complete unfinished frames. */
static void settle(struct bench *b, struct traffic *t) {
	for (int i = 0; i < 10000 && !(traffic_all_sent(t) && traffic_in_flight(t) == 0); i++) {
		carry(b, traffic_send(t, rte_rdtsc()), 1000);
		bench_receive(t);
	}
}

static int latency(struct bench *b, bool on) {
	return upstream_latency(bench_group(b)->upstream, on);
}

static void result(const struct traffic *t, struct bench_run *out) {
	struct uplink_result r;

	traffic_uplink_result(t, &r);
	out->packets = r.sent;
	out->bytes = r.sent_bytes;
	out->proven = uplink_result_good(&r);
}

static const char *const mixes[] = {"upstream-imix", "84", "256", "512", "1024", "1280", "1518"};

const struct bench_direction bench_upstream = {
	.name = "upstream",
	.mixes = mixes,
	.mix_count = RTE_DIM(mixes),
	.list_count = US_PIPELINES,
	.list = list,
	.rate = rate,
	.overhead = OVERHEAD,
	.begin = begin,
	.options = options,
	.batch = batch,
	.carry = carry,
	.settle = settle,
	.latency = latency,
	.result = result,
	.crypto = CRYPTO_UPLINK,
};
