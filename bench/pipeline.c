/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "batches.h"
#include "crypto/providers.h"
#include "crypto_bound.h"
#include "direction.h"
#include "platform/port.h"
#include "program.h"

#define PORT_DEPTH 4096
#define WARM_UP 8 /* batches */
#define MIN_BATCHES 8 /* minimum, even if other programs have the cores */
#define MAX_BATCHES 8192

/* Creates the mempools, then the tables and keys. Each returns 0, or -1 after a message. */
static int pools_make(struct bench *b, const struct service_group *sg) {
	uint64_t memory = footprint_memory();
	double start = monotonic_seconds();

	if (server_create(&b->server, single_group_config(&b->lone, sg)) != 0)
		return -1;
	b->footprint.make_pools = monotonic_seconds() - start;
	b->footprint.pools = footprint_memory() - memory;
	return 0;
}

static int server_make(struct bench *b) {
	struct footprint *f = &b->footprint;
	uint64_t memory = footprint_memory();
	double start = monotonic_seconds();

	server_ports_set(&b->server.ports, 0, DEVICE_NETWORK, b->network[0]);
	server_ports_set(&b->server.ports, 0, DEVICE_RPHY, b->rphy[0]);
	if (server_serve(&b->server) != 0)
		return -1;
	f->make_sessions = b->server.keys_seconds;
	f->make_tables = monotonic_seconds() - start - f->make_sessions;
	f->tables = footprint_memory() - memory;
	return 0;
}

/* Starts the lower MAC's thread, if there are two. It ends with the run, as another program may use the core
 * between two runs. */
static int second_core_start(struct bench *b) {
	const struct layout_group *at = &b->server.layout.groups[0];
	struct worker *workers = b->server.workers;

	if (b->threads == 1)
		return 0;
	return pair_start(&b->pair, bench_group(b)->downstream, &workers[at->upper].clock,
			  &workers[at->lower].clock);
}

int bench_create(struct bench *b, const struct service_group *sg, unsigned threads) {
	b->threads = threads;
	if (pools_make(b, sg) != 0 ||
	    port_pair("network", b->server.pools.packets, PORT_DEPTH, b->network) != 0 ||
	    port_pair("rphy", b->server.pools.packets, PORT_DEPTH, b->rphy) != 0 ||
	    server_make(b) != 0)
		return -1;
	for (unsigned w = 0; w < b->server.worker_count; w++)
		b->server.workers[w].entry_count = 0; /* bench_round() runs the stage lists */
	b->crypto = crypto_standalone_open(SOCKET_ID_ANY);
	return b->crypto != NULL ? 0 : -1;
}

void bench_free(struct bench *b) {
	if (b->crypto != NULL)
		crypto_close(b->crypto);
	server_free(&b->server);
}

void bench_round(struct bench *b, const struct bench_direction *d, uint64_t step_ns) {
	b->now += step_ns;
	for (unsigned w = 0; w < b->server.worker_count; w++)
		b->server.workers[w].clock.now = b->now;
	for (unsigned l = 0; l < d->list_count; l++)
		pipeline_run(d->list(b, l));
}

void bench_receive(struct traffic *t) {
	while (traffic_receive(t) > 0)
		;
}

/* Parameters of a run. */
struct run {
	struct bench *b;
	const struct bench_direction *d;
	struct traffic *t;
	uint64_t step_ns; /* simulated time between two bursts */
	unsigned size; /* of a batch, in units of traffic_send() */
};

/* Processes one batch and counts its packets and the pipeline's cycles. */
static void carry(const struct run *r, struct batch *batch) {
	/* one time for the whole batch, so that the flush timer does not expire */
	uint64_t now = rte_rdtsc();
	unsigned fed = 0;
	uint64_t start;

	for (unsigned tries = 0; fed < r->size && tries < BENCH_BATCH; tries++)
		fed += traffic_send(r->t, now);
	start = rte_rdtsc();
	batch->packets = r->d->carry(r->b, fed, r->step_ns);
	batch->cycles = rte_rdtsc() - start;
	if (r->b->threads == 2) /* excludes the time that one core waits for the other */
		batch->cycles = pair_take_cycles(&r->b->pair);
	bench_receive(r->t);
}

/* Turns the accounting of all stages on or off. */
static void accounting(const struct run *r, bool on) {
	for (unsigned l = 0; l < r->d->list_count; l++)
		r->d->list(r->b, l)->accounting = on;
}

/* Replaces the cycles of the batch by those of its stages, and resets the accounts. */
static void accounts_reset(const struct run *r, struct batch *batch) {
	batch->cycles = 0;
	for (unsigned l = 0; l < r->d->list_count; l++)
		batch_add_accounts(batch, l, r->d->list(r->b, l));
}

struct batches {
	struct batch *accounted; /* with accounting of the stages */
	struct batch *plain; /* without accounting: `stages` is empty */
	struct batch *latency; /* without accounting, with latencies measured */
	unsigned count;
};

/* Runs two batches with latencies on, and counts the second: all of its output has a time stamp. */
static void carry_latency(const struct run *r, struct batch *batch) {
	struct batch first;

	r->d->latency(r->b, true);
	carry(r, &first);
	carry(r, batch);
	r->d->latency(r->b, false);
}

/* Alternates batches with accounting, without, and with latencies, so that all run under the same
 * conditions. */
static void measure(const struct run *r, unsigned milliseconds, struct batches *batches) {
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() * milliseconds / 1000;
	struct batch warm = {0};

	for (int i = 0; i < WARM_UP; i++)
		carry(r, &warm);
	accounts_reset(r, &warm);
	while (batches->count < MAX_BATCHES && !program_stopped() &&
	       (batches->count < MIN_BATCHES || rte_rdtsc() < end)) {
		struct batch *accounted = &batches->accounted[batches->count];

		accounting(r, true);
		carry(r, accounted);
		accounts_reset(r, accounted);
		accounting(r, false);
		carry(r, &batches->plain[batches->count]);
		carry_latency(r, &batches->latency[batches->count]);
		batches->count++;
	}
}

/* Polls instead of sleeping, so that the core keeps its clock rate. */
static void wait_until(double begin) {
	while (monotonic_seconds() < begin && !program_stopped())
		rte_pause();
}

/* Measures and proves one run. Returns 0, or -1 after a message. */
static int measure_and_prove(const struct run *r, unsigned milliseconds, struct bench_run *out) {
	struct batches batches = {
		.accounted = calloc(MAX_BATCHES, sizeof(struct batch)),
		.plain = calloc(MAX_BATCHES, sizeof(struct batch)),
		.latency = calloc(MAX_BATCHES, sizeof(struct batch)),
	};
	bool memory = batches.accounted != NULL && batches.plain != NULL &&
		      batches.latency != NULL && r->d->latency(r->b, false) == 0;

	if (memory) {
		wait_until(r->b->begin);
		out->begin = monotonic_seconds();
		measure(r, milliseconds, &batches);
		out->end = monotonic_seconds();
		batches_mean(batches.accounted, batches.count, &out->cycles, out->stages);
		batches_mean(batches.plain, batches.count, &out->plain_cycles, NULL);
		batches_mean(batches.latency, batches.count, &out->latency_cycles, NULL);
		out->latency_cycles -= out->plain_cycles;
		traffic_stop(r->t);
		r->d->settle(r->b, r->t);
		r->d->result(r->t, out);
		out->proven = out->proven && batches.count > 0;
	}
	if (!memory)
		fprintf(stderr, "no memory for the figures of a run\n");
	free(batches.accounted);
	free(batches.plain);
	free(batches.latency);
	return memory ? 0 : -1;
}

int bench_run(struct bench *b, const struct bench_direction *d, const struct mix *mix,
	      unsigned milliseconds, uint64_t seed, struct bench_run *out) {
	struct traffic_options options = {
		.network_port = b->network[1],
		.rphy_port = b->rphy[1],
		.crypto = b->crypto,
		.seed = seed,
		.flows = b->flows,
	};
	double bytes = mix_mean(mix) + d->overhead;
	struct run run = {
		.b = b,
		.d = d,
		.step_ns = (uint64_t)(PIPELINE_BURST * bytes * 8e9 / d->rate(bench_config(b))),
		.size = d->batch(b, mix_mean(mix)),
	};
	int ret = -1;

	memset(out, 0, sizeof(*out));
	if (d->begin != NULL && d->begin(b) != 0)
		return -1;
	d->options(&options, mix);
	run.t = traffic_create(bench_config(b), &options);
	if (run.t == NULL)
		return -1;
	if (second_core_start(b) == 0)
		ret = measure_and_prove(&run, milliseconds, out);
	pair_stop(&b->pair);
	traffic_free(run.t);
	out->bound = crypto_bound(&b->server, d->crypto, mix, milliseconds / 4);
	return ret;
}
