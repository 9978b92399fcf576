/* SPDX-License-Identifier: BSD-3-Clause */
/* The default configuration: three channels, and six modems with two keys, one or none. */
#include <string.h>

#include "group_defaults.h"
#include "upstream_kit.h"

const struct kit_stream kit_streams[KIT_STREAMS] = {
	{0, 0, 0, true, 0x10, {0, 2}},	{0, 0, 3, true, 0x11, {2, 2}},
	{0, 1, 0, true, 0x12, {1, 1}},	{1, 2, 0, false, 0x20, {0, 0}},
	{2, 3, 5, true, 0x30, {0, 2}},	{2, 4, 0, true, 0x31, {2, 2}},
	{3, 5, 0, false, 0x40, {0, 0}}, {4, 6, 0, true, 0x50, {0, 2}},
	{5, 7, 0, true, 0x60, {0, 2}},
};

static struct upstream_channel channels[KIT_CHANNELS] = {
	{1, UPSTREAM_SC_QAM, 100000000, KIT_SC_QAM, 0, 0},
	{2, UPSTREAM_OFDMA, 1000000000, KIT_OFDMA, KIT_REQUESTS, KIT_RANGING},
	{3, UPSTREAM_OFDMA, 1000000000, KIT_OFDMA_2, 0, 0},
};

static struct upstream_sid sids[KIT_STREAMS][2] = {
	{{0, 0x10}, {2, 0x10}}, {{2, 0x11}}, {{1, 0x12}}, {{0, 0x20}},
	{{0, 0x30}, {2, 0x30}}, {{2, 0x31}}, {{0, 0x40}}, {{0, 0x50}, {2, 0x50}},
	{{0, 0x60}, {2, 0x60}},
};

static struct sid_cluster clusters[KIT_STREAMS] = {
	{0, sids[0], 2}, {3, sids[1], 1}, {0, sids[2], 1}, {0, sids[3], 1}, {5, sids[4], 2},
	{0, sids[5], 1}, {0, sids[6], 1}, {0, sids[7], 2}, {0, sids[8], 2},
};

static struct upstream_service_flow flows[] = {
	{100, true, &clusters[0], 2}, {101, true, &clusters[2], 1}, {102, false, &clusters[3], 1},
	{103, true, &clusters[4], 1}, {104, true, &clusters[5], 1}, {105, false, &clusters[6], 1},
	{106, true, &clusters[7], 1}, {107, true, &clusters[8], 1},
};

static struct ip_address addresses[KIT_MODEMS][2];

static void configure_modem(struct modem *m, uint8_t index, unsigned flow, size_t flow_count) {
	struct security_association *sa = &m->security;

	addresses[index][0] = (struct ip_address){4, {10, 0, index, 1}};
	addresses[index][1] = (struct ip_address){6, {0x20, 0x01, 0x0d, 0xb8, [15] = index + 1}};
	*m = (struct modem){
		.mac = {2, 1, 0, 0, 0, index},
		.addresses = addresses[index],
		.address_count = 2,
		.upstream_flows = &flows[flow],
		.upstream_flow_count = flow_count,
	};
	if (index > 1)
		return;
	sa->cipher = CIPHER_AES_128;
	sa->key_sequence = index == 0 ? 15 : 4; /* 15: the next generation is 0 */
	sa->has_next_key = index == 0;
	for (unsigned i = 0; i < 16; i++) {
		sa->key[i] = (uint8_t)(index + 3 * i);
		sa->iv[i] = (uint8_t)(index + 5 * i);
		sa->next_key[i] = (uint8_t)(0xff - 7 * i);
		sa->next_iv[i] = (uint8_t)(0x80 ^ i);
	}
}

void kit_set_defaults(struct upstream_kit *k) {
	static const uint8_t flow_counts[KIT_MODEMS] = {2, 1, 2, 1, 1, 1};
	unsigned flow = 0;

	memset(k, 0, sizeof(*k));
	k->random.state = 123456789;
	for (uint8_t m = 0; m < KIT_MODEMS; m++) {
		configure_modem(&k->modems[m], m, flow, flow_counts[m]);
		flow += flow_counts[m];
	}
	k->sg = (struct service_group){
		.rphy.mtu = 9000,
		.upstream = {.verify_source = true,
			     .verify_crc = true,
			     .frame_timeout_ns = 100 * KIT_MS},
		.upstream_channels = channels,
		.upstream_channel_count = KIT_CHANNELS,
		.modems = k->modems,
		.modem_count = KIT_MODEMS,
	};
	service_group_set_defaults(&k->sg);
	k->network_depth = 4096;
	k->control_depth = 64;
	k->packet_buffers = 2047;
	k->packet_buffer_size = RTE_PKTMBUF_HEADROOM + 4096;
	k->frame_buffers = 4095;
	k->piece_buffers = 2047;
}
