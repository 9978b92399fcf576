/* SPDX-License-Identifier: BSD-3-Clause */
/* How many buffers the groups need, and how much memory. */
#include "server/pools.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "downstream/downstream.h"
#include "downstream/rules/rule_lists.h"
#include "model/devices.h"
#include "pipeline/packet.h"
#include "platform/log/log.h"
#include "platform/pool.h"
#include "platform/port.h"
#include "server/layout.h"
#include "upstream/upstream.h"

#define PACKET_SIZE (RTE_PKTMBUF_HEADROOM + 2048)
/* Packets in queues of one group, and the increase per further group. All groups divide the sum. */
#define QUEUED_FIRST 16384
#define QUEUED_MORE 1024
#define PENDING_MORE 500000 /* bytes, likewise, added to the limit of one group */
#define HAND_OVER_MAX 2048 /* like the next, packets of a group */
#define HAND_OVER_MIN 256
#define MOVING_MIN 512 /* buffers of a group in flight upstream */
#define DEPI_FRAMES_MIN 8192
#define SYSTEM_MB 32 /* for DPDK and its drivers */
#define PIECE_MB 256u /* contiguous memory: a pool of buffers is mostly one piece */
#define PIECE_TABLES 4 /* pieces are at least this multiple of a group's tables */
#define SPARE 1024 /* upstream, per pool: for drivers, and for the rings of a replay */

/* The sizes of the pools. */
struct pool_sizes {
	struct pool_needs all; /* includes the mempool caches of threads */
	struct pool_needs max; /* what groups and ports may keep */
	struct pool_needs reserved; /* the part that the configuration reserves */
	struct buffer_sizes buffer_size;
};

uint32_t server_queued_max(const struct server_config *config, const struct service_group *sg) {
	size_t groups = server_config_max_groups(config),
	       all = QUEUED_FIRST + (groups - 1) * QUEUED_MORE;

	return sg->max_queued > 0 ? sg->max_queued : (uint32_t)(all / groups);
}

uint32_t server_hand_over_max(const struct server_config *config) {
	size_t share = HAND_OVER_MAX / server_config_max_groups(config);

	return (uint32_t)RTE_MAX(share, (size_t)HAND_OVER_MIN);
}

/* The division keeps at least what one modem may have pending. */
uint32_t server_pending_max(const struct server_config *config, const struct service_group *sg) {
	uint64_t groups = server_config_max_groups(config);
	uint64_t share = (sg->upstream.pending + (groups - 1) * PENDING_MORE) / groups;

	if (sg->upstream.pending_given || share > sg->upstream.pending)
		return sg->upstream.pending;
	return (uint32_t)RTE_MAX(share, (uint64_t)sg->upstream.modem_pending_limit);
}

uint32_t server_in_flight_max(const struct server_config *config) {
	size_t share = US_QUEUED / server_config_max_groups(config);

	return (uint32_t)RTE_MAX(share, (size_t)MOVING_MIN);
}

/* Packets in the queues, between the MACs, in the crypto provider and in open DEPI frames. */
static unsigned group_packets(const struct server_config *config, const struct service_group *sg) {
	unsigned lower = server_hand_over_max(config) + DS_LOWER_LIMIT + PIPELINE_BURST;
	unsigned open = (unsigned)sg->channel_count * sg->rphy.max_segments;

	return server_queued_max(config, sg) + lower + open;
}

/* Open frames, and those that the port has not accepted yet. */
static unsigned group_depi_frames(const struct service_group *sg) {
	unsigned messages = sg->upstream.scheduled ? DS_URGENT_CAPACITY : 0;

	return (unsigned)sg->channel_count + DS_LOWER_LIMIT + PIPELINE_CAPACITY + messages;
}

/* For all encapsulations with the longest PSP header, and no more: on 4 KiB pages, most of the cost
 * of such an mbuf is a TLB miss on its page. */
static unsigned depi_header_size(const struct service_group *sg) {
	return RTE_PKTMBUF_HEADROOM + DEPI_ENCAP_MAX +
	       (unsigned)psp_header_size(sg->rphy.max_segments, 2);
}

struct pool_needs server_group_needs(const struct server_config *config,
				     const struct service_group *sg) {
	struct pool_needs n = {
		.packets = group_packets(config, sg),
		.depi_frames = group_depi_frames(sg),
	};
	struct group_capacity capacity = group_capacity(sg);
	struct us_buffers up;

	if (!layout_has_upstream(sg))
		return n;
	up = us_buffers_within(sg, &capacity, server_pending_max(config, sg),
			       server_in_flight_max(config));
	n.uepi = up.packets;
	n.frames = up.frames;
	n.pieces = up.pieces;
	return n;
}

/* A NIC has a descriptor per buffer: at most one DEPI frame each. An upstream packet may be
 * attached to a received one in place of a frame's buffer. */
struct pool_needs server_port_needs(enum device_role role, unsigned descriptors) {
	struct pool_needs n = {.packets = descriptors};

	if (role == DEVICE_RPHY)
		n.depi_frames = n.uepi = descriptors;
	else
		n.frames = descriptors;
	if (role == DEVICE_NETWORK)
		n.pieces = descriptors;
	return n;
}

void pool_needs_add(struct pool_needs *into, const struct pool_needs *more) {
	into->packets += more->packets;
	into->depi_frames += more->depi_frames;
	into->uepi += more->uepi;
	into->frames += more->frames;
	into->pieces += more->pieces;
}

static struct buffer_sizes buffer_size_of(const struct service_group *sg) {
	struct buffer_sizes r = {
		.depi = depi_header_size(sg),
		.linear = RTE_PKTMBUF_HEADROOM + sg->rphy.mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN,
	};

	if (layout_has_upstream(sg))
		r.uepi = us_packet_size(sg);
	return r;
}

static void needs_max(struct pool_needs *n, const struct pool_needs *min) {
	n->packets = RTE_MAX(n->packets, min->packets);
	n->depi_frames = RTE_MAX(n->depi_frames, min->depi_frames);
	n->uepi = RTE_MAX(n->uepi, min->uepi);
	n->frames = RTE_MAX(n->frames, min->frames);
	n->pieces = RTE_MAX(n->pieces, min->pieces);
}

static void buffer_size_min(struct buffer_sizes *r, const struct buffer_sizes *min) {
	r->depi = RTE_MAX(r->depi, min->depi);
	r->linear = RTE_MAX(r->linear, min->linear);
	r->uepi = RTE_MAX(r->uepi, min->uepi);
}

/* Descriptors of one role for an added group: a ring on a shared port, or a port of its own. */
static unsigned spare_descriptors(const struct server_ports *ports, enum device_role role,
				  unsigned ring) {
	unsigned max = 0;

	for (unsigned p = 0; p < ports->count; p++) {
		if (ports->list[p].role != role)
			continue;
		max = RTE_MAX(max, ring);
		if (!ports->list[p].shared)
			max = RTE_MAX(max, ports->list[p].queue_size);
	}
	return max;
}

/* Rings of ports that an added group will share: one to the group, and one to the port. */
static unsigned spare_shares(const struct server_ports *ports, enum device_role role,
			     unsigned ring) {
	unsigned rings = 0;

	for (unsigned p = 0; p < ports->count; p++) {
		if (ports->list[p].role == role && !ports->list[p].shared)
			rings += 2 * ring;
	}
	return rings;
}

/* Sums what groups and ports may keep: configured ones, and those that may be added. */
static void sizes_add_groups(struct pool_sizes *s, const struct server_config *config,
			     const struct server_ports *ports) {
	size_t max = server_config_max_groups(config), spares = max - config->group_count;
	unsigned ring = server_share_ring(max);
	struct pool_needs largest = {0}, spare = {0}, shares = {0};

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		struct pool_needs reserved =
			server_port_needs(role, server_ports_descriptors(ports, role));
		struct pool_needs one =
			server_port_needs(role, spare_descriptors(ports, role, ring));
		struct pool_needs more = server_port_needs(role, spare_shares(ports, role, ring));

		pool_needs_add(&s->reserved, &reserved);
		pool_needs_add(&spare, &one);
		pool_needs_add(&shares, &more);
	}
	for (size_t g = 0; g < config->group_count; g++) {
		struct pool_needs n = server_group_needs(config, &config->groups[g]);
		struct buffer_sizes r = buffer_size_of(&config->groups[g]);

		pool_needs_add(&s->reserved, &n);
		needs_max(&largest, &n);
		buffer_size_min(&s->buffer_size, &r);
	}
	pool_needs_add(&spare, &largest);
	s->max = s->reserved;
	if (spares > 0)
		pool_needs_add(&s->max, &shares);
	while (spares-- > 0)
		pool_needs_add(&s->max, &spare);
}

/* Adds the mempool caches of threads. */
static struct pool_sizes sizes_of(const struct server_config *config,
				  const struct server_ports *ports) {
	struct pool_sizes s = {0};
	struct layout layout;
	unsigned threads, others;

	layout_make(&layout, config);
	threads = (layout.worker_count + 1) * POOL_THREAD_BUFFERS;
	others = (layout.worker_count - 1) * POOL_THREAD_BUFFERS;
	sizes_add_groups(&s, config, ports);
	s.all = s.max;
	s.all.packets += threads;
	/* a mempool is most compact with 2^n - 1 buffers */
	s.all.depi_frames = RTE_MAX(s.all.depi_frames + others, DEPI_FRAMES_MIN - 1u);
	if (s.buffer_size.uepi == 0) {
		s.all.uepi = s.all.frames = s.all.pieces = 0;
	} else {
		s.all.uepi += SPARE + others;
		s.all.frames += SPARE + others;
		s.all.pieces += SPARE + others;
	}
	return s;
}

/* Bytes of a pool of `count` buffers of that size, with mbufs and the pool's overhead. */
static uint64_t pool_memory(unsigned count, unsigned capacity) {
	return count * (RTE_ALIGN_CEIL(capacity, RTE_CACHE_LINE_SIZE) + 2ull * RTE_CACHE_LINE_SIZE +
			sizeof(struct rte_mbuf) + 16);
}

static uint64_t pools_memory(const struct pool_sizes *s) {
	const struct pool_needs *n = &s->all;

	return pool_memory(n->packets, PACKET_SIZE) +
	       pool_memory(n->depi_frames, s->buffer_size.depi) + pool_memory(n->depi_frames, 0) +
	       pool_memory(n->depi_frames, s->buffer_size.linear) +
	       pool_memory(n->uepi, s->buffer_size.uepi) + pool_memory(n->frames, US_FRAME_BUFFER) +
	       pool_memory(n->pieces, 0);
}

/* Without the library, the crypto device allocates: two queues with their operations, and a modem's
 * sessions. */
#define CRYPTO_BYTES (3ull << 20)
#define CRYPTO_MODEM 8192ull
#define LINES \
	(RTE_CACHE_LINE_SIZE / 64ull) /* aarch64 has cache lines of 128 bytes; structs fill them */

/* Bytes: keys of a modem at most 1.3 kB, its tables and flows 2 kB, and 7 kB in an upstream; a rule
 * in the tries less than 1 kB, up to 16 kB if a few overlap; the flow cache. */
static uint64_t tables_memory(const struct service_group *sg) {
	uint64_t modem = (layout_has_upstream(sg) ? 10240 : 3072) * LINES;
	uint64_t crypto = crypto_has_library() ? 0 : CRYPTO_BYTES + sg->modem_count * CRYPTO_MODEM;

	return crypto + (4 << 20) + sg->modem_count * modem +
	       rule_lists_total(sg) * (uint64_t)6144 +
	       rte_align32pow2(ds_flow_records(sg)) * (uint64_t)RTE_CACHE_LINE_SIZE;
}

unsigned server_memory_mb(const struct server_config *config, const struct server_ports *ports) {
	struct server_ports own = {0};
	struct pool_sizes sizes;
	uint64_t bytes, largest = 0;

	if (ports == NULL)
		server_ports_separate(&own, config);
	sizes = sizes_of(config, ports == NULL ? &own : ports);
	bytes = pools_memory(&sizes);
	for (size_t g = 0; g < config->group_count; g++) {
		uint64_t tables = tables_memory(&config->groups[g]);

		bytes += tables;
		largest = RTE_MAX(largest, tables);
	}
	bytes += (server_config_max_groups(config) - config->group_count) * largest;
	return SYSTEM_MB + (unsigned)(bytes >> 20);
}

unsigned server_memory_piece_mb(const struct server_config *config) {
	uint64_t largest = 0;

	for (size_t g = 0; g < config->group_count; g++)
		largest = RTE_MAX(largest, tables_memory(&config->groups[g]));
	return RTE_MAX((unsigned)(PIECE_TABLES * largest >> 20), PIECE_MB);
}

/* If packets are no longer than frames, one pool serves both. Then frames stay in their packets,
 * and each keeps at most one buffer, copied or not. */
static void uepi_create(struct server_pools *p, const struct pool_sizes *s) {
	if (s->buffer_size.uepi == US_FRAME_BUFFER) {
		p->uepi = packet_pool("uepi", s->all.uepi + s->all.frames, 0, s->buffer_size.uepi);
		p->frames = p->uepi;
	} else {
		p->uepi = packet_pool("uepi", s->all.uepi, 0, s->buffer_size.uepi);
		p->frames = packet_pool("frames", s->all.frames, 0, US_FRAME_BUFFER);
	}
}

int server_pools_create(struct server_pools *p, const struct server_config *config,
			const struct server_ports *ports) {
	struct pool_sizes s = sizes_of(config, ports);

	if (packet_meta_register() != 0) {
		log_error("memory", LOG_NO_FIELDS, "no space for a dynamic field in mbufs: %s",
			  rte_strerror(rte_errno));
		return -1;
	}
	p->max = s.max;
	p->reserved = s.reserved;
	p->buffer_size = s.buffer_size;
	p->packets = packet_pool("packets", s.all.packets, 0, PACKET_SIZE);
	p->depi_headers = packet_pool("depi_headers", s.all.depi_frames, 0, s.buffer_size.depi);
	p->depi_fragments = packet_pool("depi_fragments", s.all.depi_frames, 0, 0);
	if (p->packets == NULL || p->depi_headers == NULL || p->depi_fragments == NULL)
		return -1;
	if (s.buffer_size.uepi == 0)
		return 0;
	uepi_create(p, &s);
	p->pieces = packet_pool("pieces", s.all.pieces, 0, 0);
	return p->uepi && p->frames && p->pieces ? 0 : -1;
}

bool server_port_needs_linear(const struct service_group *sg, const struct server_port *rphy) {
	return !port_supports_chains(rphy->id, 1 + sg->rphy.max_segments);
}

int server_pools_linear(struct server_pools *p) {
	if (p->linear == NULL)
		p->linear = packet_pool("linear", p->depi_headers->size, 0, p->buffer_size.linear);
	return p->linear == NULL ? -1 : 0;
}

static const char *missing(const struct server_pools *p, const struct service_group *sg,
			   const struct pool_needs *all) {
	struct buffer_sizes buffer_size = buffer_size_of(sg);

	if (buffer_size.uepi > 0 && p->uepi == NULL)
		return "upstream_channels: no group had an upstream at the start";
	if (buffer_size.depi > p->buffer_size.depi || buffer_size.uepi > p->buffer_size.uepi ||
	    (p->linear != NULL && buffer_size.linear > p->buffer_size.linear))
		return "rphy: larger frames than any group had at the start";
	if (all->packets > p->max.packets || all->depi_frames > p->max.depi_frames)
		return "max_queued, queue_size, channels: not enough buffers are left";
	if (buffer_size.uepi > 0 &&
	    (all->uepi > p->max.uepi || all->frames > p->max.frames || all->pieces > p->max.pieces))
		return "upstream.held, queue_size: not enough buffers are left";
	return NULL;
}

const char *server_pools_reserve(struct server_pools *p, const struct service_group *sg,
				 const struct pool_needs *needs) {
	struct pool_needs all = p->reserved;
	const char *why;

	pool_needs_add(&all, needs);
	why = missing(p, sg, &all);
	if (why == NULL)
		p->reserved = all;
	return why;
}

void server_pools_release(struct server_pools *p, const struct pool_needs *needs) {
	p->reserved.packets -= needs->packets;
	p->reserved.depi_frames -= needs->depi_frames;
	p->reserved.uepi -= needs->uepi;
	p->reserved.frames -= needs->frames;
	p->reserved.pieces -= needs->pieces;
}

void server_pools_free(struct server_pools *p) {
	rte_mempool_free(p->pieces);
	if (p->frames != p->uepi)
		rte_mempool_free(p->frames);
	rte_mempool_free(p->uepi);
	rte_mempool_free(p->linear);
	rte_mempool_free(p->depi_fragments);
	rte_mempool_free(p->depi_headers);
	rte_mempool_free(p->packets);
	memset(p, 0, sizeof(*p));
}
