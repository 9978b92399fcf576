/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes a port that groups share. The first byte of the input selects how the groups are
 * distinguished, the rest is a frame in memory of exactly its size. A slow model names the group of
 * the frame. */
#include <stdlib.h>
#include <string.h>

#include "exact_packet.h"
#include "fuzz.h"
#include "pipeline/packet.h"
#include "platform/platform.h"
#include "share_model.h"

#define BUFFERS 15
#define SIDE 1 /* bit of the first byte: the R-PHY side, else the network */
#define VLANS 2 /* groups 1 to 3 have VLANs, of which the last two are equal */
#define ALL_TAGGED 4 /* the other groups have one, too */
#define MACS 8 /* groups 0 and 1 have a MAC address */
#define REPEATED 16 /* group 1 has the sessions and addresses of group 0 */
#define VARIANTS 32

static struct share_rig kits[VARIANTS]; /* without ports */
static struct rte_ring *in;
static struct rte_mempool *pool;

static void start(void) {
	struct platform_options options = {.program = "fuzz",
					   .main_core = PLATFORM_ANY_CORE,
					   .memory_mb = 64,
					   .offline = true};

	CHECK(platform_start(&options) == 0 && packet_meta_register() == 0);
	CHECK(atexit(platform_stop) == 0); /* else EAL's folder would stay */
	pool = rte_pktmbuf_pool_create("fuzz", BUFFERS, 0, 0, RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	in = rte_ring_create("fuzz_in", BUFFERS + 1, SOCKET_ID_ANY, 0);
	CHECK(pool != NULL && in != NULL);
}

static void configure(struct share_rig *r, unsigned variant) {
	static const uint16_t vlans[RIG_GROUPS] = {0, 10, 11, 11, 0};

	rig_prepare(r, RIG_GROUPS);
	for (unsigned g = 0; g < RIG_GROUPS; g++) {
		struct service_group *sg = &r->groups[g];
		uint16_t vlan = (variant & VLANS) == 0 ? 0 : vlans[g];

		if (vlan == 0 && (variant & ALL_TAGGED) != 0)
			vlan = 12;
		sg->network.vlan = vlan;
		sg->rphy_port.vlan = vlan;
		sg->network.has_mac = (variant & MACS) != 0 && g < 2;
		rig_write_mac(g, SHARE_NETWORK, sg->network.mac);
	}
	/* without MAC addresses or VLANs the groups could not be distinguished */
	if ((variant & REPEATED) != 0 && (variant & (SIDE | MACS | VLANS)) != 0) {
		r->channels[1] = r->channels[0];
		r->addresses[1][0][0] = r->addresses[0][0][0];
	}
}

static struct share_rig *kit_of(unsigned variant) {
	struct share_rig *r = &kits[variant];
	struct share_config c = {
		.name = "fuzz",
		.side = (variant & SIDE) != 0 ? SHARE_RPHY : SHARE_NETWORK,
		.from = {.ring = in},
		.ring_size = BUFFERS,
		.groups = r->list,
		.group_count = RIG_GROUPS,
	};

	if (r->s == NULL) {
		configure(r, variant);
		r->s = share_create(&c, (char[LIVE_LINE]){0});
		CHECK(r->s != NULL);
	}
	return r;
}

/* Returns the group that got the frame, unchanged but for its tag. -1: none. */
static int find_group(const struct share_rig *r, const uint8_t *frame, size_t size, bool tag) {
	size_t tag_size = tag ? 4 : 0;
	struct rte_mbuf *m;
	int group = -1;

	for (unsigned g = 0; g < RIG_GROUPS; g++) {
		struct packet_source source = share_source(r->s, g);

		if (packet_source_burst(&source, &m, 1) == 0)
			continue;
		CHECK(group == -1 && m->nb_segs == 1 && m->data_len == size - tag_size);
		CHECK(memcmp(rte_pktmbuf_mtod(m, uint8_t *), frame, 12) == 0);
		CHECK(memcmp(rte_pktmbuf_mtod(m, uint8_t *) + 12, frame + 12 + tag_size,
			     size - tag_size - 12) == 0);
		rte_pktmbuf_free(m);
		group = (int)g;
	}
	return group;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static bool started;
	struct share_rig *r;
	struct rte_mbuf *m;
	enum drop_reason reason;
	uint64_t before;
	int expected;
	bool tag;

	if (size == 0 || size > RIG_FRAME_SIZE)
		return 0;
	if (!started)
		start();
	started = true;
	r = kit_of(data[0] % VARIANTS);
	expected = share_model_group(r, r->s->side, data + 1, size - 1, &reason, &tag);
	before = expected < 0 ? r->s->counters.drops[reason] : 0;
	m = exact_packet(pool, data + 1, size - 1);
	CHECK(m != NULL && rte_ring_enqueue(in, m) == 0);
	pipeline_run(&r->s->receiving);
	CHECK(find_group(r, data + 1, size - 1, tag) == expected);
	CHECK(expected >= 0 || r->s->counters.drops[reason] == before + 1);
	CHECK(share_balanced(r->s) && rte_mempool_in_use_count(pool) == 0);
	return 0;
}
