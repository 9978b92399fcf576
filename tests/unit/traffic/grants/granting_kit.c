/* SPDX-License-Identifier: BSD-3-Clause */
#include "granting_kit.h"

#include <rte_cycles.h>

#include "directions/uplink_parts.h"
#include "fixture.h"
#include "model/grants_times.h"
#include "test.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

#define DATA_IUC 10

uint16_t granting_sequence[UPLINK_KIT_CHANNELS];

void granting_kit_configure(void) {
	uint8_t n = 1;

	rig.scheduled = true;
	rig.sg.upstream.scheduled = true;
	rig.sg.upstream.scheduler = (struct grants_config){
		.map_interval = 2000000,
		.modem_processing = 600000,
		.cmts_processing = 200000,
		.interleaver = 100000,
		.round_trip = 80000,
		.transport = 8000000, /* a busy machine must not make MAPs late */
	};
	for (size_t c = 0; c < rig.sg.upstream_channel_count; c++) {
		struct channel_grants *g = &rig.sg.upstream_channels[c].grants;

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
	for (size_t m = 0; m < rig.sg.modem_count; m++) {
		for (size_t f = 0; f < rig.sg.modems[m].upstream_flow_count; f++) {
			rig.sg.modems[m].upstream_flows[f].segment_header = true;
			rig.sg.modems[m].upstream_flows[f].grants.request_multiplier = n;
			n = n == 16 ? 1 : (uint8_t)(n * 2);
		}
	}
}

void granting_kit_start(const char *mix, uint64_t rate) {
	granting_kit_configure();
	uplink_kit_start(mix, rate);
	memset(granting_sequence, 0, sizeof(granting_sequence));
	uplink_begin(rig.uplink, rte_rdtsc());
}

struct rte_mbuf *granting_kit_packet(uint32_t channel, const uint8_t *message, size_t size) {
	const struct rphy_config *rphy = &rig.sg.rphy;
	struct depi_encap e = {
		.family = rphy->core_ip.family,
		.ttl = 64,
		.session = grants_map_session(&rig.sg.upstream_channels[channel]),
	};
	uint8_t packet[2048], *p = packet;

	memcpy(e.source_ip, rphy->core_ip.bytes, 16);
	memcpy(e.destination_ip, rphy->rpd_ip.bytes, 16);
	p += depi_encap_write(&e, psp_header_size(1, 0) + size, p);
	psp_header_write(p, 0, 1, granting_sequence[channel]++);
	psp_entry_write(p + PSP_HEADER_FIXED, true, true, (uint16_t)size);
	p += PSP_HEADER_FIXED + PSP_ENTRY_SIZE;
	memcpy(p, message, size);
	return fixture_packet_create(rig.pool, packet, (size_t)(p - packet) + size);
}

void granting_kit_receive(struct rte_mbuf *m) {
	assert_int_equal(uplink_receive_maps(rig.uplink, &m, 1), 0);
}

void granting_kit_round(void) {
	uplink_send(rig.uplink, rte_rdtsc());
	uplink_kit_receive();
}
