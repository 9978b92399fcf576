/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends L2TPv3 packets of the R-PHY device; adds reordered and faulty ones on request. */
#include "rphy/uplink_output.h"

#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_memcpy.h>

#include "core/vlan_tag.h"
#include "pipeline/first_number.h"
#include "platform/pool.h"

#define PACKETS 4095 /* of the first group */
#define PACKETS_MORE 1024 /* per further group: its stock, open and pending packets */
#define ETHERNET 14
#define PSP_NUMBER_AT 2 /* offset of the sequence number after the session ID */
#define FIRST_IN_ORDER 64 /* first packets of a session, which are never swapped */

struct rte_mempool *uplink_output_pool(unsigned groups, uint32_t mtu) {
	return packet_pool("traffic_uplink", PACKETS + (groups - 1) * PACKETS_MORE, 0,
			   UPLINK_SEGMENTS_AT + mtu);
}

int uplink_output_create(struct uplink_output *o, const struct service_group *sg, uint16_t port,
			 struct rte_mempool *pool) {
	const struct rphy_config *r = &sg->rphy;
	struct depi_encap *e = &o->encap;

	o->port = port;
	o->family = e->family = r->rpd_ip.family;
	e->dscp = r->dscp;
	e->ttl = r->ttl;
	memcpy(e->source_mac, r->rpd_mac, 6);
	memcpy(e->destination_mac, r->core_mac, 6);
	memcpy(e->source_ip, r->rpd_ip.bytes, 16);
	memcpy(e->destination_ip, r->core_ip.bytes, 16);
	o->headers_size = (uint32_t)depi_encap_size(e);
	o->capacity = ETHERNET + r->mtu - o->headers_size;
	o->flush = r->flush_ns * (rte_get_tsc_hz() / 1000) / 1000000;
	o->vlan = sg->rphy_port.vlan;
	o->pool = pool;
	if (pool == NULL)
		o->pool = o->own_pool = uplink_output_pool(1, r->mtu);
	return o->pool == NULL ? -1 : 0;
}

void uplink_output_free(struct uplink_output *o) {
	for (unsigned i = o->pending_sent; i < o->pending_count; i++)
		rte_pktmbuf_free(o->pending[i].m);
	if (o->stock_count > 0)
		rte_pktmbuf_free_bulk(o->stock, o->stock_count);
	rte_mempool_free(o->own_pool);
}

void uplink_output_restart(struct uplink_output *o) {
	o->reordered = o->segments = o->packets = o->bytes = o->backpressure = 0;
}

bool uplink_output_ready(struct uplink_output *o) {
	unsigned missing = UPLINK_STOCK - o->stock_count;

	if (o->pending_sent < o->pending_count)
		return false;
	if (missing > 0 && rte_pktmbuf_alloc_bulk(o->pool, o->stock + o->stock_count, missing) != 0)
		return false;
	o->stock_count = UPLINK_STOCK;
	return true;
}

static void output_pend(struct uplink_output *o, struct rte_mbuf *m, unsigned ended_count,
			uint32_t session) {
	if (o->vlan != 0)
		vlan_tag_put(m, o->vlan);
	o->pending[o->pending_count++] = (struct uplink_packet){m, ended_count, session};
}

/* The session of a packet that may be reordered, else 0. The CMTS takes the first packet of a session as start
 * of its sequence, so that packet and some after it keep their order. */
static uint32_t session_of(const struct uplink_output *o, const struct rte_mbuf *m) {
	const uint8_t *session = rte_pktmbuf_mtod_offset(m, const uint8_t *, o->headers_size - 4);
	uint16_t number = load_be16(session + 4 + PSP_NUMBER_AT);

	return (uint16_t)(number - first_number()) < FIRST_IN_ORDER ? 0 : load_be32(session);
}

/* Swaps the entries of the last two packets: `first` entries of the first, `second` of the second one. */
static void ended_swap(struct uplink_output *o, unsigned first, unsigned second) {
	struct uplink_ended *at = &o->ended[o->ended_count - first - second];
	struct uplink_ended last[UPLINK_OPEN_ENDED];

	memcpy(last, at + first, second * sizeof(*at));
	memmove(at + second, at, first * sizeof(*at));
	memcpy(at, last, second * sizeof(*at));
}

/* Occasionally swaps a packet of the R-PHY device with the next one, as networks do (R-UEPI, PSP). */
static void output_reorder(struct uplink_output *o) {
	struct uplink_packet *last = &o->pending[o->pending_count - 1];
	bool pair = o->pending_count - o->pending_sent > 1 && last->session != 0 &&
		    last[-1].session == last->session;

	if (!pair || random_below(&o->random, o->reorder_every) != 0)
		return;
	ended_swap(o, last[-1].ended, last[0].ended);
	RTE_SWAP(last[0], last[-1]);
	last[0].session = last[-1].session = 0;
	o->reordered++;
}

void uplink_output_put(struct uplink_output *o, struct rte_mbuf *m,
		       const struct uplink_ended *ended, unsigned ended_count) {
	uint32_t session = o->reorder_every == 0 ? 0 : session_of(o, m);
	struct rte_mbuf *faulty = NULL;

	witness_pass(o->witness, &m, 1);
	if (o->make_faulty != NULL)
		faulty = o->make_faulty(o->refused, m, o->headers_size, o->pool);
	if (ended_count > 0)
		rte_memcpy(o->ended + o->ended_count, ended, ended_count * sizeof(*ended));
	o->ended_count += ended_count;
	output_pend(o, m, ended_count, session);
	output_reorder(o);
	if (faulty != NULL)
		output_pend(o, faulty, 0, 0);
}

unsigned uplink_output_transmit(struct uplink_output *o, const struct uplink_ended **ended,
				unsigned *ended_count) {
	unsigned left = o->pending_count - o->pending_sent;
	struct uplink_packet *first = &o->pending[o->pending_sent];
	struct rte_mbuf *packets[UPLINK_PENDING];
	uint32_t sizes[UPLINK_PENDING];
	unsigned n;

	*ended = &o->ended[o->ended_sent];
	*ended_count = 0;
	if (left == 0)
		return 0;
	for (unsigned i = 0; i < left; i++) {
		packets[i] = first[i].m;
		sizes[i] = packets[i]->pkt_len;
	}
	n = rte_eth_tx_burst(o->port, 0, packets, (uint16_t)left);
	for (unsigned i = 0; i < n; i++)
		o->bytes += sizes[i];
	o->packets += n;
	o->backpressure += n < left;
	if (o->drop && n < left) {
		rte_pktmbuf_free_bulk(packets + n, left - n);
		n = left;
	}
	for (unsigned i = 0; i < n; i++)
		*ended_count += first[i].ended;
	o->pending_sent += n;
	o->ended_sent += *ended_count;
	if (n == left)
		o->pending_count = o->pending_sent = o->ended_count = o->ended_sent = 0;
	return n;
}
