/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame at a port that groups share. The first byte chooses how they are told apart, the rest is the
 * frame, in memory of exactly its size. A slow model says whose it is.
 */
#include <stdlib.h>
#include <string.h>

#include "exact_packet.h"
#include "fuzz.h"
#include "pipeline/packet.h"
#include "platform/platform.h"
#include "share_model.h"

#define BUFFERS 15
#define SIDE 1 /* bits of the first byte: R-PHY, or network */
#define VLANS 2 /* groups 1 to 3 have some, the last two the same */
#define ALL_TAGGED 4 /* the others, too */
#define MACS 8 /* groups 0 and 1 have a MAC address */
#define REPEATED 16 /* sessions and addresses of group 0 are those of group 1, too */
#define WAYS 32

static struct share_kit rigs[WAYS]; /* no ports: only the configuration, and what shares it */
static struct rte_ring *in;
static struct rte_mempool *pool;

static void start(void) {
	struct platform_options options = {.program = "fuzz",
					   .main_core = PLATFORM_ANY_CORE,
					   .memory_mb = 64,
					   .offline = true};

	CHECK(platform_start(&options) == 0 && packet_meta_register() == 0);
	CHECK(atexit(platform_stop) == 0); /* EAL's folder would stay */
	pool = rte_pktmbuf_pool_create("fuzz", BUFFERS, 0, 0, RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	in = rte_ring_create("fuzz_in", BUFFERS + 1, SOCKET_ID_ANY, 0);
	CHECK(pool != NULL && in != NULL);
}

static void configure(struct share_kit *r, unsigned way) {
	static const uint16_t vlans[RIG_GROUPS] = {0, 10, 11, 11, 0};

	rig_prepare(r, RIG_GROUPS);
	for (unsigned g = 0; g < RIG_GROUPS; g++) {
		struct service_group *sg = &r->groups[g];
		uint16_t vlan = (way & VLANS) == 0 ? 0 : vlans[g];

		if (vlan == 0 && (way & ALL_TAGGED) != 0)
			vlan = 12;
		sg->network.vlan = vlan;
		sg->rphy_port.vlan = vlan;
		sg->network.has_mac = (way & MACS) != 0 && g < 2;
		rig_mac(g, 2, sg->network.mac);
	}
	/* without MAC addresses or VLANs, they could not be told apart */
	if ((way & REPEATED) != 0 && (way & (SIDE | MACS | VLANS)) != 0) {
		r->channels[1] = r->channels[0];
		r->addresses[1][0][0] = r->addresses[0][0][0];
	}
}

static struct share_kit *rig_of(unsigned way) {
	struct share_kit *r = &rigs[way];
	struct share_config c = {
		.name = "fuzz",
		.side = (way & SIDE) != 0 ? SHARE_RPHY : SHARE_NETWORK,
		.from = {.ring = in},
		.ring_size = BUFFERS,
		.groups = r->list,
		.group_count = RIG_GROUPS,
	};

	if (r->s == NULL) {
		configure(r, way);
		r->s = share_create(&c, (char[LIVE_LINE]){0});
		CHECK(r->s != NULL);
	}
	return r;
}

/* The group that got the frame, which is then what it was but for its tag; -1: none. */
static int find(const struct share_kit *r, const uint8_t *frame, size_t size, bool tag) {
	size_t cut = tag ? 4 : 0;
	struct rte_mbuf *m;
	int group = -1;

	for (unsigned g = 0; g < RIG_GROUPS; g++) {
		struct packet_source source = share_source(r->s, g);

		if (packet_source_burst(&source, &m, 1) == 0)
			continue;
		CHECK(group == -1 && m->nb_segs == 1 && m->data_len == size - cut);
		CHECK(memcmp(rte_pktmbuf_mtod(m, uint8_t *), frame, 12) == 0);
		CHECK(memcmp(rte_pktmbuf_mtod(m, uint8_t *) + 12, frame + 12 + cut,
			     size - cut - 12) == 0);
		rte_pktmbuf_free(m);
		group = (int)g;
	}
	return group;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static bool started;
	struct share_kit *r;
	struct rte_mbuf *m;
	enum drop_reason reason;
	uint64_t before;
	int expected;
	bool tag;

	if (size == 0 || size > RIG_FRAME)
		return 0;
	if (!started)
		start();
	started = true;
	r = rig_of(data[0] % WAYS);
	expected = share_model(r, r->s->side, data + 1, size - 1, &reason, &tag);
	before = expected < 0 ? r->s->counters.drops[reason] : 0;
	m = exact_packet(pool, data + 1, size - 1);
	CHECK(m != NULL && rte_ring_enqueue(in, m) == 0);
	pipeline_run(&r->s->receiving);
	CHECK(find(r, data + 1, size - 1, tag) == expected);
	CHECK(expected >= 0 || r->s->counters.drops[reason] == before + 1);
	CHECK(share_balanced(r->s) && rte_mempool_in_use_count(pool) == 0);
	return 0;
}
