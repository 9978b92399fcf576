/* SPDX-License-Identifier: BSD-3-Clause */
#include "instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

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
#define CRYPTO_OPS 2048

unsigned instance_memory_mb(const struct service_group *sg) {
	size_t rules = 0;

	for (size_t g = 0; g < sg->filter_group_count; g++)
		rules += sg->filter_groups[g].rule_count;
	for (size_t m = 0; m < sg->modem_count; m++)
		rules += sg->modems[m].classifier_count;
	/* Pools 110 MB, more with linear copies; a session 2 kB; tables and flows of a modem 2 kB; a
	 * rule 6 kB in the tries. */
	return 192 + LINEAR * (sg->rphy.mtu + 512) / (1024 * 1024) +
	       (unsigned)((sg->modem_count * 4 + rules * 6) / 1024);
}

struct instance *instance_alloc(void) {
	struct instance *i = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*i));

	if (i != NULL)
		*i = (struct instance){0};
	else
		fprintf(stderr, "no memory for a service group\n");
	return i;
}

int instance_pools(struct instance *i, const struct service_group *sg) {
	i->sg = sg;
	if (packet_meta_register() != 0) {
		fprintf(stderr, "no room for a dynamic field in mbufs: %s\n",
			rte_strerror(rte_errno));
		return -1;
	}
	i->packets = packet_pool("packets", PACKETS - 1, 0, PACKET_ROOM);
	i->depi_headers = packet_pool("depi_headers", DEPI_HEADERS - 1, 0, DEPI_HEADER_ROOM);
	i->depi_fragments = packet_pool("depi_fragments", DEPI_FRAGMENTS - 1, 0, 0);
	return i->packets && i->depi_headers && i->depi_fragments ? 0 : -1;
}

static int sessions_create(struct instance *i) {
	const struct service_group *sg = i->sg;

	if (crypto_open(&i->crypto, "downstream", 1, (unsigned)sg->modem_count, CRYPTO_OPS) != 0)
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

/* Where the R-PHY port takes no chains, DEPI frames are copied into one buffer each. */
static int linear_pool(struct instance *i) {
	unsigned room = RTE_PKTMBUF_HEADROOM + i->sg->rphy.mtu + RTE_ETHER_HDR_LEN;

	if (port_takes_chains(i->ports[1], 1 + i->sg->rphy.max_segments))
		return 0;
	i->linear = packet_pool("linear", LINEAR - 1, 0, room);
	return i->linear == NULL ? -1 : 0;
}

static void workers_setup(struct instance *i) {
	bool two = i->sg->threads.downstream == LAYOUT_1DS2T;
	struct worker *upper = &i->workers[0], *lower = two ? &i->workers[1] : upper;

	i->worker_count = two ? 2 : 1;
	upper->name = two ? "upper MAC" : "upper and lower MAC";
	if (two)
		lower->name = "lower MAC";
}

int instance_create(struct instance *i, uint16_t network_port, uint16_t rphy_port) {
	struct ds_resources r;
	struct worker *lower;

	i->ports[0] = network_port;
	i->ports[1] = rphy_port;
	i->has_ports = true;
	if (sessions_create(i) != 0 || linear_pool(i) != 0)
		return -1;
	workers_setup(i);
	lower = &i->workers[i->worker_count - 1];
	r = (struct ds_resources){
		.network_port = network_port,
		.rphy_port = rphy_port,
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

void instance_free(struct instance *i) {
	if (i->has_ports) {
		port_close(i->ports[0]);
		port_close(i->ports[1]);
	}
	downstream_free(i->downstream);
	for (size_t m = 0; i->sessions != NULL && m < i->sg->modem_count; m++) {
		if (i->sessions[m] != NULL)
			crypto_session_free(&i->crypto, i->sessions[m]);
	}
	free(i->sessions);
	if (i->crypto.ops != NULL)
		crypto_close(&i->crypto);
	rte_mempool_free(i->linear);
	rte_mempool_free(i->depi_fragments);
	rte_mempool_free(i->depi_headers);
	rte_mempool_free(i->packets);
	memset(i, 0, sizeof(*i));
}
