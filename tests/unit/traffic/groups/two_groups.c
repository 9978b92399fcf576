/* SPDX-License-Identifier: BSD-3-Clause */
#include "two_groups.h"

#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "core/vlan_tag.h"
#include "directions/traffic_parts.h"
#include "fake_uplink.h"
#include "model/load/loader.h"
#include "platform/port.h"
#include "test.h"

static void second_load(const struct two_plan *plan, struct service_group *sg) {
	char *text =
		rig_second_config(plan->same_sessions, plan->same_addresses, plan->same_modems);

	assert_int_equal(service_group_load_text("two", text, strlen(text), sg, stderr), 0);
	free(text);
}

struct two two;

int two_open(void **state) {
	struct two *t = &two;

	rig_open(state);
	t->rigs[0] = rig;
	assert_int_equal(port_pair("network_more", t->rigs[0].pool, 1024, t->network_more), 0);
	assert_int_equal(port_pair("rphy_more", t->rigs[0].pool, 1024, t->rphy_more), 0);
	return 0;
}

int two_close(void **state) {
	struct two *t = &two;

	for (int i = 0; i < 2; i++) {
		port_close(t->network_more[i]);
		port_close(t->rphy_more[i]);
	}
	return rig_close(state);
}

static void second_rig(struct two *t, const struct two_plan *plan) {
	struct rig *second = &t->rigs[1];

	*second = t->rigs[0];
	second->sg = t->sgs[1];
	if (plan->own_ports) {
		memcpy(second->network, t->network_more, sizeof(second->network));
		memcpy(second->rphy, t->rphy_more, sizeof(second->rphy));
	}
}

void two_start(struct two *t, const struct two_plan *plan) {
	static struct traffic_options options[TWO];

	t->sgs[0] = t->rigs[0].sg;
	second_load(plan, &t->sgs[1]);
	second_rig(t, plan);
	for (unsigned g = 0; g < TWO; g++) {
		t->sgs[g].network.vlan = plan->network_vlans[g];
		t->sgs[g].rphy_port.vlan = plan->rphy_vlans[g];
		options[g] = rig_options(&t->rigs[g], "256", 7 + g);
		options[g].no_downstream = plan->no_downstream;
		options[g].upstream = plan->upstream;
	}
	t->created = groups_create(&t->groups, t->sgs, options, TWO);
	for (unsigned g = 0; g < t->groups.count; g++) {
		t->rigs[g].traffic = t->groups.all[g];
		rig_ready(&t->rigs[g]);
	}
}

void two_begin(struct two *t, struct two_plan plan) {
	fake_plan = (struct fake_plan){.pool = t->rigs[0].pool, .port = t->rigs[0].network[1]};
	two_start(t, &plan);
	assert_int_equal(t->created, 0);
}

void two_take(struct two *t) {
	for (unsigned g = 0; g < TWO; g++)
		rig_take(&t->rigs[g], t->frames[g], TWO_PACKETS, NULL);
}

void two_end(struct two *t) {
	groups_free(&t->groups);
	service_group_free(&t->sgs[1]);
	for (unsigned g = 0; g < TWO; g++)
		t->rigs[g].traffic = NULL;
	assert_int_equal(rte_mempool_in_use_count(t->rigs[0].pool), 0);
}

void two_send(struct two *t, uint16_t port, const uint8_t *bytes, size_t size, uint16_t vlan) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(t->rigs[0].pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)size), bytes, size);
	if (vlan != 0)
		vlan_tag_put(m, vlan);
	assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
}

void two_send_frame(struct two *t, unsigned group, const struct rig_frame *f, uint16_t vlan) {
	struct rig_segment segment = {f->bytes, f->size, true, true};
	struct rig *r = &t->rigs[group];
	uint8_t depi[RIG_MTU + 14];

	two_send(t, r->rphy[1], depi, rig_depi(r, f->channel, &segment, 1, depi), vlan);
}

void two_send_chain(struct two *t, unsigned group, const struct rig_frame *f, uint16_t first) {
	struct rig_segment segment = {f->bytes, f->size, true, true};
	struct rte_mbuf *head = rte_pktmbuf_alloc(t->rigs[0].pool);
	struct rte_mbuf *tail = rte_pktmbuf_alloc(t->rigs[0].pool);
	struct rig *r = &t->rigs[group];
	uint8_t depi[RIG_MTU + 14];
	size_t size = rig_depi(r, f->channel, &segment, 1, depi);

	assert_true(head != NULL && tail != NULL && first < size);
	memcpy(rte_pktmbuf_append(head, first), depi, first);
	memcpy(rte_pktmbuf_append(tail, (uint16_t)(size - first)), depi + first, size - first);
	assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
	assert_int_equal(rte_eth_tx_burst(r->rphy[1], 0, &head, 1), 1);
}

void two_receive(struct two *t) {
	while (groups_receive(&t->groups) > 0)
		;
}

struct totals *two_results(struct two *t) {
	struct totals *totals = calloc(1, sizeof(*totals));

	assert_non_null(totals);
	groups_stop(&t->groups);
	two_receive(t);
	groups_finish(&t->groups);
	totals_create(totals, &t->groups);
	return totals;
}

void two_finish(struct two *t, struct totals *totals) {
	totals_free(totals);
	free(totals);
	two_end(t);
}
