/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline.h"

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "crypto_bound.h"
#include "middle.h"
#include "platform/port.h"
#include "wire/docsis_mac.h"

#define PORT_DEPTH 4096
#define CRYPTO_OPS 2048
#define WARM_UP 8 /* batches */
#define MAX_BATCHES 8192

/* At which the pipeline's time goes on: just below the published 10 Gbps a service group, or nine
 * tenths of its channels, in bytes as the scheduler counts them, DOCSIS header and CRC included. */
#define RATE_MAX 9500000000.0
#define CHANNEL_SHARE 0.9
#define OVERHEAD (DOCSIS_DOWN_HEADER_MAX + RTE_ETHER_CRC_LEN)

int bench_create(struct bench *b, const struct service_group *sg) {
	if (instance_pools(&b->instance, sg) != 0 ||
	    port_pair("network", b->instance.packets, PORT_DEPTH, b->network) != 0 ||
	    port_pair("rphy", b->instance.packets, PORT_DEPTH, b->rphy) != 0 ||
	    instance_create(&b->instance, b->network[0], b->rphy[0]) != 0)
		return -1;
	return crypto_open(&b->crypto, "modems", 1, (unsigned)sg->modem_count + 1, CRYPTO_OPS);
}

void bench_free(struct bench *b) {
	if (b->crypto.ops != NULL)
		crypto_close(&b->crypto);
	instance_free(&b->instance);
}

static double feed_rate(const struct service_group *sg) {
	double channels = 0;

	for (size_t c = 0; c < sg->channel_count; c++)
		channels += (double)sg->channels[c].rate;
	if (sg->rate_limit != 0)
		channels = RTE_MIN(channels, (double)sg->rate_limit);
	return RTE_MIN(channels * CHANNEL_SHARE, RATE_MAX);
}

/* One round of all workers in `step_ns` of the pipeline's time. */
static void round_at(struct bench *b, uint64_t step_ns) {
	b->now += step_ns;
	for (unsigned w = 0; w < b->instance.worker_count; w++) {
		b->instance.workers[w].clock.now = b->now;
		worker_round(&b->instance.workers[w]);
	}
}

static void receive_all(struct traffic *t) {
	while (traffic_receive(t) > 0)
		;
}

/* Carries one batch; returns the cycles of the pipeline. */
static uint64_t carry(struct bench *b, struct traffic *t, uint64_t burst_ns) {
	unsigned sent = 0;
	uint64_t start, cycles;

	while (sent < BENCH_BATCH) {
		unsigned n = traffic_send(t, rte_rdtsc());

		if (n == 0)
			break;
		sent += n;
	}
	start = rte_rdtsc();
	for (unsigned burst = 0; burst < BENCH_BATCH / PIPELINE_BURST; burst++)
		round_at(b, burst_ns);
	cycles = rte_rdtsc() - start;
	receive_all(t);
	return cycles;
}

/* What is still in the pipeline comes out, with the flush timer running. */
static void settle(struct bench *b, struct traffic *t) {
	for (int i = 0; i < 10000 && downstream_held(b->instance.downstream) > 0; i++) {
		round_at(b, 10000);
		receive_all(t);
	}
	traffic_finish(t);
}

/* What one batch cost, reference cycles. */
struct batch {
	uint64_t cycles;
	uint64_t stages[DS_PIPELINES][PIPELINE_MAX_STAGES];
};

struct batches {
	struct batch *accounted; /* all stages, with their accounts */
	struct batch *plain; /* without accounting: `stages` stays empty */
	unsigned count;
};

static void accounts_take(struct downstream *d, struct batch *batch) {
	for (unsigned l = 0; l < DS_PIPELINES; l++) {
		struct pipeline *p = downstream_pipeline(d, l);

		for (unsigned s = 0; s < p->count; s++) {
			batch->stages[l][s] = p->accounts[s].cycles;
			batch->cycles += p->accounts[s].cycles;
		}
		memset(p->accounts, 0, sizeof(p->accounts));
	}
}

/* Adds the mean batch of the middle half, reference cycles a packet, to the zeroed `out`. */
static void mean(struct batch *batches, unsigned count, struct bench_run *out) {
	struct middle half = middle_half(batches, count, sizeof(*batches));
	double packets = (double)(half.end - half.first) * BENCH_BATCH;

	for (unsigned i = half.first; i < half.end; i++) {
		out->cycles += (double)batches[i].cycles / packets;
		for (unsigned l = 0; l < DS_PIPELINES; l++) {
			for (unsigned s = 0; s < PIPELINE_MAX_STAGES; s++)
				out->stages[l][s] += (double)batches[i].stages[l][s] / packets;
		}
	}
}

/* Batches with and without accounting in turn, so that both see the same machine. */
static void measure(struct bench *b, struct traffic *t, double mean_bytes, unsigned milliseconds,
		    struct batches *batches) {
	double rate = feed_rate(b->instance.sg);
	uint64_t burst_ns = (uint64_t)(PIPELINE_BURST * (mean_bytes + OVERHEAD) * 8e9 / rate);
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() * milliseconds / 1000;
	struct batch warm = {0};

	for (int i = 0; i < WARM_UP; i++)
		carry(b, t, burst_ns);
	accounts_take(b->instance.downstream, &warm);
	while (batches->count < MAX_BATCHES && rte_rdtsc() < end) {
		downstream_account(b->instance.downstream, true);
		carry(b, t, burst_ns);
		accounts_take(b->instance.downstream, &batches->accounted[batches->count]);
		downstream_account(b->instance.downstream, false);
		batches->plain[batches->count].cycles = carry(b, t, burst_ns);
		batches->count++;
	}
}

static int measure_and_prove(struct bench *b, struct traffic *t, double mean_bytes,
			     unsigned milliseconds, struct bench_run *out) {
	struct batches batches = {
		.accounted = calloc(MAX_BATCHES, sizeof(struct batch)),
		.plain = calloc(MAX_BATCHES, sizeof(struct batch)),
	};
	bool memory = batches.accounted != NULL && batches.plain != NULL;
	struct bench_run plain = {0};
	struct traffic_result result;

	if (memory) {
		measure(b, t, mean_bytes, milliseconds, &batches);
		mean(batches.accounted, batches.count, out);
		mean(batches.plain, batches.count, &plain);
		out->plain_cycles = plain.cycles;
		traffic_stop(t);
		settle(b, t);
		traffic_result(t, &result);
		out->packets = result.sent;
		out->bytes = result.sent_bytes;
		out->proven = traffic_result_good(&result) && batches.count > 0;
	}
	free(batches.accounted);
	free(batches.plain);
	return memory ? 0 : -1;
}

int bench_run(struct bench *b, const struct mix *mix, unsigned milliseconds, uint64_t seed,
	      struct bench_run *out) {
	struct traffic_options options = {
		.network_port = b->network[1],
		.rphy_port = b->rphy[1],
		.crypto = &b->crypto,
		.mix = *mix,
		.permit_permille = 100,
		.classify_permille = 100,
		.seed = seed,
	};
	struct traffic *t = traffic_create(b->instance.sg, &options);
	int ret;

	memset(out, 0, sizeof(*out));
	if (t == NULL)
		return -1;
	ret = measure_and_prove(b, t, mix_mean(mix), milliseconds, out);
	traffic_free(t);
	out->bound = crypto_bound(&b->instance, mix, milliseconds / 4);
	return ret;
}
