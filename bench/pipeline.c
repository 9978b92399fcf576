/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline.h"

#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "crypto_bound.h"
#include "platform/port.h"
#include "wire/docsis_mac.h"

#define PORT_DEPTH 4096
#define CRYPTO_OPS 2048

/* At which the pipeline's time goes on: just below the published 10 Gbps a service group, in bytes
 * as the scheduler counts them, DOCSIS header and CRC included. */
#define RATE 9500000000.0
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

static void accounting_set(struct bench *b, bool on) {
	for (unsigned l = 0; l < DS_PIPELINES; l++)
		downstream_pipeline(b->instance.downstream, l)->accounting = on;
}

/* One round of all workers in `step_ns` of the pipeline's time. */
static unsigned round_at(struct bench *b, uint64_t step_ns) {
	unsigned moved = 0;

	b->now += step_ns;
	for (unsigned w = 0; w < b->instance.worker_count; w++) {
		b->instance.workers[w].clock.now = b->now;
		moved += worker_round(&b->instance.workers[w]);
	}
	return moved;
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

static void accounts_clear(struct downstream *d) {
	for (unsigned l = 0; l < DS_PIPELINES; l++)
		memset(downstream_pipeline(d, l)->accounts, 0,
		       sizeof(downstream_pipeline(d, l)->accounts));
}

static void accounts_read(struct downstream *d, uint64_t packets, struct bench_run *out) {
	for (unsigned l = 0; l < DS_PIPELINES; l++) {
		const struct pipeline *p = downstream_pipeline(d, l);

		for (unsigned s = 0; s < p->count; s++) {
			out->stages[l][s] = (double)p->accounts[s].cycles / (double)packets;
			out->cycles += out->stages[l][s];
		}
	}
}

/* Batches with and without accounting in turn, so that both see the same machine. */
static void measure(struct bench *b, struct traffic *t, double mean_bytes, unsigned milliseconds,
		    struct bench_run *out) {
	uint64_t burst_ns = (uint64_t)(PIPELINE_BURST * (mean_bytes + OVERHEAD) * 8e9 / RATE);
	uint64_t end, plain_cycles = 0, batches = 0;
	struct counters before, after;

	for (int warm = 0; warm < 8; warm++)
		carry(b, t, burst_ns);
	accounts_clear(b->instance.downstream);
	downstream_counters(b->instance.downstream, &before);
	end = rte_rdtsc() + rte_get_tsc_hz() * milliseconds / 1000;
	for (; rte_rdtsc() < end; batches++) {
		accounting_set(b, true);
		carry(b, t, burst_ns);
		accounting_set(b, false);
		plain_cycles += carry(b, t, burst_ns);
	}
	downstream_counters(b->instance.downstream, &after);
	out->packets = after.values[COUNTER_RECEIVED] - before.values[COUNTER_RECEIVED];
	out->bytes = after.values[COUNTER_RECEIVED_BYTES] - before.values[COUNTER_RECEIVED_BYTES];
	if (out->packets > 0) {
		accounts_read(b->instance.downstream, out->packets / 2, out);
		out->plain_cycles = (double)plain_cycles / ((double)out->packets / 2);
	}
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
	struct traffic_result result;

	memset(out, 0, sizeof(*out));
	if (t == NULL)
		return -1;
	measure(b, t, mix_mean(mix), milliseconds, out);
	traffic_stop(t);
	settle(b, t);
	traffic_result(t, &result);
	out->proven = traffic_result_good(&result) && result.sent > 0;
	traffic_free(t);
	out->bound = crypto_bound(&b->instance, mix, milliseconds / 4);
	return 0;
}
