/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates the upstream of a service group from its configuration. */

#include <rte_ether.h>
#include <rte_malloc.h>

#include "platform/log/log.h"
#include "upstream/state/make_tables.h"
#include "upstream/upstream.h"

#define MAX_SLOTS 8192 /* windows with pending mbufs, at a time */
#define SPARE_SLOTS \
	(US_RECEIVE_BURST + PIPELINE_BURST) /* `uepi` and `reassemble` may need them in a round */

/* Frames in the stock, in a burst of the stage list, in the crypto provider, and queued for the
 * network port. */
static uint32_t moving_frames(uint32_t in_flight) {
	return US_STOCK + PIPELINE_CAPACITY + US_TRANSMIT_CAPACITY / 2 + in_flight / 2;
}

/* Frames that stay in their packets. `extract` creates no more than the crypto device and the
 * queue for the network port may have, and a burst. */
static uint32_t staying_frames(uint32_t in_flight) {
	return US_STOCK + PIPELINE_BURST + in_flight / 2;
}

/* Messages in the ring, and those queued for the R-PHY port. */
static uint32_t messages_of(const struct service_group *sg) {
	return sg->upstream.scheduled ? 2 * messages_ring(sg) : 0;
}

uint32_t us_packet_size(const struct service_group *sg) {
	uint32_t frame = sg->rphy.mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN;

	return RTE_PKTMBUF_HEADROOM + RTE_MAX(frame, 2048u);
}

struct us_buffers us_buffers_within(const struct service_group *sg,
				    const struct group_capacity *capacity, uint32_t pending,
				    uint32_t in_flight) {
	/* and the stream of the ranging sessions */
	uint32_t streams =
		1 + (capacity != NULL ? capacity->streams : us_capacity_exact(sg).streams);
	/* An incomplete frame between two grants is normal, so each stream may have one. A
	 * quarter more wait for other reasons; spare streams of the capacity cover these. */
	uint32_t in_work = capacity != NULL ? streams : streams + streams / 4;
	struct us_buffers b = {
		/* one burst can always wait for its trailer */
		.pending_packets = RTE_MAX(pending / us_packet_size(sg), US_BURST_PIECES),
		.pending_frames = RTE_MAX(pending / US_FRAME_BUFFER, in_work),
	};

	/* the queues, the segment in `extract`, and packets received before the stage `expire`
	 * runs */
	b.packets = b.pending_packets + in_flight + US_BURST_PIECES + US_RECEIVE_BURST;
	b.frames = b.pending_frames + moving_frames(in_flight) + messages_of(sg);
	b.pieces = b.pending_packets + in_flight + US_RECEIVE_BURST * US_BURSTS_MAX +
		   staying_frames(in_flight);
	return b;
}

struct us_buffers us_buffers(const struct service_group *sg,
			     const struct group_capacity *capacity) {
	return us_buffers_within(sg, capacity, sg->upstream.pending, US_QUEUED);
}

/* Bytes that may be pending: the configured ones, limited by the group's share of the pools. */
static uint32_t pending_of(const struct service_group *sg, const struct us_resources *r) {
	return r->pending > 0 ? RTE_MIN(r->pending, sg->upstream.pending) : sg->upstream.pending;
}

/* Frames that the crypto provider may have at once. */
static uint32_t in_flight_of(const struct us_resources *r) {
	return r->in_flight > 0 ? RTE_MIN(r->in_flight, (uint32_t)US_QUEUED) : US_QUEUED;
}

/* The buffers of this upstream, within its share. */
static struct us_buffers buffers_of(const struct service_group *sg, const struct us_resources *r) {
	return us_buffers_within(sg, r->capacity, pending_of(sg, r), in_flight_of(r));
}

static int pool_check(const char *what, const struct rte_mempool *pool, uint32_t needed) {
	if (pool->size >= needed)
		return 0;
	log_error("upstream", LOG_NO_FIELDS, "upstream: a pool of %u %s, where %u are needed",
		  pool->size, what, needed);
	return -1;
}

int us_pools_check(const struct service_group *sg, const struct us_resources *r) {
	struct us_buffers b = buffers_of(sg, r);

	if (r->packets == r->frames)
		b.packets += b.frames;
	return pool_check("buffers of the R-PHY port", r->packets, b.packets) |
	       pool_check("frames", r->frames, b.frames) |
	       pool_check("pieces", r->pieces, b.pieces);
}

/* Creates one window per order, but no more than pending buffers and spare ones. An order with a
 * window has at least one pending buffer. */
static int slots_create(struct upstream *u, const struct service_group *sg) {
	struct us_buffers max = buffers_of(sg, &u->r);
	uint32_t wanted = u->tables.stream_count + u->tables.session_count * US_PSP_FLOWS;
	uint32_t limit = RTE_MIN((uint32_t)MAX_SLOTS, max.pending_packets);
	uint32_t count = RTE_MIN(wanted, limit + SPARE_SLOTS);

	u->reorder_set.slots =
		rte_zmalloc("order", count * sizeof(*u->reorder_set.slots), RTE_CACHE_LINE_SIZE);
	if (u->reorder_set.slots == NULL) {
		log_error("memory", LOG_NO_FIELDS, "upstream: no memory for %u windows", count);
		return -1;
	}
	for (uint32_t i = 0; i < count; i++)
		u->reorder_set.slots[i].next_free =
			i + 1 < count ? &u->reorder_set.slots[i + 1] : NULL;
	u->reorder_set.free = u->reorder_set.slots;
	u->reorder_set.max = wanted > count ? limit : count;
	return 0;
}

/* Records the limits for which the pools were sized. */
static void pending_limits(struct upstream *u, const struct service_group *sg) {
	struct us_buffers max = buffers_of(sg, &u->r);
	uint32_t streams =
		u->r.capacity != NULL ? u->r.capacity->streams + 1 : u->tables.stream_count;

	u->tables.slots.pending_packets = max.pending_packets;
	u->tables.slots.pending_frames = max.pending_frames;
	u->tables.slots.frames_in_work = streams + streams / 4;
}

void us_configure(struct upstream *u, const struct service_group *sg) {
	const struct us_slots *p = &u->tables.slots;
	uint32_t pending = pending_of(sg, &u->r), frames = pending / US_FRAME_BUFFER;
	uint32_t packets = RTE_MAX(pending / us_packet_size(sg), US_BURST_PIECES);

	u->pending_limit = sg->upstream.pending;
	u->streams.max_pdu = sg->max_frame;
	u->verify_source.enabled = sg->upstream.verify_source;
	u->decrypt.verify_crc = sg->upstream.verify_crc;
	/* A missing segment may itself be in a PSP packet that waits for its order. */
	u->pending_set.timeouts[PENDING_CLASS_PACKETS] = sg->upstream.reorder_timeout_ns;
	u->pending_set.timeouts[PENDING_CLASS_SEGMENTS] = 2 * sg->upstream.reorder_timeout_ns;
	u->pending_set.timeouts[PENDING_CLASS_BURSTS] = sg->upstream.frame_timeout_ns;
	u->pending_set.timeouts[PENDING_CLASS_FRAMES] = sg->upstream.frame_timeout_ns;
	u->pending_set.limits[PENDING_POOL_PACKETS] = RTE_MIN(packets, p->pending_packets);
	u->pending_set.limits[PENDING_POOL_FRAMES] =
		RTE_MIN(RTE_MAX(frames, p->frames_in_work), p->pending_frames);
	u->pending_set.modem_limit = sg->upstream.modem_pending_limit;
}

/* Sets the pointers of each stage and helper. */
static void stages_connect(struct upstream *u) {
	u->receive.r = u->uepi.r = u->decrypt.r = u->defragment.r = u->verify_source.r = &u->r;
	u->transmit.r = u->grant.r = u->reorder_set.r = u->streams.r = u->streams.buffers.r = &u->r;
	u->receive.counters = u->validate.counters = u->uepi.counters = &u->counters;
	u->reassemble.counters = u->expire.counters = u->extract.counters = &u->counters;
	u->decrypt.counters = u->defragment.counters = u->extract_joined.counters = &u->counters;
	u->verify_source.counters = u->transmit.counters = u->requests.counters = &u->counters;
	u->grant.counters = u->reorder_set.counters = u->streams.counters = &u->counters;
	u->validate.tables = u->extract.tables = u->decrypt.tables = &u->tables;
	u->extract_joined.tables = u->verify_source.tables = u->grant.tables = &u->tables;
	u->uepi.tables = u->reassemble.tables = u->defragment.tables = &u->tables;
	u->streams.tables = u->requests.tables = &u->tables;
	u->uepi.pending_set = u->expire.pending_set = u->defragment.pending_set =
		u->extract_joined.pending_set = &u->pending_set;
	u->reorder_set.pending_set = u->streams.pending_set = &u->pending_set;
	u->receive.effort = u->reassemble.effort = &u->effort;
	u->receive.latency = u->uepi.latency = u->transmit.latency = &u->latency;
	u->uepi.list = u->reassemble.list = &u->list;
	u->receive.bursts = us_queue(u, US_BURSTS);
	u->receive.segments = u->extract.segments = us_queue(u, US_SEGMENTS);
	u->extract.joined = u->extract_joined.joined = us_queue(u, US_JOINED);
	u->expire.reorder_set = u->uepi.reorder_set = u->reassemble.reorder_set = &u->reorder_set;
	u->expire.streams = u->extract.streams = u->extract_joined.streams = &u->streams;
	u->transmit.buffers = &u->streams.buffers;
	u->uepi.requests = u->reassemble.requests = u->streams.requests = &u->requests;
	u->reassemble.grant = u->requests.grant = &u->grant;
	u->expire.receive = &u->receive;
	u->expire.uepi = &u->uepi;
	u->expire.reassemble = &u->reassemble;
	u->expire.defragment = &u->defragment;
	u->receive.extract = &u->extract;
	u->extract_joined.decrypt = &u->decrypt;
	u->defragment.joined = &u->extract_joined;
	u->receive.transmit = u->extract.transmit = u->extract_joined.transmit = &u->transmit;
}

struct upstream *upstream_create(const struct service_group *sg, const struct us_resources *r) {
	struct upstream *u = rte_zmalloc("upstream", sizeof(*u), RTE_CACHE_LINE_SIZE);

	if (u == NULL) {
		log_error("memory", LOG_NO_FIELDS, "upstream: no memory");
		return NULL;
	}
	u->r = *r;
	stages_connect(u);
	u->receive.max_queued = in_flight_of(r);
	u->transmit.max = in_flight_of(r) / 2;
	u->uepi.numbered_by_session = sg->upstream.psp_numbering == PSP_NUMBERING_SESSION;
	u->validate.core_ip = sg->rphy.core_ip;
	u->validate.rpd_ip = sg->rphy.rpd_ip;
	u->streams.control_vlan = sg->control_port.vlan;
	u->transmit.vlan = sg->network.vlan;
	if (us_tables_create(&u->tables, sg, r->capacity, r->schedules) != 0 ||
	    stages_open(us_lists, US_PIPELINES, u, sg, r) != 0 || slots_create(u, sg) != 0 ||
	    pending_set_init(&u->pending_set, u->tables.modem_count) != 0) {
		upstream_free(u);
		return NULL;
	}
	pending_limits(u, sg);
	us_configure(u, sg);
	for (unsigned i = 0; i < US_PIPELINES; i++)
		pipeline_init(upstream_pipeline(u, i), &us_lists[i], u);
	u->whole = true;
	return u;
}

void upstream_free(struct upstream *u) {
	if (u == NULL)
		return;
	if (u->whole)
		upstream_stop(u);
	latency_free(&u->latency);
	pending_set_free(&u->pending_set);
	rte_free(u->reorder_set.slots);
	stages_close(us_lists, US_PIPELINES, u);
	us_tables_free(&u->tables);
	rte_free(u);
}
