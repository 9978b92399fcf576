/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a packet: three lists, read from top to bottom. Below them: what is held, and the stop. */
#include "downstream/downstream.h"

#include "downstream/messages.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

/* Upper MAC: from the network port into the queues of the service flows ... */
static const struct stage enqueue_list[] = {
	{"receive", "burst of IP frames from the network port", "ethdev", ds_receive, true},
	{"parse", "headers of the packet", "mbuf", ds_parse, false},
	{"known_flows", "what the flow's packet before was told; passes by rules", "hash_crc",
	 ds_known_flows, false},
	{"modem_lookup", "destination address to modem, CPE limit", "hash", ds_modem_lookup, false},
	{"filter", "ordered permit and deny rules of the modem's groups", "acl", ds_filter, false},
	{"classify", "ordered classifiers of the modem to service flow", "acl", ds_classify, false},
	{"enqueue", "service-flow queues", "scheduler", ds_enqueue, false},
};

/* ... and from the queues to the lower MAC. */
static const struct stage dequeue_list[] = {
	{"schedule", "rates, priorities and turns of flows, channel of the group", "scheduler",
	 ds_dequeue, true},
	{"hand_over", "upper MAC to lower MAC", "ring", ds_hand_over, false},
};

/* Lower MAC: from the ring to the R-PHY port. */
static const struct stage lower_list[] = {
	{"take_over", "lower MAC from upper MAC", "ring", ds_take_over, true},
	{"frame", "MAC header, privacy and DS extended headers, HCS", "mbuf", ds_frame, false},
	{"encrypt_submit", "Ethernet CRC and BPI+ in one pass", "intel-ipsec-mb or cryptodev",
	 ds_encrypt_submit, false},
	{"encrypt_collect", "what the crypto provider has done", "the same", ds_encrypt_collect,
	 true},
	{"depi", "PSP segments to full MTU, L2TPv3, IP, flush timer", "mbuf", ds_depi, true},
	{"messages", "MAPs and UCDs of the upstream scheduler, before all data", "ring",
	 ds_messages, true},
	{"transmit", "bursts to the R-PHY port", "ethdev", ds_transmit, true},
};

static uint64_t dequeue_due(const void *ctx) {
	const struct ds_upper *u = ctx;

	return scheduler_due(u->scheduler);
}

/* What is in the ring, with the provider or before the port goes on as soon as it can. */
static uint64_t lower_due(const void *ctx) {
	const struct ds_lower *l = ctx;

	if (rte_ring_count(l->from_upper) > 0 || l->crypto->held > 0 || l->waiting_count > 0 ||
	    ds_messages_held(&l->messages) > 0)
		return 0;
	return depi_deadline(&l->depi);
}

const struct stage_list ds_lists[DS_PIPELINES] = {
	{"upper MAC, to the queues", enqueue_list, RTE_DIM(enqueue_list),
	 .due = pipeline_due_never},
	{"upper MAC, from the queues", dequeue_list, RTE_DIM(dequeue_list), .due = dequeue_due},
	{"lower MAC", lower_list, RTE_DIM(lower_list), .due = lower_due},
};

uint64_t downstream_held(const struct downstream *d) {
	const struct ds_lower *l = &d->lower;

	return (uint64_t)scheduler_held(d->upper.scheduler) + rte_ring_count(l->from_upper) +
	       l->crypto->held + l->depi.ends_open + l->waiting_packets;
}

uint64_t downstream_next(const struct downstream *d) {
	uint64_t lower = lower_due(&d->lower);

	return lower == 0 ? 0 : RTE_MIN(scheduler_due(d->upper.scheduler), lower);
}

void downstream_counters(const struct downstream *d, struct counters *out) {
	*out = d->upper.counters;
	counters_add(out, &d->lower.counters);
}

uint64_t downstream_messages_held(const struct downstream *d) {
	return ds_messages_held(&d->lower.messages);
}

struct message_path *downstream_messages(struct downstream *d) {
	struct message_path *p = &d->lower.messages.path;

	return p->ring != NULL ? p : NULL;
}

static bool messages_balanced(const struct ds_lower *l, const struct counters *c) {
	return c->values[COUNTER_MESSAGES] ==
	       c->values[COUNTER_MESSAGES_SENT] + c->values[COUNTER_MESSAGES_LOST] +
		       c->values[COUNTER_MESSAGES_LATE] + ds_messages_waiting(&l->messages);
}

bool downstream_balanced(const struct downstream *d) {
	struct counters c;

	downstream_counters(d, &c);
	return messages_balanced(&d->lower, &c) &&
	       c.values[COUNTER_RECEIVED] ==
		       c.values[COUNTER_TRANSMITTED] + counters_dropped(&c) + downstream_held(d);
}

struct pipeline *downstream_pipeline(struct downstream *d, unsigned index) {
	struct pipeline *const pipelines[DS_PIPELINES] = {&d->enqueue, &d->dequeue, &d->lower_mac};

	return pipelines[index];
}

void downstream_account_upper(struct downstream *d, bool on) {
	account_span_switch(&d->span, d->enqueue.accounting, on,
			    d->upper.counters.values[COUNTER_RECEIVED]);
	pipeline_account(&d->enqueue, on);
	pipeline_account(&d->dequeue, on);
}

void downstream_account_lower(struct downstream *d, bool on) {
	pipeline_account(&d->lower_mac, on);
}

uint64_t downstream_accounted(const struct downstream *d) {
	return account_span_packets(&d->span, d->enqueue.accounting,
				    d->upper.counters.values[COUNTER_RECEIVED]);
}

/* The line has room for all packets that may wait: those that the lower MAC takes over, and those in
 * DEPI frames that are open. */
int downstream_latency_reserve(struct downstream *d) {
	const struct depi *depi = &d->lower.depi;
	uint32_t most = DS_LOWER_LIMIT + PIPELINE_BURST + depi->channel_count * depi->max_segments;

	if (latency_line_create(&d->lower.arrivals, most) != 0)
		return -1;
	return latency_reserve(&d->latency);
}

int downstream_latency_prepare(struct downstream *d) {
	return downstream_latency_reserve(d) != 0 ? -1 : latency_prepare(&d->latency);
}

int downstream_latency(struct downstream *d, bool on) {
	if (on && downstream_latency_prepare(d) != 0)
		return -1;
	latency_set(&d->latency, on);
	return 0;
}

static void ds_lower_stop(struct ds_lower *l) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct rte_mbuf *m;
	uint16_t n;

	while (rte_ring_dequeue(l->from_upper, (void **)&m) == 0)
		drop(&l->counters, m, DROP_STOPPED);
	for (int tries = 0; l->crypto->held > 0 && tries < 1000; tries++) {
		n = ds_encrypt_collect(l, pkts, 0);
		for (uint16_t i = 0; i < n; i++)
			drop(&l->counters, pkts[i], DROP_STOPPED);
	}
	while ((m = depi_close_oldest(&l->depi, &l->counters)) != NULL)
		ds_frame_end(l, m, DROP_STOPPED);
	ds_transmit_end(l, DROP_STOPPED);
	ds_messages_end(l);
}

void downstream_stop(struct downstream *d) {
	struct rte_mbuf *m;

	while (scheduler_drain(d->upper.scheduler, (void **)&m, 1) == 1)
		drop(&d->upper.counters, m, DROP_STOPPED);
	ds_lower_stop(&d->lower);
}
