/* SPDX-License-Identifier: BSD-3-Clause */
#include "steering_kit.h"

#include <errno.h>

#include <rte_debug.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_spinlock.h>

#include "platform/port.h"
#include "wire/bytes.h"

#include "test.h"

#define ETHERNET 14
#define TAG 4

/* A rule of a simulated NIC. */
struct rte_flow {
	bool used;
	uint16_t port, queue, vlan;
	bool by_mac, by_session;
	uint8_t mac[6], version;
	uint32_t session;
};

/* A simulated NIC: a net_ring port with several receive queues, and the test's port. */
struct nic {
	char name[32];
	uint16_t near, far;
	struct rte_ring *rings[FLOW_NIC_QUEUES + 1]; /* the last one: to the test */
	uint32_t random; /* state of the generator */
};

const struct flow_nic_abilities flow_nic_all = {
	.vlan = true, .mac = true, .session = true, .capacity = FLOW_NIC_RULES};
struct flow_nic_abilities flow_nic;
static rte_spinlock_t lock; /* of `rules`: a change applies to all packets sent after it */
static struct rte_flow rules[FLOW_NIC_RULES];
struct flow_nic_calls flow_nic_calls;
static struct nic nics[FLOW_NIC_PORTS];
/* index in `nics` + 1, by DPDK port of the server; 0: none */
static uint16_t owners[RTE_MAX_ETHPORTS];

__typeof__(rte_flow_validate) __wrap_rte_flow_validate;
__typeof__(rte_flow_create) __wrap_rte_flow_create;
__typeof__(rte_flow_destroy) __wrap_rte_flow_destroy;
__typeof__(rte_eth_dev_start) __real_rte_eth_dev_start, __wrap_rte_eth_dev_start;

/* Defined if the program is linked with faults_dep. */
__attribute__((weak)) bool faults_call_fails(const char *function);

static bool must_fail(const char *function) {
	return faults_call_fails != NULL && faults_call_fails(function);
}

int __wrap_rte_eth_dev_start(uint16_t port) {
	flow_nic_calls.starts++;
	if (must_fail("rte_eth_dev_start"))
		return -EIO;
	return __real_rte_eth_dev_start(port);
}

static bool read_item(const struct rte_flow_item *item, struct rte_flow *r) {
	const struct rte_flow_item_eth *eth = item->spec;
	const struct rte_flow_item_vlan *vlan = item->spec;
	const struct rte_flow_item_l2tpv3oip *l2tp = item->spec;

	assert_true(item->last == NULL && (item->spec == NULL) == (item->mask == NULL));
	switch (item->type) {
	case RTE_FLOW_ITEM_TYPE_ETH:
		r->by_mac = eth != NULL;
		if (eth != NULL)
			memcpy(r->mac, &eth->hdr.dst_addr, 6);
		return eth == NULL || flow_nic.mac;
	case RTE_FLOW_ITEM_TYPE_VLAN:
		r->vlan = rte_be_to_cpu_16(vlan->hdr.vlan_tci);
		return flow_nic.vlan;
	case RTE_FLOW_ITEM_TYPE_IPV4: r->version = 4; return true;
	case RTE_FLOW_ITEM_TYPE_IPV6: r->version = 6; return true;
	case RTE_FLOW_ITEM_TYPE_L2TPV3OIP:
		r->by_session = true;
		r->session = rte_be_to_cpu_32(l2tp->session_id);
		return flow_nic.session;
	default: return false;
	}
}

static bool read_rule(uint16_t port, const struct rte_flow_attr *attributes,
		      const struct rte_flow_item *item, const struct rte_flow_action *action,
		      struct rte_flow *r) {
	const struct rte_flow_action_queue *queue = action[0].conf;
	struct rte_eth_dev_info info;

	*r = (struct rte_flow){.port = port};
	if (rte_eth_dev_info_get(port, &info) != 0 || owners[port] == 0 ||
	    attributes->ingress != 1 || action[0].type != RTE_FLOW_ACTION_TYPE_QUEUE ||
	    action[1].type != RTE_FLOW_ACTION_TYPE_END || queue->index >= info.nb_rx_queues)
		return false;
	r->queue = queue->index;
	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		if (!read_item(item, r))
			return false;
	}
	return true;
}

int __wrap_rte_flow_validate(uint16_t port, const struct rte_flow_attr *attributes,
			     const struct rte_flow_item pattern[],
			     const struct rte_flow_action actions[], struct rte_flow_error *error) {
	struct rte_flow r;

	if (flow_nic.none)
		return -ENOSYS;
	if (must_fail("rte_flow_validate"))
		return -EIO;
	return flow_nic.validates_all || read_rule(port, attributes, pattern, actions, &r)
		       ? 0
		       : -ENOTSUP;
}

struct rte_flow *__wrap_rte_flow_create(uint16_t port, const struct rte_flow_attr *attributes,
					const struct rte_flow_item pattern[],
					const struct rte_flow_action actions[],
					struct rte_flow_error *error) {
	struct rte_flow r;

	for (unsigned i = 0; i < FLOW_NIC_RULES && !must_fail("rte_flow_create"); i++) {
		if (rules[i].used || flow_nic_calls.rules >= flow_nic.capacity ||
		    !read_rule(port, attributes, pattern, actions, &r))
			continue;
		r.used = true;
		rte_spinlock_lock(&lock);
		rules[i] = r;
		rte_spinlock_unlock(&lock);
		flow_nic_calls.rules++;
		flow_nic_calls.created++;
		return &rules[i];
	}
	flow_nic_calls.refused++;
	rte_errno = ENOSPC;
	return NULL;
}

int __wrap_rte_flow_destroy(uint16_t port, struct rte_flow *flow, struct rte_flow_error *error) {
	assert_true(flow->used && flow->port == port);
	rte_spinlock_lock(&lock);
	flow->used = false;
	rte_spinlock_unlock(&lock);
	flow_nic_calls.rules--;
	flow_nic_calls.destroyed++;
	return 0;
}

static uint16_t create_port(const char *name, unsigned end, struct rte_ring **rx, unsigned count,
			    struct rte_ring *tx) {
	char text[48];
	int port;

	snprintf(text, sizeof(text), "%.24s_%u", name, end);
	port = rte_eth_from_rings(text, rx, count, &tx, 1, 0);
	assert_true(port >= 0);
	return (uint16_t)port;
}

static void create_nic(const char *name, struct rte_mempool *pool, unsigned depth,
		       uint16_t ids[2]) {
	struct rte_eth_conf conf = {0};
	struct nic *c = nics;

	while (c->name[0] != '\0')
		c++;
	assert_true(c < nics + FLOW_NIC_PORTS);
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->random = 1;
	for (unsigned q = 0; q <= FLOW_NIC_QUEUES; q++) {
		char text[48];

		snprintf(text, sizeof(text), "%.24s_q%u", name, q);
		c->rings[q] = rte_ring_create(text, depth, SOCKET_ID_ANY, 0);
		assert_non_null(c->rings[q]);
	}
	ids[0] = c->near =
		create_port(name, 0, c->rings, FLOW_NIC_QUEUES, c->rings[FLOW_NIC_QUEUES]);
	ids[1] = c->far = create_port(name, 1, &c->rings[FLOW_NIC_QUEUES], 1, c->rings[0]);
	owners[c->near] = (uint16_t)(c - nics + 1);
	assert_int_equal(rte_eth_dev_configure(ids[1], 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(ids[1], 0, 64, 0, NULL, pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(ids[1], 0, 64, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(ids[1]), 0);
}

static bool matches(const struct rte_flow *r, const struct rte_mbuf *m) {
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *), *ip = frame + ETHERNET;
	bool tagged = load_be16(frame + 12) == 0x8100;

	if (r->by_mac && memcmp(frame, r->mac, 6) != 0)
		return false;
	if (r->vlan != 0 && (!tagged || (load_be16(ip) & 0xfff) != r->vlan))
		return false;
	if (tagged)
		ip += TAG;
	if (!r->by_session)
		return true;
	if (r->version == 4)
		return ip[0] == 0x45 && ip[9] == 115 && load_be32(ip + 20) == r->session;
	return ip[0] >> 4 == 6 && ip[6] == 115 && load_be32(ip + 40) == r->session;
}

static unsigned draw(struct nic *c, unsigned limit) {
	c->random = c->random * 1664525 + 1013904223;
	return (c->random >> 8) % limit;
}

static uint16_t select_queue(struct nic *c, const struct rte_mbuf *m) {
	const struct rte_flow *rule = NULL;
	struct rte_eth_dev_info info;

	RTE_VERIFY(rte_eth_dev_info_get(c->near, &info) == 0);
	for (unsigned i = 0; i < FLOW_NIC_RULES; i++) {
		const struct rte_flow *r = &rules[i];

		if (r->used && r->port == c->near && matches(r, m))
			rule = r;
	}
	if ((flow_nic.misdirects != 0 && draw(c, flow_nic.misdirects) == 0) ||
	    (rule == NULL && flow_nic.spreads))
		return (uint16_t)draw(c, info.nb_rx_queues);
	return rule == NULL ? 0 : rule->queue;
}

static bool send_to_nic(uint16_t far, struct rte_mbuf *m) {
	struct nic *c = nics;
	bool accepted;

	while (c->name[0] == '\0' || c->far != far)
		c++;
	rte_spinlock_lock(&lock);
	accepted = rte_ring_enqueue(c->rings[select_queue(c, m)], m) == 0;
	rte_spinlock_unlock(&lock);
	return accepted;
}

static void destroy_nic(const char *name) {
	struct nic *c = nics;
	struct rte_mbuf *m;
	char text[48];

	assert_int_equal(flow_nic_calls.rules, 0);
	for (; c < nics + FLOW_NIC_PORTS; c++) {
		if (strcmp(c->name, name) != 0)
			continue;
		for (unsigned q = 0; q <= FLOW_NIC_QUEUES; q++) {
			while (rte_ring_dequeue(c->rings[q], (void **)&m) == 0)
				rte_pktmbuf_free(m);
			rte_ring_free(c->rings[q]);
		}
		for (unsigned end = 0; end < 2; end++) {
			snprintf(text, sizeof(text), "net_ring_%s_%u", name, end);
			port_unplug(text);
		}
		owners[c->near] = 0;
		memset(c, 0, sizeof(*c));
	}
}

static enum steered_by groups_by;

/* Settings of group 2 that differ by `groups_by`. */
static void edit_second_group(struct service_group *sg) {
	if (groups_by == STEERED_MIXED)
		sg->network.vlan = 100;
	if (groups_by == STEERED_OFF)
		sg->network.steering = STEERING_OFF;
	/* the session of group 1 */
	if (groups_by == STEERED_BY_BOTH)
		sg->upstream_channels[0].session -= 0x100;
}

static void edit_group(struct service_group *sg) {
	uint8_t id = (uint8_t)sg->id;

	if (groups_by == STEERED_BY_VLAN || groups_by == STEERED_IN_VLAN) {
		unsigned more = groups_by == STEERED_IN_VLAN ? 0 : id;

		sg->network.vlan = (uint16_t)(100 + more);
		sg->rphy_port.vlan = (uint16_t)(200 + more);
	}
	if (groups_by != STEERED_BY_VLAN && (groups_by < STEERED_FIRST || id == 1)) {
		sg->network.has_mac = true;
		memcpy(sg->network.mac, (const uint8_t[]){2, 0, 0, 0, 2, id}, 6);
	}
	if (id == 2)
		edit_second_group(sg);
	if (groups_by != STEERED_BY_MAC && (groups_by != STEERED_BY_BOTH || id != 2))
		id = 1;
	memcpy(sg->rphy.core_mac, (const uint8_t[]){2, 0, 0, 0, 1, id}, 6);
}

static const struct life_nic simulated_nics = {create_nic, send_to_nic, destroy_nic, edit_group};

void steering_kit_open_nic(struct life_kit *k, enum steered_by by, unsigned count,
			   unsigned max_groups, const struct flow_nic_abilities *nic) {
	life_kit_teardown(NULL);
	memset(rules, 0, sizeof(rules));
	memset(&flow_nic_calls, 0, sizeof(flow_nic_calls));
	flow_nic = *nic;
	groups_by = by;
	life_nic = &simulated_nics;
	life_kit_open(k, count, max_groups);
}

void steering_kit_open(struct life_kit *k, enum steered_by by, unsigned count,
		       unsigned max_groups) {
	steering_kit_open_nic(k, by, count, max_groups, &flow_nic_all);
}
