/* SPDX-License-Identifier: BSD-3-Clause */
#include "granting_rig.h"

#include <time.h>

#include <rte_cycles.h>

#include "directions/uplink_parts.h"
#include "grants/grants.h"
#include "model/grants_times.h"
#include "test.h"
#include "wire/l2tpv3.h"
#include "wire/management.h"
#include "wire/map.h"
#include "wire/psp.h"
#include "wire/segment.h"

#define DATA_IUC 10

void granting_rig_config(struct uplink_rig *r) {
	uint8_t n = 1;

	r->scheduled = true;
	r->sg.upstream.scheduled = true;
	r->sg.upstream.scheduler = (struct grants_config){
		.map_interval = 2000000,
		.modem_processing = 600000,
		.cmts_processing = 200000,
		.interleaver = 100000,
		.round_trip = 80000,
		.transport = 8000000, /* a machine that others use must not make all MAPs late */
	};
	for (size_t c = 0; c < r->sg.upstream_channel_count; c++) {
		struct channel_grants *g = &r->sg.upstream_channels[c].grants;

		g->physical = (struct upstream_physical){
			.minislot_ticks = 2,
			.symbol_rate = 5120,
			.burst_minislots = 1,
			.cyclic_prefix = 256,
			.frame_minislots = 237,
			.frame_symbols = 6,
			.subcarrier_spacing = 50,
			.data_iuc = DATA_IUC,
		};
		g->contention = (struct upstream_contention){1, 8, 3, 10};
	}
	for (size_t m = 0; m < r->sg.modem_count; m++) {
		for (size_t f = 0; f < r->sg.modems[m].upstream_flow_count; f++) {
			r->sg.modems[m].upstream_flows[f].segment_header = true;
			r->sg.modems[m].upstream_flows[f].grants.request_multiplier = n;
			n = n == 16 ? 1 : (uint8_t)(n * 2);
		}
	}
}

static uint64_t system_ns(void) {
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t time_now(const struct granting_rig *g) {
	return grants_samples(g->own ? g->ns : system_ns());
}

/* The worker's clock stands still, and what DOCSIS time is then is the rig's. */
static void own_time(struct granting_rig *g) {
	struct grants *grants = g->rig->uplink->scheduled;

	g->own = true;
	g->ns = system_ns();
	g->tsc = rte_rdtsc();
	grants->worker.ns_per_tick_q32 = 0;
	docsis_clock_init(&grants->clock);
	grants->clock.system = g->ns;
}

void granting_rig_system_time(struct granting_rig *g) {
	struct grants *grants = g->rig->uplink->scheduled;

	g->own = false;
	clock_start(&grants->worker);
	docsis_clock_start(&grants->clock, &grants->worker);
}

static void time_goes_on(struct granting_rig *g) {
	if (!g->own) {
		g->tsc = rte_rdtsc();
		return;
	}
	g->ns += GRANTING_RIG_ROUND_NS;
	g->tsc += GRANTING_RIG_ROUND_NS * rte_get_tsc_hz() / 1000000000;
	g->rig->uplink->scheduled->clock.system = g->ns;
}

static struct maps_channel channel_of(const struct service_group *sg, uint32_t c) {
	const struct upstream_channel *channel = &sg->upstream_channels[c];
	struct grants_times t = grants_times_of(&sg->upstream.scheduler, channel);
	bool ofdma = channel->type == UPSTREAM_OFDMA;

	return (struct maps_channel){
		.kind = ofdma ? MAPS_OFDMA : MAPS_SC_QAM,
		.id = (uint8_t)channel->id,
		.ucd_count = 5,
		.data_iuc = DATA_IUC,
		.frame = t.frame,
		.frame_minislots = t.frame_minislots,
		.minislot_bytes = t.minislot_bytes,
		.burst_minislots = ofdma ? 0 : 1,
		.interval = t.interval,
		.lead = t.lead,
		.slack = t.lead / 2,
		.ack_delay = t.ack_delay,
		.request_minislots = 1,
		.request_opportunities = 8,
		.station_minislots = t.station_minislots,
		.data_start = 3,
		.data_end = 10,
	};
}

/* A flow of the scheduler for each stream, as each has one SID cluster. */
static void flow_create(struct granting_rig *g, uint32_t stream,
			const struct sid_cluster *cluster) {
	struct maps_sid sids[UPLINK_RIG_CHANNELS];
	struct maps_cluster c = {sids, cluster->sid_count};
	struct maps_flow flow = {
		.max_burst = UPLINK_RIG_BURST_MAX - 512, /* rounded up to minislots */
		.header_bytes = SEGMENT_HEADER_SIZE,
		.clusters = &c,
		.cluster_count = 1,
	};

	for (size_t i = 0; i < cluster->sid_count; i++)
		sids[i] =
			(struct maps_sid){(uint16_t)cluster->sids[i].channel, cluster->sids[i].sid};
	assert_null(maps_set_flow(g->maps, stream, &flow, time_now(g)));
}

static void flows_create(struct granting_rig *g) {
	const struct service_group *sg = &g->rig->sg;
	uint32_t stream = 0;

	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		for (size_t f = 0; modem->address_count > 0 && f < modem->upstream_flow_count;
		     f++) {
			const struct upstream_service_flow *flow = &modem->upstream_flows[f];

			for (size_t c = 0; c < flow->cluster_count; c++, stream++) {
				g->units[stream] = flow->grants.request_multiplier;
				flow_create(g, stream, &flow->clusters[c]);
			}
		}
	}
	assert_int_equal(stream, UPLINK_RIG_STREAMS);
}

void granting_rig_start(struct granting_rig *g, struct uplink_rig *r) {
	struct maps_channel channels[UPLINK_RIG_CHANNELS];
	struct maps_config config = {
		.channels = channels,
		.channel_count = UPLINK_RIG_CHANNELS,
		.flows = UPLINK_RIG_STREAMS,
	};
	const char *why = "";

	*g = (struct granting_rig){.rig = r};
	own_time(g);
	for (uint32_t c = 0; c < UPLINK_RIG_CHANNELS; c++)
		channels[c] = channel_of(&r->sg, c);
	g->maps = maps_create(&config, &why);
	assert_non_null(g->maps);
	flows_create(g);
}

void granting_rig_end(struct granting_rig *g) {
	maps_free(g->maps);
}

/* The stream of a SID, by the plan of the uplink. */
static uint32_t stream_of(const struct granting_rig *g, uint32_t channel, uint16_t sid) {
	const struct uplink_plan *plan = &g->rig->uplink->flows.plan;

	for (uint32_t p = 0; p < plan->place_count; p++) {
		for (size_t s = 0; s < plan->places[p].cluster.sid_count; s++) {
			const struct upstream_sid *found = &plan->places[p].cluster.sids[s];

			if (found->channel == channel && found->sid == sid)
				return plan->places[p].stream;
		}
	}
	fail_msg("SID 0x%x", sid);
	return 0;
}

static void ask(struct granting_rig *g, uint32_t channel, uint16_t sid, uint32_t units,
		bool contended) {
	struct maps_request request = {
		.flow = stream_of(g, channel, sid),
		.channel = (uint16_t)channel,
		.contended = contended,
	};

	if (units == 0)
		return;
	request.bytes = units * g->units[request.flow];
	g->asked += request.bytes;
	assert_true(maps_request(g->maps, &request, time_now(g)) <= MAPS_CUT);
}

static void record_read(struct granting_rig *g, const struct uepi_request *r) {
	uint32_t channel = 0;

	while (g->rig->sg.upstream_channels[channel].session != r->session)
		channel++;
	assert_true(r->n_bytes);
	ask(g, channel, r->sid, r->size, !r->piggyback);
}

/* Where the channel has request records, these count alone. */
static void burst_read(struct granting_rig *g, const struct rig_burst *b) {
	struct segment_header h;
	struct docsis_mac mac;

	if (g->rig->sg.upstream_channels[b->channel].request_session != 0)
		return;
	if (b->kind == RIG_DATA) {
		assert_int_equal(segment_header_parse(b->payload, b->size, &h), SEGMENT_OK);
		ask(g, b->channel, b->header.sid, h.request, false);
	} else if (b->kind == RIG_ASKING) {
		docsis_mac_parse(b->payload, b->size, &mac);
		assert_int_equal(mac.kind, DOCSIS_KIND_QUEUE_REQUEST);
		assert_int_equal(mac.frame_size, b->size);
		ask(g, b->channel, mac.request_sid, mac.request_size, true);
	}
}

/* Bursts whose trailers have come, in their order. */
static void requests_read(struct granting_rig *g) {
	const struct rig_received *came = &g->rig->came;

	for (; g->records < came->record_count; g->records++)
		record_read(g, &came->records[g->records]);
	for (; g->bursts < came->burst_count; g->bursts++) {
		const struct rig_burst *b = came->bursts[g->bursts];

		for (uint32_t c = 0; c < UPLINK_RIG_CHANNELS; c++) {
			if (came->sessions[c][RIG_DATA].open == b)
				return;
		}
		burst_read(g, b);
	}
}

struct rte_mbuf *granting_rig_packet(struct granting_rig *g, uint32_t channel,
				     const uint8_t *message, size_t size) {
	const struct rphy_config *rphy = &g->rig->sg.rphy;
	struct depi_encap e = {
		.family = rphy->core_ip.family,
		.ttl = 64,
		.session = grants_map_session(&g->rig->sg.upstream_channels[channel]),
	};
	struct rte_mbuf *m = rte_pktmbuf_alloc(g->rig->pool);
	uint8_t *p;

	assert_non_null(m);
	memcpy(e.source_ip, rphy->core_ip.bytes, 16);
	memcpy(e.destination_ip, rphy->rpd_ip.bytes, 16);
	p = rte_pktmbuf_mtod(m, uint8_t *);
	p += depi_encap_write(&e, psp_header_size(1, 0) + size, p);
	psp_header_write(p, 0, 1, g->sequence[channel]++);
	psp_entry_write(p + PSP_HEADER_FIXED, true, true, (uint16_t)size);
	memcpy(p + PSP_HEADER_FIXED + PSP_ENTRY_SIZE, message, size);
	m->data_len = (uint16_t)(p + PSP_HEADER_FIXED + PSP_ENTRY_SIZE + size -
				 rte_pktmbuf_mtod(m, uint8_t *));
	m->pkt_len = m->data_len;
	return m;
}

void granting_rig_hand(struct granting_rig *g, struct rte_mbuf *m) {
	assert_int_equal(uplink_hear(g->rig->uplink, &m, 1), 0);
}

static void map_send(struct granting_rig *g, uint32_t channel, const struct map *map) {
	uint8_t body[MAP_BODY_MAX], message[MANAGEMENT_MESSAGE_MAX];
	struct management m = {.version = map->version, .type = MANAGEMENT_MAP, .body = body};
	size_t size;

	assert_int_equal(map_check(map), MAP_OK);
	m.body_size = map_write(body, sizeof(body), map);
	size = management_write(&m, message, sizeof(message));
	assert_true(size > 0);
	granting_rig_hand(g, granting_rig_packet(g, channel, message, size));
	g->maps_sent++;
}

void granting_rig_round(struct granting_rig *g) {
	uint64_t now;
	struct map map;

	time_goes_on(g);
	uplink_send(g->rig->uplink, g->tsc);
	uplink_rig_receive(g->rig);
	requests_read(g);
	now = time_now(g);
	while (!g->silent && maps_due(g->maps) <= now) {
		uint32_t channel = maps_make(g->maps, now, &map);

		if (channel == MAPS_NONE)
			break;
		map_send(g, channel, &map);
	}
}

void granting_rig_run(struct granting_rig *g, uint64_t packets) {
	while (uplink_rig_made(g->rig) < packets)
		granting_rig_round(g);
	uplink_stop(g->rig->uplink);
	while (!uplink_empty(g->rig->uplink))
		granting_rig_round(g);
}
