/* SPDX-License-Identifier: BSD-3-Clause */
#include "granting_rig.h"

#include <time.h>

#include <rte_cycles.h>

#include "directions/uplink_parts.h"
#include "grants/grants.h"
#include "model/grants_times.h"
#include "test.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

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

void granting_rig_start(struct granting_rig *g, struct uplink_rig *r) {
	*g = (struct granting_rig){.rig = r};
	own_time(g);
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

void granting_rig_round(struct granting_rig *g) {
	time_goes_on(g);
	uplink_send(g->rig->uplink, g->tsc);
	uplink_rig_receive(g->rig);
}
