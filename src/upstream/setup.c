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
static uint32_t moving_frames(uint32_t moving) {
	return US_STOCK + PIPELINE_CAPACITY + US_TRANSMIT_CAPACITY / 2 + moving / 2;
}

/* Frames that stay in their packets. `extract` creates no more than the crypto device and the
 * queue for the network port may have, and a burst. */
static uint32_t staying_frames(uint32_t moving) {
	return US_STOCK + PIPELINE_BURST + moving / 2;
}

/* Messages in the ring, and those queued for the R-PHY port. */
static uint32_t messages_of(const struct service_group *sg) {
	return sg->upstream.scheduled ? 2 * messages_ring(sg) : 0;
}

uint32_t us_packet_room(const struct service_group *sg) {
	uint32_t frame = sg->rphy.mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN;

	return RTE_PKTMBUF_HEADROOM + RTE_MAX(frame, 2048u);
}

struct us_buffers us_buffers_within(const struct service_group *sg, const struct group_room *room,
				    uint32_t held, uint32_t moving) {
	/* and the stream of the ranging sessions */
	uint32_t streams = 1 + (room != NULL ? room->streams : us_room_exact(sg).streams);
	/* An incomplete frame between two grants is normal, so each stream may have one. A
	 * quarter more wait for other reasons; spare streams of the capacity cover these. */
	uint32_t in_work = room != NULL ? streams : streams + streams / 4;
	struct us_buffers b = {
		/* one burst can always wait for its trailer */
		.held_packets = RTE_MAX(held / us_packet_room(sg), US_BURST_PIECES),
		.held_frames = RTE_MAX(held / US_FRAME_BUFFER, in_work),
	};

	/* the queues, the segment in `extract`, and packets received before the stage `expire`
	 * runs */
	b.packets = b.held_packets + moving + US_BURST_PIECES + US_RECEIVE_BURST;
	b.frames = b.held_frames + moving_frames(moving) + messages_of(sg);
	b.pieces =
		b.held_packets + moving + US_RECEIVE_BURST * US_BURSTS_MAX + staying_frames(moving);
	return b;
}

struct us_buffers us_buffers(const struct service_group *sg, const struct group_room *room) {
	return us_buffers_within(sg, room, sg->upstream.held, US_QUEUED);
}

/* Bytes that may be pending: the configured ones, limited by the group's share of the pools. */
static uint32_t held_of(const struct service_group *sg, const struct us_resources *r) {
	return r->held > 0 ? RTE_MIN(r->held, sg->upstream.held) : sg->upstream.held;
}

static uint32_t moving_of(const struct us_resources *r) {
	return r->moving > 0 ? RTE_MIN(r->moving, (uint32_t)US_QUEUED) : US_QUEUED;
}

/* The buffers of this upstream, within its share. */
static struct us_buffers buffers_of(const struct service_group *sg, const struct us_resources *r) {
	return us_buffers_within(sg, r->room, held_of(sg, r), moving_of(r));
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
	struct us_buffers most = buffers_of(sg, &u->r);
	uint32_t wanted = u->tables.stream_count + u->tables.session_count * US_PSP_FLOWS;
	uint32_t limit = RTE_MIN((uint32_t)MAX_SLOTS, most.held_packets);
	uint32_t count = RTE_MIN(wanted, limit + SPARE_SLOTS);

	u->lanes.slots = rte_zmalloc("order", count * sizeof(*u->lanes.slots), RTE_CACHE_LINE_SIZE);
	if (u->lanes.slots == NULL) {
		log_error("memory", LOG_NO_FIELDS, "upstream: no memory for %u windows", count);
		return -1;
	}
	for (uint32_t i = 0; i < count; i++)
		u->lanes.slots[i].next_free = i + 1 < count ? &u->lanes.slots[i + 1] : NULL;
	u->lanes.free = u->lanes.slots;
	u->lanes.most = wanted > count ? limit : count;
	return 0;
}

/* Records the limits for which the pools were sized. */
static void room_for_waits(struct upstream *u, const struct service_group *sg) {
	struct us_buffers most = buffers_of(sg, &u->r);
	uint32_t streams = u->r.room != NULL ? u->r.room->streams + 1 : u->tables.stream_count;

	u->tables.places.held_packets = most.held_packets;
	u->tables.places.held_frames = most.held_frames;
	u->tables.places.frames_in_work = streams + streams / 4;
}

void us_configure(struct upstream *u, const struct service_group *sg) {
	const struct us_places *p = &u->tables.places;
	uint32_t held = held_of(sg, &u->r), frames = held / US_FRAME_BUFFER;
	uint32_t packets = RTE_MAX(held / us_packet_room(sg), US_BURST_PIECES);

	u->held_asked = sg->upstream.held;
	u->streams.max_pdu = sg->max_frame;
	u->verify_source.asked = sg->upstream.verify_source;
	u->decrypt.verify_crc = sg->upstream.verify_crc;
	/* A missing segment may itself be in a PSP packet that waits for its order. */
	u->holds.timeouts[HOLD_CLASS_PACKETS] = sg->upstream.reorder_timeout_ns;
	u->holds.timeouts[HOLD_CLASS_SEGMENTS] = 2 * sg->upstream.reorder_timeout_ns;
	u->holds.timeouts[HOLD_CLASS_BURSTS] = sg->upstream.frame_timeout_ns;
	u->holds.timeouts[HOLD_CLASS_FRAMES] = sg->upstream.frame_timeout_ns;
	u->holds.limits[HOLD_POOL_PACKETS] = RTE_MIN(packets, p->held_packets);
	u->holds.limits[HOLD_POOL_FRAMES] =
		RTE_MIN(RTE_MAX(frames, p->frames_in_work), p->held_frames);
	u->holds.modem_limit = sg->upstream.held_by_modem;
}

/* Sets the pointers of each stage and helper. */
static void stages_connect(struct upstream *u) {
	u->receive.r = u->uepi.r = u->decrypt.r = u->defragment.r = u->verify_source.r = &u->r;
	u->transmit.r = u->grant.r = u->lanes.r = u->streams.r = u->streams.buffers.r = &u->r;
	u->receive.counters = u->validate.counters = u->uepi.counters = &u->counters;
	u->reassemble.counters = u->expire.counters = u->extract.counters = &u->counters;
	u->decrypt.counters = u->defragment.counters = u->extract_joined.counters = &u->counters;
	u->verify_source.counters = u->transmit.counters = u->requests.counters = &u->counters;
	u->grant.counters = u->lanes.counters = u->streams.counters = &u->counters;
	u->validate.tables = u->extract.tables = u->decrypt.tables = &u->tables;
	u->extract_joined.tables = u->verify_source.tables = u->grant.tables = &u->tables;
	u->uepi.tables = u->reassemble.tables = u->defragment.tables = &u->tables;
	u->streams.tables = u->requests.tables = &u->tables;
	u->uepi.holds = u->expire.holds = u->defragment.holds = u->extract_joined.holds = &u->holds;
	u->lanes.holds = u->streams.holds = &u->holds;
	u->receive.effort = u->reassemble.effort = &u->effort;
	u->receive.latency = u->uepi.latency = u->transmit.latency = &u->latency;
	u->uepi.list = u->reassemble.list = &u->list;
	u->receive.bursts = us_queue(u, US_BURSTS);
	u->receive.segments = u->extract.segments = us_queue(u, US_SEGMENTS);
	u->extract.joined = u->extract_joined.joined = us_queue(u, US_JOINED);
	u->expire.lanes = u->uepi.lanes = u->reassemble.lanes = &u->lanes;
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
	u->receive.most_queued = moving_of(r);
	u->transmit.most = moving_of(r) / 2;
	u->uepi.numbered_by_session = sg->upstream.psp_numbering == PSP_NUMBERING_SESSION;
	u->validate.core_ip = sg->rphy.core_ip;
	u->validate.rpd_ip = sg->rphy.rpd_ip;
	u->streams.control_vlan = sg->control_port.vlan;
	u->transmit.vlan = sg->network.vlan;
	if (us_tables_create(&u->tables, sg, r->room, r->schedules) != 0 ||
	    stages_open(us_lists, US_PIPELINES, u, sg, r) != 0 || slots_create(u, sg) != 0 ||
	    holds_init(&u->holds, u->tables.modem_count) != 0) {
		upstream_free(u);
		return NULL;
	}
	room_for_waits(u, sg);
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
	holds_free(&u->holds);
	rte_free(u->lanes.slots);
	stages_close(us_lists, US_PIPELINES, u);
	us_tables_free(&u->tables);
	rte_free(u);
}
