/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/flow.h"

#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>

#include "wire/vlan.h"

#define ITEMS 5 /* Ethernet, VLAN, IP, L2TPv3, end */

/* A rule in the format of rte_flow; points into itself. */
struct flow_rule {
	struct rte_flow_attr attributes;
	struct rte_flow_item items[ITEMS];
	struct rte_flow_action actions[2];
	struct rte_flow_action_queue queue;
	struct rte_flow_item_eth eth, eth_mask;
	struct rte_flow_item_vlan vlan, vlan_mask;
	struct rte_flow_item_l2tpv3oip l2tp, l2tp_mask;
};

bool flow_match_same(const struct flow_match *a, const struct flow_match *b) {
	return a->vlan == b->vlan && a->by_mac == b->by_mac && a->family == b->family &&
	       a->session == b->session && memcmp(a->mac, b->mac, sizeof(a->mac)) == 0;
}

/* `spec` NULL: matches the header's presence only. */
static void item_add(struct flow_rule *r, unsigned *count, enum rte_flow_item_type type,
		     const void *spec, const void *mask) {
	r->items[(*count)++] = (struct rte_flow_item){
		.type = type, .spec = spec, .mask = spec != NULL ? mask : NULL};
}

static void rule_fill(struct flow_rule *r, const struct flow_match *m, uint16_t queue) {
	unsigned count = 0;

	memset(r, 0, sizeof(*r));
	r->attributes.ingress = 1;
	memcpy(&r->eth.hdr.dst_addr, m->mac, sizeof(m->mac));
	memset(&r->eth_mask.hdr.dst_addr, 0xff, sizeof(r->eth_mask.hdr.dst_addr));
	r->vlan.hdr.vlan_tci = rte_cpu_to_be_16(m->vlan);
	r->vlan_mask.hdr.vlan_tci = RTE_BE16(VLAN_ID);
	r->l2tp.session_id = rte_cpu_to_be_32(m->session);
	r->l2tp_mask.session_id = UINT32_MAX;
	item_add(r, &count, RTE_FLOW_ITEM_TYPE_ETH, m->by_mac ? &r->eth : NULL, &r->eth_mask);
	if (m->vlan != 0)
		item_add(r, &count, RTE_FLOW_ITEM_TYPE_VLAN, &r->vlan, &r->vlan_mask);
	if (m->family != 0) {
		item_add(r, &count,
			 m->family == 4 ? RTE_FLOW_ITEM_TYPE_IPV4 : RTE_FLOW_ITEM_TYPE_IPV6, NULL,
			 NULL);
		item_add(r, &count, RTE_FLOW_ITEM_TYPE_L2TPV3OIP, &r->l2tp, &r->l2tp_mask);
	}
	item_add(r, &count, RTE_FLOW_ITEM_TYPE_END, NULL, NULL);
	r->queue.index = queue;
	r->actions[0] = (struct rte_flow_action){RTE_FLOW_ACTION_TYPE_QUEUE, &r->queue};
	r->actions[1] = (struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_END};
}

struct rte_flow *flow_create(uint16_t port, const struct flow_match *match, uint16_t queue) {
	struct rte_flow_error error;
	struct flow_rule r;

	rule_fill(&r, match, queue);
	return rte_flow_create(port, &r.attributes, r.items, r.actions, &error);
}

void flow_destroy(uint16_t port, struct rte_flow *flow) {
	struct rte_flow_error error;

	rte_flow_destroy(port, flow, &error);
}

bool flow_valid(uint16_t port, const struct flow_match *match, uint16_t queue) {
	struct rte_flow_error error;
	struct flow_rule r;

	rule_fill(&r, match, queue);
	return rte_flow_validate(port, &r.attributes, r.items, r.actions, &error) == 0;
}

bool flow_known(uint16_t port) {
	static const struct flow_match any;
	struct rte_flow_error error;
	struct flow_rule r;

	rule_fill(&r, &any, 0);
	return rte_flow_validate(port, &r.attributes, r.items, r.actions, &error) != -ENOSYS;
}
