/* SPDX-License-Identifier: BSD-3-Clause */
/* The downstream: receives Ethernet frames, sends DEPI frames. */
#include "direction.h"
#include "proof/resequencer.h"
#include "wire/docsis_mac.h"

/* The lower of slightly below the published 10 Gbps per service group, and nine tenths of the channels' rate. */
#define RATE_MAX 9500000000.0
#define CHANNEL_SHARE 0.9

static struct pipeline *list(struct bench *b, unsigned index) {
	return downstream_pipeline(bench_group(b)->downstream, index);
}

static double rate(const struct service_group *sg) {
	double channels = 0;

	for (size_t c = 0; c < sg->channel_count; c++)
		channels += (double)sg->channels[c].rate;
	if (sg->rate_limit != 0)
		channels = RTE_MIN(channels, (double)sg->rate_limit);
	return RTE_MIN(channels * CHANNEL_SHARE, RATE_MAX);
}

static void options(struct traffic_options *o, const struct mix *mix) {
	o->mix = *mix;
	o->permit_permille = 100;
	o->classify_permille = 100;
}

static unsigned batch(const struct bench *b, double mean_bytes) {
	(void)b;
	(void)mean_bytes;
	return BENCH_BATCH;
}

/* Runs as many rounds as there are bursts, so that the packets in queues and open DEPI frames stay
 * constant. */
static uint64_t carry(struct bench *b, unsigned fed, uint64_t step_ns) {
	(void)fed;
	if (b->threads == 2) {
		pair_carry(&b->pair, BENCH_BATCH / PIPELINE_BURST, step_ns, &b->now);
		return BENCH_BATCH;
	}
	for (unsigned burst = 0; burst < BENCH_BATCH / PIPELINE_BURST; burst++)
		bench_round(b, &bench_downstream, step_ns);
	return BENCH_BATCH;
}

/* Drains with the flush timer running. */
static void settle(struct bench *b, struct traffic *t) {
	for (int i = 0; i < 10000 && downstream_pending(bench_group(b)->downstream) > 0; i++) {
		bench_round(b, &bench_downstream, 10000);
		bench_receive(t);
	}
	traffic_finish(t);
}

/*
 * Modems' reorder timers use the machine's clock, while the pipeline's clock stops if the thread is
 * descheduled. Timers that expire in such a pause make packets out of order that the pipeline kept in order.
 * They do not count.
 */
static void ignore_expired_timers(struct traffic_result *r) {
	if (r->descheduled_longest_us < RESEQUENCER_TIMER_MS * 1000.0 ||
	    r->reordered > r->resequencing_given_up)
		return;
	r->reordered = 0;
	r->resequencing_given_up = 0;
}

static int latency(struct bench *b, bool on) {
	return downstream_latency(bench_group(b)->downstream, on);
}

static void result(const struct traffic *t, struct bench_run *out) {
	struct traffic_result r;

	traffic_result(t, &r);
	ignore_expired_timers(&r);
	out->packets = r.sent;
	out->bytes = r.sent_bytes;
	out->proven = traffic_result_good(&r);
}

static const char *const mixes[] = {"imix", "84", "256", "512", "1024", "1280", "1518"};

const struct bench_direction bench_downstream = {
	.name = "downstream",
	.mixes = mixes,
	.mix_count = RTE_DIM(mixes),
	.list_count = DS_PIPELINES,
	.list = list,
	.rate = rate,
	.overhead = DOCSIS_DOWN_HEADER_MAX + RTE_ETHER_CRC_LEN,
	.options = options,
	.batch = batch,
	.carry = carry,
	.settle = settle,
	.latency = latency,
	.result = result,
	.crypto = CRYPTO_DOWNLINK,
};
