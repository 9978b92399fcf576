/* SPDX-License-Identifier: BSD-3-Clause */
#include "instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#include "downstream/rule_sets.h"
#include "layout.h"
#include "pipeline/packet.h"
#include "platform/pool.h"
#include "platform/port.h"

/* In the queues at most 16,384, in the port's rings up to 8,192, in crypto and DEPI the rest. */
#define PACKETS 32768
#define PACKET_ROOM (RTE_PKTMBUF_HEADROOM + 2048)
#define DEPI_HEADERS 8192
/* headers of all encapsulations and a table of 255 segments: 574 bytes */
#define DEPI_HEADER_ROOM (RTE_PKTMBUF_HEADROOM + 640)
#define DEPI_FRAGMENTS 8192
#define LINEAR 8192
#define CRYPTO_OPS 4096
#define UPSTREAM_SPARE 2048 /* packets, and frames, on their way through the stages */

/* Room for a whole packet of the R-PHY device, with a VLAN tag. */
static unsigned uepi_room(const struct service_group *sg) {
	unsigned frame = sg->rphy.mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN;

	return RTE_PKTMBUF_HEADROOM + RTE_MAX(frame, 2048u);
}

/* In the R-PHY port's ring, held for missing parts, and on their way. */
static unsigned uepi_packets(const struct service_group *sg) {
	return sg->rphy_port.queue_size + sg->upstream.held / uepi_room(sg) + UPSTREAM_SPARE;
}

/* In the network port's ring, fragments, an incomplete one a SID cluster, and on their way. */
static unsigned frames(const struct service_group *sg) {
	unsigned clusters = 0;

	for (size_t m = 0; m < sg->modem_count; m++) {
		for (size_t f = 0; f < sg->modems[m].upstream_flow_count; f++)
			clusters += (unsigned)sg->modems[m].upstream_flows[f].cluster_count;
	}
	return sg->network.queue_size + sg->upstream.held / US_FRAME_BUFFER + clusters +
	       UPSTREAM_SPARE;
}

/* As many as one burst of packets can make, and those that are held. */
static unsigned pieces(const struct service_group *sg) {
	return US_RECEIVE_BURST * US_BURSTS_MAX + sg->upstream.held / uepi_room(sg);
}

/* With the mbuf, what the pool adds, and its entry in the pool's stack. */
static uint64_t buffer_memory(unsigned room) {
	return room + 384;
}

/* Pools; two sessions, flow, stream and tables 8 kB a modem. */
static unsigned upstream_memory_mb(const struct service_group *sg) {
	uint64_t pools = uepi_packets(sg) * buffer_memory(uepi_room(sg)) +
			 frames(sg) * buffer_memory(US_FRAME_BUFFER) + pieces(sg) * 384ull;

	if (!layout_has_upstream(sg))
		return 0;
	return (unsigned)(pools / (1024 * 1024)) + 8 + (unsigned)(sg->modem_count * 8 / 1024);
}

unsigned instance_memory_mb(const struct service_group *sg) {
	/* Pools 110 MB, more with linear copies; a session 2 kB; tables and flows of a modem 2 kB; a
	 * rule of a published profile less than 1 kB in the tries, few that overlap up to 16 kB; the
	 * flow cache. */
	size_t own = sg->modem_count * 4, rules = 4096 + rule_sets_total(sg) * 6;

	return 192 + rte_align32pow2(ds_flow_records(sg)) / (1024 * 1024 / RTE_CACHE_LINE_SIZE) +
	       LINEAR * (sg->rphy.mtu + 512) / (1024 * 1024) + (unsigned)((own + rules) / 1024) +
	       upstream_memory_mb(sg);
}

struct instance *instance_alloc(void) {
	struct instance *i = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*i));

	if (i != NULL)
		*i = (struct instance){.qos_lock = PTHREAD_MUTEX_INITIALIZER};
	else
		fprintf(stderr, "no memory for a service group\n");
	return i;
}

static int upstream_pools(struct instance *i) {
	i->uepi = packet_pool("uepi", uepi_packets(i->sg), 0, uepi_room(i->sg));
	i->frames = packet_pool("frames", frames(i->sg), 0, US_FRAME_BUFFER);
	i->pieces = packet_pool("pieces", pieces(i->sg), 0, 0);
	return i->uepi && i->frames && i->pieces ? 0 : -1;
}

int instance_pools(struct instance *i, const struct service_group *sg) {
	i->sg = sg;
	i->qos = sg;
	if (packet_meta_register() != 0) {
		fprintf(stderr, "no room for a dynamic field in mbufs: %s\n",
			rte_strerror(rte_errno));
		return -1;
	}
	i->packets = packet_pool("packets", PACKETS - 1, 0, PACKET_ROOM);
	i->depi_headers = packet_pool("depi_headers", DEPI_HEADERS - 1, 0, DEPI_HEADER_ROOM);
	i->depi_fragments = packet_pool("depi_fragments", DEPI_FRAGMENTS - 1, 0, 0);
	if (i->packets == NULL || i->depi_headers == NULL || i->depi_fragments == NULL)
		return -1;
	return layout_has_upstream(sg) ? upstream_pools(i) : 0;
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

static int sessions_create(struct instance *i) {
	uint64_t start = rte_rdtsc();

	if (down_sessions_create(i) != 0 ||
	    (layout_has_upstream(i->sg) && up_sessions_create(i) != 0))
		return -1;
	i->sessions_seconds = (double)(rte_rdtsc() - start) / (double)rte_get_tsc_hz();
	return 0;
}

/* Where the R-PHY port takes no chains, DEPI frames are copied into one buffer each. */
static int linear_pool(struct instance *i) {
	unsigned room = RTE_PKTMBUF_HEADROOM + i->sg->rphy.mtu + RTE_ETHER_HDR_LEN;

	if (port_takes_chains(i->ports[1], 1 + i->sg->rphy.max_segments))
		return 0;
	i->linear = packet_pool("linear", LINEAR - 1, 0, room);
	return i->linear == NULL ? -1 : 0;
}

static int downstream_setup(struct instance *i) {
	struct worker *lower = &i->workers[layout_lower_worker(i->sg)];
	struct ds_resources r = {
		.network_port = i->ports[0],
		.rphy_port = i->ports[1],
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
	worker_add(&i->workers[0], &i->downstream->enqueue);
	worker_add(&i->workers[0], &i->downstream->dequeue);
	worker_add(lower, &i->downstream->lower_mac);
	return 0;
}

static int upstream_setup(struct instance *i) {
	struct worker *worker = &i->workers[layout_upstream_worker(i->sg)];
	struct us_resources r = {
		.rphy_port = i->ports[1],
		.network_port = i->ports[0],
		.control_port = i->has_control ? i->control_port : US_NO_PORT,
		.crypto_device = i->crypto.device,
		.crypto_queue = 1,
		.crypto_ops = i->crypto.ops,
		.frames = i->frames,
		.pieces = i->pieces,
		.clock = &worker->clock,
	};

	r.sessions = i->up_sessions;
	i->upstream = upstream_create(i->sg, &r);
	if (i->upstream == NULL)
		return -1;
	worker_add(worker, &i->upstream->list);
	worker_add(worker, &i->upstream->scheduler);
	return 0;
}

void instance_set_control(struct instance *i, uint16_t control_port) {
	i->control_port = control_port;
	i->has_control = true;
}

int instance_create(struct instance *i, uint16_t network_port, uint16_t rphy_port) {
	i->ports[0] = network_port;
	i->ports[1] = rphy_port;
	i->has_ports = true;
	if (sessions_create(i) != 0 || linear_pool(i) != 0)
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

void instance_free(struct instance *i) {
	if (i->has_ports) {
		port_close(i->ports[0]);
		port_close(i->ports[1]);
	}
	if (i->has_control)
		port_close(i->control_port);
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
