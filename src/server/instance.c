/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mempool.h>

#include "platform/port.h"
#include "server/instance_pools.h"
#include "server/layout.h"

#define CRYPTO_OPS 4096

struct instance *instance_alloc(void) {
	struct instance *i = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*i));

	if (i != NULL)
		*i = (struct instance){.qos_lock = PTHREAD_MUTEX_INITIALIZER};
	else
		fprintf(stderr, "no memory for a service group\n");
	return i;
}

static int down_sessions_create(struct instance *i) {
	const struct service_group *sg = i->sg;

	unsigned sessions = (unsigned)sg->modem_count * (layout_has_upstream(sg) ? 3 : 1);

	if (crypto_open(&i->crypto, "dataplane", 2, sessions, CRYPTO_OPS) != 0)
		return -1;
	i->sessions = calloc(sg->modem_count, sizeof(*i->sessions));
	if (i->sessions == NULL)
		return -1;
	for (size_t m = 0; m < sg->modem_count; m++) {
		i->sessions[m] =
			crypto_session(&i->crypto, CRYPTO_DOWNLINK, sg->modems[m].security.key);
		if (i->sessions[m] == NULL) {
			fprintf(stderr, "crypto device: no session for modem %zu\n", m);
			return -1;
		}
	}
	return 0;
}

/* Both generations of each modem's key. */
static int up_sessions_create(struct instance *i) {
	const struct service_group *sg = i->sg;

	i->up_sessions = calloc(2 * sg->modem_count, sizeof(*i->up_sessions));
	if (i->up_sessions == NULL)
		return -1;
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct security_association *sa = &sg->modems[m].security;
		void **s = &i->up_sessions[2 * m];

		s[0] = crypto_session(&i->crypto, CRYPTO_UPLINK, sa->key);
		if (sa->has_next_key)
			s[1] = crypto_session(&i->crypto, CRYPTO_UPLINK, sa->next_key);
		if (s[0] == NULL || (sa->has_next_key && s[1] == NULL)) {
			fprintf(stderr, "crypto device: no upstream session for modem %zu\n", m);
			return -1;
		}
	}
	return 0;
}

static int instance_sessions_create(struct instance *i) {
	uint64_t start = rte_rdtsc();

	if (down_sessions_create(i) != 0 ||
	    (layout_has_upstream(i->sg) && up_sessions_create(i) != 0))
		return -1;
	i->sessions_seconds = (double)(rte_rdtsc() - start) / (double)rte_get_tsc_hz();
	return 0;
}

static int downstream_setup(struct instance *i) {
	struct worker *lower = &i->workers[layout_lower_worker(i->sg)];
	struct ds_resources r = {
		.network = {.port = i->ports[0]},
		.rphy = {.port = i->ports[1]},
		.crypto_device = i->crypto.device,
		.crypto_ops = i->crypto.ops,
		.sessions = i->sessions,
		.depi_headers = i->depi_headers,
		.depi_fragments = i->depi_fragments,
		.linear = i->linear,
		.upper_clock = &i->workers[0].clock,
		.lower_clock = &lower->clock,
	};

	i->downstream = downstream_create(i->sg, &r);
	if (i->downstream == NULL)
		return -1;
	if (worker_add(&i->workers[0], &i->downstream->enqueue) != 0 ||
	    worker_add(&i->workers[0], &i->downstream->dequeue) != 0)
		return -1;
	return worker_add(lower, &i->downstream->lower_mac);
}

static int upstream_setup(struct instance *i) {
	struct worker *worker = &i->workers[layout_upstream_worker(i->sg)];
	struct us_resources r = {
		.rphy = {.port = i->ports[1]},
		.network = {.port = i->ports[0]},
		.control = {.port = i->has_control ? i->control_port : PACKET_NO_PORT},
		.crypto_device = i->crypto.device,
		.crypto_queue = 1,
		.crypto_ops = i->crypto.ops,
		.packets = i->uepi,
		.frames = i->frames,
		.pieces = i->pieces,
		.clock = &worker->clock,
	};

	r.sessions = i->up_sessions;
	if (us_pools_check(i->sg, &r) != 0)
		return -1;
	i->upstream = upstream_create(i->sg, &r);
	if (i->upstream == NULL)
		return -1;
	if (worker_add(worker, &i->upstream->list) != 0)
		return -1;
	return worker_add(worker, &i->upstream->scheduler);
}

void instance_set_control(struct instance *i, uint16_t control_port) {
	i->control_port = control_port;
	i->has_control = true;
}

int instance_create(struct instance *i, uint16_t network_port, uint16_t rphy_port) {
	i->ports[0] = network_port;
	i->ports[1] = rphy_port;
	i->has_ports = true;
	if (instance_sessions_create(i) != 0 || instance_linear_pool(i) != 0)
		return -1;
	layout_workers(i->sg, i->workers, &i->worker_count);
	if (downstream_setup(i) != 0)
		return -1;
	return layout_has_upstream(i->sg) ? upstream_setup(i) : 0;
}

void instance_set_qos(struct instance *i, const struct service_group *qos) {
	pthread_mutex_lock(&i->qos_lock);
	i->qos = qos;
	pthread_mutex_unlock(&i->qos_lock);
}

uint64_t instance_held(const struct instance *i) {
	uint64_t held = downstream_held(i->downstream);

	for (enum unit unit = 0; i->upstream != NULL && unit < UNITS; unit++)
		held += upstream_held(i->upstream, unit);
	return held;
}

void instance_account(struct instance *i, bool on) {
	downstream_account(i->downstream, on);
	if (i->upstream != NULL)
		upstream_account(i->upstream, on);
}

int instance_latency(struct instance *i, bool on) {
	if (downstream_latency(i->downstream, on) == 0 &&
	    (i->upstream == NULL || upstream_latency(i->upstream, on) == 0))
		return 0;
	fprintf(stderr, "no memory to measure latencies\n");
	return -1;
}

void instance_stop(struct instance *i) {
	downstream_stop(i->downstream);
	if (i->upstream != NULL)
		upstream_stop(i->upstream);
}

static void sessions_free(struct instance *i, void **sessions, size_t count) {
	for (size_t s = 0; sessions != NULL && s < count; s++) {
		if (sessions[s] != NULL)
			crypto_session_free(&i->crypto, sessions[s]);
	}
	free(sessions);
}

/* What others hold or work on is taken from them first: packets are in the ports' rings, and sessions in
 * the crypto device. */
void instance_free(struct instance *i) {
	if (i->has_ports) {
		port_close(i->ports[0]);
		port_close(i->ports[1]);
	}
	if (i->has_control)
		port_close(i->control_port);
	if (i->crypto.ops != NULL)
		crypto_stop(&i->crypto);
	upstream_free(i->upstream);
	downstream_free(i->downstream);
	if (i->sg != NULL) {
		sessions_free(i, i->sessions, i->sg->modem_count);
		sessions_free(i, i->up_sessions, 2 * i->sg->modem_count);
	}
	if (i->crypto.ops != NULL)
		crypto_close(&i->crypto);
	rte_mempool_free(i->pieces);
	rte_mempool_free(i->frames);
	rte_mempool_free(i->uepi);
	rte_mempool_free(i->linear);
	rte_mempool_free(i->depi_fragments);
	rte_mempool_free(i->depi_headers);
	rte_mempool_free(i->packets);
	memset(i, 0, sizeof(*i));
}
