/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates data plane and traffic, starts the data plane's threads, and reports its counters of a trial. trials.h runs
 * the traffic. */
#include "throughput.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>

#include "core/mix.h"
#include "crypto/providers.h"
#include "platform/port.h"
#include "server/measure.h"
#include "server/running.h"
#include "telemetry/report.h"
#include "telemetry/report_latency.h"

#define MODEMS_PER_MB 512 /* 2 kB for the keys of one modem, both directions and generations */
#define TRAFFIC_MB 384 /* buffers of both directions */
#define UPSTREAM_MB 128
/* share of packets that a filter rule permits, and of packets that match a classifier */
#define SHARE_PERMILLE 100

static const struct {
	enum direction direction;
	const char *name;
} directions[] = {{DIRECTION_DOWN, "downstream"}, {DIRECTION_UP, "upstream"}};

struct throughput *throughput_alloc(void) {
	struct throughput *t = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*t));

	if (t != NULL)
		memset(t, 0, sizeof(*t));
	else
		fprintf(stderr, "no memory for a service group\n");
	return t;
}

unsigned throughput_memory_mb(const struct service_group *sg) {
	struct single_group lone;

	return server_memory_mb(single_group_config(&lone, sg), NULL) + TRAFFIC_MB + UPSTREAM_MB +
	       (unsigned)sg->modem_count / MODEMS_PER_MB;
}

unsigned throughput_depth_max(const struct service_group *sg) {
	unsigned descriptors = RTE_MIN(sg->network.queue_size, sg->rphy_port.queue_size);

	return rte_align32prevpow2(descriptors);
}

static int traffic_make(struct throughput *t, bool upstream) {
	struct traffic_options options = {
		.network_port = t->network[1],
		.rphy_port = t->rphy[1],
		.crypto = t->crypto,
		.permit_permille = SHARE_PERMILLE,
		.classify_permille = SHARE_PERMILLE,
		.seed = 1,
		.upstream = upstream,
	};
	uint32_t largest = t->lone.group.max_frame - RTE_ETHER_CRC_LEN;
	char error[MIX_ERROR];

	/* Initial mixes: the request of each trial (struct trials) sets its own. */
	if (mix_parse("imix", largest, &options.mix, error, sizeof(error)) != 0 ||
	    mix_parse("upstream-imix", largest, &options.upstream_mix, error, sizeof(error)) != 0) {
		fprintf(stderr, "max_frame: %s\n", error);
		return -1;
	}
	t->traffic = traffic_create(&t->lone.group, &options);
	return t->traffic == NULL ? -1 : 0;
}

static int ports_make(struct throughput *t, unsigned depth) {
	const struct server_pools *p = &t->server.pools;

	if (port_pair("network", p->packets, depth, t->network) != 0 ||
	    port_pair("rphy", p->uepi != NULL ? p->uepi : p->packets, depth, t->rphy) != 0)
		return -1;
	server_ports_set(&t->server.ports, 0, DEVICE_NETWORK, t->network[0]);
	server_ports_set(&t->server.ports, 0, DEVICE_RPHY, t->rphy[0]);
	return 0;
}

int throughput_create(struct throughput *t, const struct service_group *sg, unsigned depth,
		      bool upstream) {
	struct server *s = &t->server;

	if (server_create(s, single_group_config(&t->lone, sg)) != 0 || ports_make(t, depth) != 0 ||
	    server_serve(s) != 0 || (t->crypto = crypto_standalone_open(SOCKET_ID_ANY)) == NULL ||
	    traffic_make(t, upstream) != 0)
		return -1;
	server_account(s, false);
	t->running = true;
	server_launch(s);
	return 0;
}

int throughput_stop(struct throughput *t) {
	struct server *s = &t->server;

	server_halt(s);
	t->running = false;
	server_stop(s);
	if (server_balanced(s))
		return 0;
	fprintf(stderr, "received differs from transmitted + dropped + pending: this is a defect, "
			"please report it\n");
	return -1;
}

void throughput_free(struct throughput *t) {
	if (t->running)
		throughput_stop(t);
	traffic_free(t->traffic);
	if (t->crypto != NULL)
		crypto_close(t->crypto);
	server_free(&t->server);
}

/* Copies the counters of the data plane. */
static void snapshot(const struct throughput *t, struct worker *workers,
		     struct counters *downstream, struct counters *upstream) {
	const struct served_group *g = &t->server.groups[0];

	memcpy(workers, t->server.workers, t->server.worker_count * sizeof(*workers));
	downstream_counters(g->downstream, downstream);
	if (g->upstream != NULL)
		*upstream = g->upstream->counters;
}

/* Starts measuring latencies from 0, or stops it. If memory for them is short, the answers have no
 * latencies. */
static void latencies_begin(struct throughput *t, bool on) {
	t->latency = on && server_latency(&t->server, true) == 0;
	if (!t->latency) {
		server_latency(&t->server, false);
		return;
	}
	for (size_t d = 0; d < RTE_DIM(directions); d++)
		json_decref(report_latency_reset(t->server.groups, 1, directions[d].direction));
}

void throughput_trial_begins(void *throughput, const struct traffic_load *load) {
	struct throughput *t = throughput;

	for (unsigned w = 0; w < t->server.worker_count; w++)
		worker_longest_read(&t->server.workers[w]);
	latencies_begin(t, !load->no_latency);
	snapshot(t, t->workers, &t->downstream, &t->upstream);
}

static json_t *worker_json(struct worker *worker, const struct worker *now,
			   const struct worker *before) {
	uint64_t busy = now->busy_cycles - before->busy_cycles;
	uint64_t all = busy + now->idle_cycles - before->idle_cycles;
	double longest = (double)worker_longest_read(worker) * 1e6 / (double)rte_get_tsc_hz();

	return json_pack("{s:s, s:{s:I, s:f}, s:f}", "name", now->name, "descheduled", "count",
			 (json_int_t)(now->descheduled - before->descheduled), "longest_us",
			 longest, "busy_share", all > 0 ? (double)busy / (double)all : 0.0);
}

static json_t *drops_json(const struct counters *now, const struct counters *before,
			  enum direction direction) {
	json_t *drops = json_object();

	for (unsigned r = 0; r < DROP_REASONS; r++) {
		uint64_t since = now->drops[r] - before->drops[r];

		if (since > 0 && drop_in((enum drop_reason)r, direction))
			json_object_set_new(drops, drop_name((enum drop_reason)r),
					    json_integer((json_int_t)since));
	}
	return drops;
}

/* By direction; null for a direction without packets. */
static json_t *latencies_json(const struct throughput *t) {
	json_t *all = json_object();

	for (size_t d = 0; d < RTE_DIM(directions); d++)
		json_object_set_new(
			all, directions[d].name,
			report_latency_reset(t->server.groups, 1, directions[d].direction));
	return all;
}

void throughput_trial_ended(void *throughput, json_t *answer) {
	struct throughput *t = throughput;
	struct worker workers[LAYOUT_GROUP_WORKERS];
	struct counters down = {0}, up = {0};
	json_t *list = json_array(), *drops = json_object();

	snapshot(t, workers, &down, &up);
	for (unsigned w = 0; w < t->server.worker_count; w++)
		json_array_append_new(
			list, worker_json(&t->server.workers[w], &workers[w], &t->workers[w]));
	json_object_set_new(drops, "downstream", drops_json(&down, &t->downstream, DIRECTION_DOWN));
	if (t->server.groups[0].upstream != NULL)
		json_object_set_new(drops, "upstream", drops_json(&up, &t->upstream, DIRECTION_UP));
	json_object_set_new(answer, "workers", list);
	json_object_set_new(answer, "drops", drops);
	if (t->latency)
		json_object_set_new(answer, "pipeline_latency_us", latencies_json(t));
}
