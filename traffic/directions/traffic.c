/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs both directions in alternation, one burst each. */
#include "directions/traffic.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "directions/spent.h"
#include "directions/traffic_change.h"
#include "directions/traffic_parts.h"

static_assert(TRAFFIC_BURST == DOWNLINK_BURST && TRAFFIC_BURST == UPLINK_RECEIVE_BURST,
	      "a burst is one for both");

static bool upstream_create(struct traffic *t, const struct service_group *sg,
			    const struct traffic_options *o) {
	const struct uplink_options options = {
		.rphy_port = o->rphy_port,
		.witness = o->witness != NULL ? &o->witness->upstream : NULL,
		.packets = o->uplink_packets,
		.group = o->group,
		.crypto = o->crypto,
		.mix = o->upstream_mix,
		.rate = o->upstream_rate,
		.shape = o->upstream_shape,
		.seed = o->seed,
		.refuse_every = o->refuse_every,
		.reorder_every = o->reorder_every,
		.rphy_by_session = o->rphy_by_session,
		.impair = o->impair,
		.scheduled = o->scheduled,
		.streams = o->upstream_streams,
	};

	t->uplink = uplink_create(sg, &options);
	if (t->uplink == NULL)
		return false;
	if (uplink_receiver_create(&t->uplink_receiver, t->uplink, t->tsc_hz, !o->no_latency) !=
	    0) {
		fprintf(stderr, "traffic: no memory for the upstream's receiver\n");
		return false;
	}
	t->uplink_receiver.run_groups = o->run_groups;
	t->uplink_receiver.evidence = o->evidence;
	return !t->follows ||
	       uplink_follow_begin(&t->uplink_follow, t->uplink, &t->uplink_receiver, t->tsc_hz);
}

struct traffic *traffic_create(const struct service_group *sg, const struct traffic_options *o) {
	struct traffic *t = calloc(1, sizeof(*t));
	bool good;

	if (t == NULL) {
		fprintf(stderr, "traffic: no memory for a service group\n");
		return NULL;
	}
	t->sg = sg;
	t->network_port = o->network_port;
	t->rphy_port = o->rphy_port;
	t->network_shared = o->network_shared;
	t->rphy_shared = o->rphy_shared;
	t->tsc_hz = rte_get_tsc_hz();
	t->follows = o->streams > 0 || o->upstream_streams > 0;
	pacing_start(&t->rounds, 0, t->tsc_hz, 0, rte_rdtsc());
	good = o->no_downstream || (t->downlink = downlink_create(sg, o)) != NULL;
	if (good && (!o->upstream || upstream_create(t, sg, o)))
		return t;
	traffic_free(t);
	return NULL;
}

static int upstream_restart(struct traffic *t, const struct traffic_load *load, uint64_t now) {
	const struct mix *mix = load->upstream ? &load->upstream_mix : NULL;

	if (uplink_restart(t->uplink, t->sg, mix, load->upstream_rate, now) != 0)
		return -1;
	uplink_wire(t->uplink, load->shape, load->drop, now);
	uplink_receiver_restart(&t->uplink_receiver);
	t->uplink_receiver.proof.untimed = load->no_latency;
	t->uplink_first_tsc = t->uplink_last_tsc = 0;
	t->uplink_send_cycles = t->uplink_receive_cycles = 0;
	return 0;
}

int traffic_restart(struct traffic *t, const struct traffic_load *load) {
	uint64_t now = rte_rdtsc();

	if (t->downlink != NULL && downlink_restart(t->downlink, load, now) != 0)
		return -1;
	if (t->uplink != NULL && upstream_restart(t, load, now) != 0)
		return -1;
	pacing_start(&t->rounds, 0, t->tsc_hz, 0, now);
	t->gaps = (struct gaps){0};
	t->no_downstream = !load->downstream;
	t->stopped = false;
	return 0;
}

void traffic_forget_shape(struct traffic *t) {
	uint64_t now = rte_rdtsc();

	if (t->downlink != NULL)
		pacing_shape(&t->downlink->pacing, NULL, now);
	if (t->uplink != NULL)
		uplink_wire(t->uplink, NULL, false, now);
}

void traffic_free(struct traffic *t) {
	if (t == NULL)
		return;
	if (t->uplink != NULL)
		uplink_follow_end(&t->uplink_follow, t->uplink, &t->uplink_receiver);
	uplink_receiver_free(&t->uplink_receiver);
	uplink_free(t->uplink);
	downlink_free(t->downlink);
	free(t);
}

/* Receives a burst from a port and discards it. */
static unsigned discard(uint16_t port) {
	struct rte_mbuf *frames[TRAFFIC_BURST];
	unsigned n = rte_eth_rx_burst(port, 0, frames, TRAFFIC_BURST);

	if (n > 0)
		rte_pktmbuf_free_bulk(frames, n);
	return n;
}

void traffic_begin(struct traffic *t, uint64_t now) {
	pacing_restart(&t->rounds, now);
	if (t->downlink != NULL)
		pacing_restart(&t->downlink->pacing, now);
	if (t->uplink != NULL)
		uplink_begin(t->uplink, now);
}

unsigned traffic_drain(struct traffic *t) {
	unsigned n = t->rphy_shared ? 0 : discard(t->rphy_port);

	if (t->uplink != NULL && !t->network_shared)
		n += discard(t->network_port);
	return n;
}

static unsigned upstream_send(struct traffic *t, uint64_t now) {
	uint64_t start = rte_rdtsc();
	unsigned n = uplink_send(t->uplink, now);

	if (n > 0) {
		spent(&t->uplink_send_cycles, start);
		if (t->uplink_first_tsc == 0)
			t->uplink_first_tsc = now;
		t->uplink_last_tsc = now;
	}
	return n;
}

/* Begins a round of the loop and measures the one before. */
static void traffic_round(struct traffic *t, uint64_t now) {
	uint64_t before = t->rounds.last, long_ones = t->rounds.descheduled;

	pacing_idle(&t->rounds, now);
	if (t->rounds.descheduled > long_ones)
		gaps_record(&t->gaps, before, now);
}

unsigned traffic_send(struct traffic *t, uint64_t now) {
	unsigned n = 0;

	if (t->follows)
		traffic_change_round(t, now);
	traffic_round(t, now);
	if (t->downlink != NULL && !t->stopped && !t->no_downstream)
		n = downlink_send(t->downlink, now);
	if (t->uplink != NULL && !traffic_all_sent(t))
		n += upstream_send(t, now);
	return n;
}

void traffic_stop(struct traffic *t) {
	t->stopped = true;
	if (t->downlink != NULL)
		downlink_stop(t->downlink);
	if (t->uplink != NULL)
		uplink_stop(t->uplink);
}

bool traffic_all_sent(const struct traffic *t) {
	return t->stopped && (t->uplink == NULL || uplink_empty(t->uplink));
}

static unsigned upstream_receive(struct traffic *t) {
	uint64_t start = rte_rdtsc();
	unsigned n = 0;

	if (t->uplink != NULL && !t->network_shared)
		n = uplink_receiver_poll(&t->uplink_receiver, t->network_port);
	if (n > 0)
		spent(&t->uplink_receive_cycles, start);
	return n;
}

/* Frames at the R-PHY port are unexpected if no downstream is sent. */
static void rphy_unexpected(struct traffic *t, struct rte_mbuf **frames, unsigned n) {
	enum uplink_unexpected why = UPLINK_UNEXPECTED_RPHY;

	t->uplink_receiver.unexpected[why] += n;
	for (unsigned i = 0; i < n; i++)
		evidence_add_mbuf(t->uplink_receiver.evidence, EVIDENCE_RPHY,
				  uplink_unexpected_names[why], frames[i]);
	rte_pktmbuf_free_bulk(frames, n);
}

void traffic_process_rphy(struct traffic *t, struct rte_mbuf **frames, unsigned n) {
	uint64_t start = rte_rdtsc();

	if (t->uplink != NULL)
		n = uplink_receive_maps(t->uplink, frames, n);
	if (n == 0)
		return;
	if (t->downlink != NULL) {
		downlink_process(t->downlink, frames, n, start);
		return;
	}
	rphy_unexpected(t, frames, n);
}

/* Processes MAPs first: they must not wait for the modems' packets. */
static unsigned rphy_receive_maps(struct traffic *t) {
	struct rte_mbuf *frames[TRAFFIC_BURST];
	unsigned n = rte_eth_rx_burst(t->rphy_port, 0, frames, TRAFFIC_BURST);

	if (n > 0)
		traffic_process_rphy(t, frames, n);
	if (t->downlink != NULL)
		downlink_expire(t->downlink);
	return n;
}

static unsigned rphy_receive(struct traffic *t) {
	struct rte_mbuf *frames[TRAFFIC_BURST];
	unsigned n = 0;

	if (t->uplink != NULL && uplink_scheduled(t->uplink) && !t->rphy_shared)
		return rphy_receive_maps(t);
	if (t->downlink != NULL && !t->rphy_shared) {
		n = downlink_receive(t->downlink);
		if (n < TRAFFIC_BURST)
			traffic_change_emptied(t);
		return n;
	}
	if (t->downlink != NULL) {
		downlink_expire(t->downlink);
	} else if (!t->rphy_shared) {
		n = rte_eth_rx_burst(t->rphy_port, 0, frames, TRAFFIC_BURST);
		if (n > 0)
			rphy_unexpected(t, frames, n);
	}
	return n;
}

unsigned traffic_receive(struct traffic *t) {
	return rphy_receive(t) + upstream_receive(t);
}

void traffic_process_network(struct traffic *t, struct rte_mbuf **frames, unsigned n) {
	uint64_t start = rte_rdtsc();

	if (t->uplink == NULL) {
		rte_pktmbuf_free_bulk(frames, n);
		return;
	}
	uplink_receiver_process_burst(&t->uplink_receiver, frames, n, start);
	spent(&t->uplink_receive_cycles, start);
}

uint64_t traffic_in_flight(const struct traffic *t) {
	uint64_t n = 0;

	if (t->downlink != NULL)
		n += downlink_in_flight(t->downlink);
	if (t->uplink != NULL)
		n += uplink_receiver_missing(&t->uplink_receiver);
	return n;
}

bool traffic_unresolved(const struct traffic *t) {
	return (t->downlink != NULL && t->downlink->follow != NULL &&
		downlink_has_unresolved(t->downlink->follow)) ||
	       uplink_has_unresolved(&t->uplink_follow);
}

void traffic_finish(struct traffic *t) {
	if (t->downlink != NULL)
		downlink_finish(t->downlink);
	if (t->uplink_receiver.unresolved != NULL)
		uplink_receiver_retry(&t->uplink_receiver, UINT64_MAX, false);
}

void traffic_cycles(const struct traffic *t, struct traffic_cycles *out) {
	*out = t->downlink != NULL ? t->downlink->cycles : (struct traffic_cycles){0};
	/* `receive` includes the two others. */
	out->receive -= RTE_MIN(out->receive, out->decrypt + out->verify);
	out->upstream_send = t->uplink_send_cycles;
	out->upstream_receive = t->uplink_receive_cycles;
}

void traffic_result(const struct traffic *t, struct traffic_result *r) {
	*r = (struct traffic_result){0};
	if (t->downlink == NULL)
		return;
	downlink_result(t->downlink, r);
	r->descheduled = t->rounds.descheduled;
	r->descheduled_longest_us = pacing_longest_us(&t->rounds);
}
