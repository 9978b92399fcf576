/* SPDX-License-Identifier: BSD-3-Clause */
/* How many buffers a service group needs, and what memory that is. */
#include "server/instance_pools.h"

#include <stdio.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "downstream/rule_lists.h"
#include "pipeline/packet.h"
#include "platform/pool.h"
#include "platform/port.h"
#include "server/layout.h"

#define PACKET_ROOM (RTE_PKTMBUF_HEADROOM + 2048)
#define DEPI_HEADERS 8192
#define DEPI_FRAGMENTS 8192
#define LINEAR 8192
#define SYSTEM_MB 32 /* what DPDK and its drivers take for themselves */
#define SPARE 1024 /* upstream, of each pool: what drivers keep, and the rings of a replay */

/* In the ports' rings (of DEPI frames one packet each: cards have a place a buffer), in the queues, between
 * the MACs, in the crypto device and in open DEPI frames, and what each thread keeps for itself. */
static unsigned packets(const struct service_group *sg) {
	unsigned control = sg->control_port.device == NULL ? 0 : sg->control_port.queue_size;
	unsigned rings = sg->network.queue_size + control + sg->rphy_port.queue_size;
	unsigned lower = DS_HAND_OVER + DS_LOWER_LIMIT + PIPELINE_BURST;
	unsigned open = (unsigned)sg->channel_count * sg->rphy.max_segments;
	unsigned cores[LAYOUT_MAX_WORKERS], threads = layout_cores(sg, cores) + 1;

	return rings + DS_QUEUED_MAX + lower + open + threads * POOL_THREAD_BUFFERS;
}

/* Of all encapsulations with the longest PSP header, and no more: on ordinary pages most of what an mbuf
 * of these costs is that its page is not in the TLB. */
static unsigned depi_header_room(const struct service_group *sg) {
	return RTE_PKTMBUF_HEADROOM + DEPI_ENCAP_MAX +
	       (unsigned)psp_header_size(sg->rphy.max_segments, 2);
}

/* In the R-PHY port's ring, and what the upstream may have in use. */
static unsigned uepi_packets(const struct service_group *sg) {
	return sg->rphy_port.queue_size + us_buffers(sg).packets + SPARE;
}

/* In the rings of the ports to which they go, and what the upstream may have in use. */
static unsigned frames(const struct service_group *sg) {
	unsigned control = sg->control_port.device == NULL ? 0 : sg->control_port.queue_size;

	return sg->network.queue_size + control + us_buffers(sg).frames + SPARE;
}

/* A pool of `count` buffers of `room` bytes: with the mbuf, and what the pool adds. */
static uint64_t pool_memory(unsigned count, unsigned room) {
	return count * (RTE_ALIGN_CEIL(room, RTE_CACHE_LINE_SIZE) + 272ull);
}

/* Pools; two sessions, flow, stream and tables 8 kB a modem. */
static uint64_t upstream_memory(const struct service_group *sg) {
	if (!layout_has_upstream(sg))
		return 0;
	return pool_memory(uepi_packets(sg), us_packet_room(sg)) +
	       pool_memory(frames(sg), US_FRAME_BUFFER) + pool_memory(us_buffers(sg).pieces, 0) +
	       sg->modem_count * 8192;
}

/* A session 2 kB, tables and flows of a modem 2 kB; a rule of a published profile less than 1 kB in the
 * tries, few that overlap up to 16 kB; the flow cache. */
static uint64_t tables_memory(const struct service_group *sg) {
	return (4 << 20) + sg->modem_count * 4096 + rule_lists_total(sg) * (uint64_t)6144 +
	       rte_align32pow2(ds_flow_records(sg)) * (uint64_t)RTE_CACHE_LINE_SIZE;
}

unsigned instance_memory_mb(const struct service_group *sg) {
	uint64_t bytes = pool_memory(packets(sg), PACKET_ROOM) +
			 pool_memory(DEPI_HEADERS, depi_header_room(sg)) +
			 pool_memory(DEPI_FRAGMENTS, 0) +
			 pool_memory(LINEAR, RTE_PKTMBUF_HEADROOM + sg->rphy.mtu) +
			 upstream_memory(sg) + tables_memory(sg);

	return SYSTEM_MB + (unsigned)(bytes >> 20);
}

static int upstream_pools(struct instance *i) {
	i->uepi = packet_pool("uepi", uepi_packets(i->sg), 0, us_packet_room(i->sg));
	i->frames = packet_pool("frames", frames(i->sg), 0, US_FRAME_BUFFER);
	i->pieces = packet_pool("pieces", us_buffers(i->sg).pieces, 0, 0);
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
	i->packets = packet_pool("packets", packets(sg), 0, PACKET_ROOM);
	i->depi_headers = packet_pool("depi_headers", DEPI_HEADERS - 1, 0, depi_header_room(sg));
	i->depi_fragments = packet_pool("depi_fragments", DEPI_FRAGMENTS - 1, 0, 0);
	if (i->packets == NULL || i->depi_headers == NULL || i->depi_fragments == NULL)
		return -1;
	return layout_has_upstream(sg) ? upstream_pools(i) : 0;
}

int instance_linear_pool(struct instance *i) {
	unsigned room = RTE_PKTMBUF_HEADROOM + i->sg->rphy.mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN;

	if (port_takes_chains(i->ports[1], 1 + i->sg->rphy.max_segments))
		return 0;
	i->linear = packet_pool("linear", LINEAR - 1, 0, room);
	return i->linear == NULL ? -1 : 0;
}
