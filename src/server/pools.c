/* SPDX-License-Identifier: BSD-3-Clause */
/* How many buffers the groups need, and what memory that is. */
#include "server/pools.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "downstream/downstream.h"
#include "downstream/rule_lists.h"
#include "pipeline/packet.h"
#include "platform/pool.h"
#include "platform/port.h"
#include "server/layout.h"
#include "upstream/upstream.h"

#define PACKET_ROOM (RTE_PKTMBUF_HEADROOM + 2048)
/* Packets in the queues of one group, and how many each further one adds to what all divide. */
#define QUEUED_FIRST 16384
#define QUEUED_MORE 2048
#define HAND_OVER_MAX 2048 /* as the next: packets of a group */
#define HAND_OVER_MIN 256
#define DEPI_FRAMES_MIN 8192
#define SYSTEM_MB 32 /* what DPDK and its drivers take for themselves */
#define SPARE 1024 /* upstream, of each pool: what drivers keep, and the rings of a replay */

/* What is asked for of each pool. */
struct pool_sizes {
	unsigned packets;
	unsigned depi_frames; /* headers, and as many cut frames and copies */
	unsigned depi_room; /* of a header */
	unsigned linear_room;
	unsigned uepi; /* as the next two: 0 where no group has an upstream */
	unsigned frames;
	unsigned pieces;
	unsigned uepi_room;
};

uint32_t server_queued_max(const struct server_config *config, size_t group) {
	size_t all = QUEUED_FIRST + (config->group_count - 1) * QUEUED_MORE;

	if (config->groups[group].max_queued > 0)
		return config->groups[group].max_queued;
	return (uint32_t)(all / config->group_count);
}

uint32_t server_hand_over_max(const struct server_config *config) {
	size_t share = HAND_OVER_MAX / config->group_count;

	return (uint32_t)RTE_MAX(share, (size_t)HAND_OVER_MIN);
}

/* In the queues, between the MACs, in the crypto device and in open DEPI frames. */
static unsigned group_packets(const struct server_config *config, size_t group) {
	const struct service_group *sg = &config->groups[group];
	unsigned lower = server_hand_over_max(config) + DS_LOWER_LIMIT + PIPELINE_BURST;
	unsigned open = (unsigned)sg->channel_count * sg->rphy.max_segments;

	return server_queued_max(config, group) + lower + open;
}

/* Open ones, and those that the port has not taken. */
static unsigned group_depi_frames(const struct service_group *sg) {
	return (unsigned)sg->channel_count + DS_LOWER_LIMIT + PIPELINE_CAPACITY;
}

/* Of all encapsulations with the longest PSP header, and no more: on ordinary pages most of what an mbuf
 * of these costs is that its page is not in the TLB. */
static unsigned depi_header_room(const struct service_group *sg) {
	return RTE_PKTMBUF_HEADROOM + DEPI_ENCAP_MAX +
	       (unsigned)psp_header_size(sg->rphy.max_segments, 2);
}

/* What the groups may keep, and the longest of what they have. */
static void add_group(struct pool_sizes *s, const struct server_config *config, size_t group) {
	const struct service_group *sg = &config->groups[group];
	unsigned linear_room =
		RTE_PKTMBUF_HEADROOM + sg->rphy.mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN;
	struct us_buffers up;

	s->packets += group_packets(config, group);
	s->depi_frames += group_depi_frames(sg);
	s->depi_room = RTE_MAX(s->depi_room, depi_header_room(sg));
	s->linear_room = RTE_MAX(s->linear_room, linear_room);
	if (!layout_has_upstream(sg))
		return;
	up = us_buffers(sg, NULL);
	s->uepi += up.packets;
	s->frames += up.frames;
	s->pieces += up.pieces;
	s->uepi_room = RTE_MAX(s->uepi_room, us_packet_room(sg));
}

/* With what stands in the ports' rings (of DEPI frames one packet each: cards have a place a buffer), and
 * what each thread keeps for itself. */
static struct pool_sizes sizes_of(const struct server_config *config,
				  const struct server_ports *ports) {
	unsigned network = server_ports_descriptors(ports, DEVICE_NETWORK);
	unsigned rphy = server_ports_descriptors(ports, DEVICE_RPHY);
	unsigned control = server_ports_descriptors(ports, DEVICE_CONTROL);
	struct pool_sizes s = {0};
	struct layout layout;
	unsigned threads, others;

	layout_make(&layout, config);
	threads = (layout.worker_count + 1) * POOL_THREAD_BUFFERS;
	others = (layout.worker_count - 1) * POOL_THREAD_BUFFERS;
	for (size_t g = 0; g < config->group_count; g++)
		add_group(&s, config, g);
	s.packets += network + control + rphy + threads;
	/* best one less than a power of two, where that is enough */
	s.depi_frames = RTE_MAX(s.depi_frames + rphy + others, DEPI_FRAMES_MIN - 1u);
	if (s.uepi > 0) {
		s.uepi += rphy + SPARE + others;
		s.frames += network + control + SPARE + others;
		s.pieces += others;
	}
	return s;
}

/* A pool of `count` buffers of `room` bytes: with the mbuf, and what the pool adds. */
static uint64_t pool_memory(unsigned count, unsigned room) {
	return count * (RTE_ALIGN_CEIL(room, RTE_CACHE_LINE_SIZE) + 272ull);
}

static uint64_t pools_memory(const struct pool_sizes *s) {
	return pool_memory(s->packets, PACKET_ROOM) + pool_memory(s->depi_frames, s->depi_room) +
	       pool_memory(s->depi_frames, 0) + pool_memory(s->depi_frames, s->linear_room) +
	       pool_memory(s->uepi, s->uepi_room) + pool_memory(s->frames, US_FRAME_BUFFER) +
	       pool_memory(s->pieces, 0);
}

/* A session 2 kB, tables and flows of a modem 2 kB, and 8 kB in an upstream; a rule of a published profile
 * less than 1 kB in the tries, few that overlap up to 16 kB; the flow cache. */
static uint64_t tables_memory(const struct service_group *sg) {
	uint64_t modem = layout_has_upstream(sg) ? 12288 : 4096;

	return (4 << 20) + sg->modem_count * modem + rule_lists_total(sg) * (uint64_t)6144 +
	       rte_align32pow2(ds_flow_records(sg)) * (uint64_t)RTE_CACHE_LINE_SIZE;
}

unsigned server_memory_mb(const struct server_config *config, const struct server_ports *ports) {
	struct server_ports own = {0};
	struct pool_sizes sizes;
	uint64_t bytes;

	if (ports == NULL)
		server_ports_own(&own, config);
	sizes = sizes_of(config, ports == NULL ? &own : ports);
	bytes = pools_memory(&sizes);
	for (size_t g = 0; g < config->group_count; g++)
		bytes += tables_memory(&config->groups[g]);
	return SYSTEM_MB + (unsigned)(bytes >> 20);
}

int server_pools_create(struct server_pools *p, const struct server_config *config,
			const struct server_ports *ports) {
	struct pool_sizes s = sizes_of(config, ports);

	if (packet_meta_register() != 0) {
		fprintf(stderr, "no room for a dynamic field in mbufs: %s\n",
			rte_strerror(rte_errno));
		return -1;
	}
	p->packets = packet_pool("packets", s.packets, 0, PACKET_ROOM);
	p->depi_headers = packet_pool("depi_headers", s.depi_frames, 0, s.depi_room);
	p->depi_fragments = packet_pool("depi_fragments", s.depi_frames, 0, 0);
	if (p->packets == NULL || p->depi_headers == NULL || p->depi_fragments == NULL)
		return -1;
	if (s.uepi == 0)
		return 0;
	p->uepi = packet_pool("uepi", s.uepi, 0, s.uepi_room);
	p->frames = packet_pool("frames", s.frames, 0, US_FRAME_BUFFER);
	p->pieces = packet_pool("pieces", s.pieces, 0, 0);
	return p->uepi && p->frames && p->pieces ? 0 : -1;
}

bool server_port_wants_linear(const struct service_group *sg, const struct server_port *rphy) {
	return !port_takes_chains(rphy->id, 1 + sg->rphy.max_segments);
}

int server_pools_linear(struct server_pools *p, const struct server_config *config,
			const struct server_ports *ports) {
	struct pool_sizes s = sizes_of(config, ports);
	bool wanted = false;

	for (size_t g = 0; g < config->group_count; g++)
		wanted |= server_port_wants_linear(&config->groups[g],
						   server_port_of(ports, g, DEVICE_RPHY));
	if (wanted)
		p->linear = packet_pool("linear", s.depi_frames, 0, s.linear_room);
	return wanted && p->linear == NULL ? -1 : 0;
}

void server_pools_free(struct server_pools *p) {
	rte_mempool_free(p->pieces);
	rte_mempool_free(p->frames);
	rte_mempool_free(p->uepi);
	rte_mempool_free(p->linear);
	rte_mempool_free(p->depi_fragments);
	rte_mempool_free(p->depi_headers);
	rte_mempool_free(p->packets);
	memset(p, 0, sizeof(*p));
}
