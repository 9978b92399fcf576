/* SPDX-License-Identifier: BSD-3-Clause */
#include "ends.h"

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "platform/platform.h"
#include "platform/pool.h"
#include "platform/port.h"

#define RECEIVE_BUFFERS 16383
#define QUEUE_SIZE 4096
#define CRYPTO_OPS 2048
#define MEMORY_MB 384
#define UPSTREAM_MB 128

/* Sessions that the upstream's keys need. */
static unsigned upstream_keys(const struct service_group *sg) {
	unsigned keys = 0;

	for (size_t m = 0; m < sg->modem_count; m++)
		keys += sg->modems[m].security.has_next_key ? 2 : 1;
	return keys;
}

/* Sessions of the crypto device. */
static unsigned sessions(const struct options *o, const struct service_group *sg) {
	unsigned n = 0;

	if (!o->no_downstream)
		n += (unsigned)sg->modem_count + 1;
	if (o->upstream)
		n += upstream_keys(sg) + 1 + impair_any(&o->impair);
	return n;
}

bool ends_start(const struct options *o, const struct service_group *sg) {
	struct platform_options platform = {
		.program = "vcmts-traffic",
		.main_core = o->main_core,
		.workers = {o->core},
		.worker_count = 1,
		.devices = {o->network, o->rphy},
		.device_count = 2,
		.memory_mb = MEMORY_MB + sessions(o, sg) / 256,
	};

	if (o->upstream)
		platform.memory_mb += UPSTREAM_MB;
	return platform_start(&platform) == 0;
}

static bool open_port(struct ends *e, enum end end, const char *device, const char *role,
		      uint32_t mtu) {
	if (port_open(device, role, e->receive_pool, QUEUE_SIZE, mtu, &e->ports[end]) != 0)
		return false;
	e->port_count++;
	return true;
}

bool ends_open(struct ends *e, const struct options *o, const struct service_group *sg) {
	uint32_t network_mtu = sg->max_frame - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;

	e->receive_pool =
		packet_pool("traffic_receive", RECEIVE_BUFFERS, 0, RTE_MBUF_DEFAULT_BUF_SIZE);
	return e->receive_pool != NULL &&
	       open_port(e, END_NETWORK, o->network, "network", network_mtu) &&
	       open_port(e, END_RPHY, o->rphy, "rphy", sg->rphy.mtu) &&
	       crypto_open(&e->crypto, "traffic", ENDS_CRYPTO_QUEUES, sessions(o, sg),
			   CRYPTO_OPS) == 0 &&
	       port_start(e->ports[END_NETWORK], "network") == 0 &&
	       port_start(e->ports[END_RPHY], "rphy") == 0;
}

void ends_close_ports(struct ends *e) {
	while (e->port_count > 0)
		port_close(e->ports[--e->port_count]);
}

void ends_close(struct ends *e) {
	ends_close_ports(e);
	if (e->crypto.ops != NULL)
		crypto_close(&e->crypto);
	rte_mempool_free(e->receive_pool);
}
