/* SPDX-License-Identifier: BSD-3-Clause */
#include "two_groups.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "core/vlan_tag.h"
#include "directions/traffic_parts.h"
#include "fake_uplink.h"
#include "fixture.h"
#include "model/load/loader.h"
#include "packets.h"
#include "platform/port.h"
#include "test.h"

struct two two;

int two_open(void **state) {
	rig_open(state);
	two.rigs[0] = rig;
	assert_int_equal(port_pair("network_more", rig.pool, 1024, two.second_network), 0);
	assert_int_equal(port_pair("rphy_more", rig.pool, 1024, two.second_rphy), 0);
	return 0;
}

int two_close(void **state) {
	for (int i = 0; i < 2; i++) {
		port_close(two.second_network[i]);
		port_close(two.second_rphy[i]);
	}
	return rig_close(state);
}

/* Loads the second group and sets up its rig. */
static void second_create(const struct two_plan *plan) {
	char *text =
		rig_second_config(plan->same_sessions, plan->same_addresses, plan->same_modems);
	struct rig *second = &two.rigs[1];

	group_load_text(&two.sgs[1], text);
	free(text);
	*second = two.rigs[0];
	second->sg = two.sgs[1];
	if (plan->separate_ports) {
		memcpy(second->network, two.second_network, sizeof(second->network));
		memcpy(second->rphy, two.second_rphy, sizeof(second->rphy));
	}
}

void two_try_create(const struct two_plan *plan) {
	static struct traffic_options options[GROUP_COUNT];

	two.sgs[0] = two.rigs[0].sg;
	second_create(plan);
	for (unsigned g = 0; g < GROUP_COUNT; g++) {
		two.sgs[g].network.vlan = plan->network_vlans[g];
		two.sgs[g].rphy_port.vlan = plan->rphy_vlans[g];
		options[g] = rig_options(&two.rigs[g], "256", 7 + g);
		options[g].no_downstream = plan->no_downstream;
		options[g].upstream = plan->upstream;
	}
	two.created = groups_create(&two.groups, two.sgs, options, GROUP_COUNT);
	for (unsigned g = 0; g < two.groups.count; g++) {
		two.rigs[g].traffic = two.groups.all[g];
		rig_prepare(&two.rigs[g]);
	}
}

void two_create(struct two_plan plan) {
	fake_plan = (struct fake_plan){.pool = rig.pool, .port = rig.network[1]};
	two_try_create(&plan);
	assert_int_equal(two.created, 0);
}

void two_free(void) {
	groups_free(&two.groups);
	service_group_free(&two.sgs[1]);
	for (unsigned g = 0; g < GROUP_COUNT; g++)
		two.rigs[g].traffic = NULL;
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 0);
}

void two_send(uint16_t port, const uint8_t *bytes, size_t size, uint16_t vlan) {
	struct rte_mbuf *m = fixture_packet_create(rig.pool, bytes, size);

	if (vlan != 0)
		vlan_tag_put(m, vlan);
	assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
}

void two_send_frame(unsigned group, const struct rig_frame *f, uint16_t first) {
	struct rig_segment segment = {f->bytes, f->size, true, true};
	uint8_t depi[RIG_MTU + 14];
	size_t size = rig_build_depi(&two.rigs[group], f->channel, &segment, 1, depi);
	struct rte_mbuf *head = fixture_packet_create(rig.pool, depi, first);
	struct rte_mbuf *tail = fixture_packet_create(rig.pool, depi + first, size - first);

	assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
	assert_int_equal(rte_eth_tx_burst(two.rigs[group].rphy[1], 0, &head, 1), 1);
}

void two_receive(void) {
	while (groups_receive(&two.groups) > 0)
		;
}

void two_free_all(struct totals *totals) {
	totals_free(totals);
	two_free();
}
