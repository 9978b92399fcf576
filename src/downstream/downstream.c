/* SPDX-License-Identifier: BSD-3-Clause */
/* The three stage lists of the downstream, and functions over all of its stages: sums, accounting,
 * latency, stop. */
#include "downstream/downstream.h"

#include "downstream/stages.h"
#include "pipeline/packet.h"

/* Upper MAC: from the network port to the queues of the service flows. */
static const struct stage enqueue_list[] = {
	{
		.name = "receive",
		.about = "burst of IP frames from the network port",
		.dpdk = "ethdev",
		.run = ds_receive,
		.polls = true,
		.counters = STAGE_COUNTERS(COUNTER_RECEIVED, COUNTER_RECEIVED_BYTES),
	},
	{
		.name = "parse",
		.about = "headers of the packet",
		.dpdk = "mbuf",
		.run = ds_parse,
		.drops = STAGE_DROPS(DROP_RUNT, DROP_FRAME_TOO_LONG, DROP_NO_SPACE, DROP_VLAN,
				     DROP_IPV4_HEADER, DROP_IPV4_LENGTH, DROP_IPV4_CHECKSUM,
				     DROP_IPV6_HEADER, DROP_IPV6_LENGTH, DROP_IPV6_EXTENSIONS,
				     DROP_ARP_MALFORMED, DROP_MULTICAST),
		.counters = STAGE_COUNTERS(COUNTER_IPV4, COUNTER_IPV6, COUNTER_LLC),
	},
	{
		.name = "known_flows",
		.about = "results of an earlier packet of the flow, from the flow cache; "
			 "bypasses lookup and rules",
		.dpdk = "hash_crc",
		.run = ds_known_flows,
		.open = ds_known_flows_open,
		.close = ds_known_flows_close,
	},
	{
		.name = "modem_lookup",
		.about = "destination address to modem, CPE limit",
		.dpdk = "hash",
		.run = ds_modem_lookup,
		.open = ds_modem_lookup_open,
		.close = ds_modem_lookup_close,
		.drops = STAGE_DROPS(DROP_UNKNOWN_DESTINATION, DROP_CPE_LIMIT),
		.counters = STAGE_COUNTERS(COUNTER_LOOKUP_MATCHED),
	},
	{
		.name = "filter",
		.about = "ordered permit and deny rules of the modem's groups",
		.dpdk = "acl",
		.run = ds_filter,
		.open = ds_filter_open,
		.close = ds_filter_close,
		.drops = STAGE_DROPS(DROP_FILTER_DENY),
		.counters = STAGE_COUNTERS(COUNTER_FILTER_MATCHED_PERMIT,
					   COUNTER_FILTER_MATCHED_DENY, COUNTER_FILTER_UNMATCHED),
	},
	{
		.name = "classify",
		.about = "ordered classifiers of the modem to service flow",
		.dpdk = "acl",
		.run = ds_classify,
		.open = ds_classify_open,
		.close = ds_classify_close,
		.counters = STAGE_COUNTERS(
			COUNTER_CLASSIFIER_MATCHED, COUNTER_CLASSIFIER_MATCHED_IPV4,
			COUNTER_CLASSIFIER_MATCHED_IPV6, COUNTER_CLASSIFIER_MATCHED_ICMP,
			COUNTER_CLASSIFIER_UNMATCHED),
	},
	{
		.name = "enqueue",
		.about = "service-flow queues",
		.dpdk = "scheduler",
		.run = ds_enqueue,
		.open = ds_enqueue_open,
		.close = ds_enqueue_close,
		.drops = STAGE_DROPS(DROP_FLOW_BUFFER_FULL, DROP_SCHEDULER_FULL, DROP_WRED,
				     DROP_DOCSIS_PIE, DROP_LONGER_THAN_BURST,
				     DROP_SERVICE_FLOW_REMOVED),
		.counters = STAGE_COUNTERS(COUNTER_ENQUEUED),
	},
};

/* Upper MAC: from the queues to the ring. */
static const struct stage dequeue_list[] = {
	{
		.name = "schedule",
		.about = "rates, priorities and round robin of flows, channel selection",
		.dpdk = "scheduler",
		.run = ds_schedule,
		.polls = true,
		.pending = ds_schedule_pending,
		.stop = ds_schedule_stop,
		.drops = STAGE_DROPS(DROP_STOPPED),
		.counters = STAGE_COUNTERS(COUNTER_DEQUEUED),
	},
	{
		.name = "hand_over",
		.about = "upper MAC to lower MAC",
		.dpdk = "ring",
		.run = ds_hand_over,
		.open = ds_hand_over_open,
		.close = ds_hand_over_close,
	},
};

/* Lower MAC: from the ring to the R-PHY port. */
static const struct stage lower_list[] = {
	{
		.name = "take_over",
		.about = "lower MAC from upper MAC",
		.dpdk = "ring",
		.run = ds_take_over,
		.polls = true,
		.pending = ds_take_over_pending,
		.stop = ds_take_over_stop,
		.drops = STAGE_DROPS(DROP_STOPPED),
	},
	{
		.name = "frame",
		.about = "MAC header, privacy and DS extended headers, HCS",
		.dpdk = "mbuf",
		.run = ds_frame,
		.drops = STAGE_DROPS(DROP_NO_SPACE),
		.counters = STAGE_COUNTERS(COUNTER_FRAMED),
	},
	{
		.name = "encrypt_submit",
		.about = "Ethernet CRC and BPI+ in one pass",
		.dpdk = "intel-ipsec-mb or cryptodev",
		.run = ds_encrypt_submit,
		.drops = STAGE_DROPS(DROP_CRYPTO_FULL),
		.counters = STAGE_COUNTERS(COUNTER_ENCRYPTED, COUNTER_ENCRYPTED_AES_128,
					   COUNTER_ENCRYPTED_AES_256, COUNTER_ENCRYPTED_DES,
					   COUNTER_CLEAR, COUNTER_CRC_GENERATED),
	},
	{
		.name = "encrypt_collect",
		.about = "frames that the crypto provider has completed",
		.dpdk = "intel-ipsec-mb or cryptodev",
		.run = ds_encrypt_collect,
		.polls = true,
		.pending = ds_encrypt_collect_pending,
		.stop = ds_encrypt_collect_stop,
		.drops = STAGE_DROPS(DROP_CRYPTO_ERROR, DROP_CRYPTO_LOST, DROP_STOPPED),
	},
	{
		.name = "depi",
		.about = "PSP segments to full MTU, L2TPv3, IP, flush timer",
		.dpdk = "mbuf",
		.run = ds_depi,
		.polls = true,
		.open = ds_depi_open,
		.close = ds_depi_close,
		.pending = ds_depi_pending,
		.stop = ds_depi_stop,
		.drops = STAGE_DROPS(DROP_NO_BUFFER, DROP_STOPPED),
		.counters = STAGE_COUNTERS(
			COUNTER_DEPI_FRAMES, COUNTER_DEPI_FULL, COUNTER_DEPI_FLUSHED,
			COUNTER_DEPI_SEGMENTS_1, COUNTER_DEPI_SEGMENTS_2, COUNTER_DEPI_SEGMENTS_3,
			COUNTER_DEPI_SEGMENTS_4, COUNTER_DEPI_SEGMENTS_5, COUNTER_DEPI_SEGMENTS_6,
			COUNTER_DEPI_SEGMENTS_7, COUNTER_DEPI_SEGMENTS_MORE, COUNTER_PSP_SEGMENTS,
			COUNTER_PSP_FRAGMENTS),
	},
	{
		.name = "messages",
		.about = "MAPs and UCDs of the upstream scheduler to DEPI frames",
		.dpdk = "ring",
		.run = ds_messages,
		.polls = true,
		.open = ds_messages_open,
		.close = ds_messages_close,
		.stop = ds_messages_stop,
		/* messages in the data flow (psp_flow 0) end here; transmit_messages counts the others */
		.counters = STAGE_COUNTERS(COUNTER_MESSAGES, COUNTER_MESSAGES_SENT,
					   COUNTER_MESSAGES_LOST, COUNTER_MESSAGES_LATE),
	},
	{
		.name = "transmit_messages",
		.about = "MAPs and UCDs to the R-PHY port, before all data",
		.dpdk = "ethdev",
		.run = ds_transmit_messages,
		.polls = true,
		.stop = ds_transmit_messages_stop,
		.counters = STAGE_COUNTERS(COUNTER_MESSAGES_SENT, COUNTER_MESSAGES_LOST,
					   COUNTER_MESSAGES_LATE, COUNTER_TRANSMITTED_BYTES),
	},
	{
		.name = "transmit",
		.about = "bursts to the R-PHY port",
		.dpdk = "ethdev",
		.run = ds_transmit,
		.polls = true,
		.pending = ds_transmit_pending,
		.stop = ds_transmit_stop,
		.drops = STAGE_DROPS(DROP_NO_BUFFER, DROP_LINK_DOWN, DROP_PORT_GONE, DROP_STOPPED),
		.counters = STAGE_COUNTERS(COUNTER_TRANSMITTED, COUNTER_TRANSMITTED_BYTES,
					   COUNTER_TRANSMIT_RETRIES),
	},
};

/* When the scheduler may next serve a packet, as due_fn. */
static uint64_t dequeue_due(const void *ctx) {
	const struct ds_upper *u = ctx;

	return scheduler_due(u->scheduler);
}

/* Number of messages whose last DEPI frame waits for the port. */
static uint32_t messages_waiting(const struct ds_messages *x) {
	uint32_t waiting = 0;

	for (uint32_t i = 0; i < x->urgent_count; i++)
		waiting += message_meta(x->urgent[ds_urgent_index(x->urgent_first + i)])->messages;
	return waiting;
}

/* Number of messages in the ring or with a DEPI frame that waits for the port. */
static uint32_t messages_pending(const struct ds_messages *x) {
	return x->path.ring == NULL ? 0 : rte_ring_count(x->path.ring) + messages_waiting(x);
}

/* 0 if packets or messages are in the ring, in the crypto provider or waiting for the port: the
 * next round may move them. Else the flush time of the oldest open DEPI frame. */
static uint64_t lower_due(const void *ctx) {
	const struct ds_lower *l = ctx;

	if (rte_ring_count(l->from_upper) > 0 || l->crypto->pending > 0 || l->waiting_count > 0 ||
	    messages_pending(&l->messages) > 0)
		return 0;
	return depi_deadline(&l->depi);
}

const struct stage_list ds_lists[DS_PIPELINES] = {
	{"upper MAC, to the queues", enqueue_list, RTE_DIM(enqueue_list),
	 .due = pipeline_due_never},
	{"upper MAC, from the queues", dequeue_list, RTE_DIM(dequeue_list), .due = dequeue_due},
	{"lower MAC", lower_list, RTE_DIM(lower_list), .due = lower_due},
};

uint64_t downstream_pending(const struct downstream *d) {
	return stages_pending(ds_lists, DS_PIPELINES, d, UNIT_PACKET);
}

uint64_t downstream_due(const struct downstream *d) {
	uint64_t lower = lower_due(&d->lower);

	return lower == 0 ? 0 : RTE_MIN(scheduler_due(d->upper.scheduler), lower);
}

void downstream_counters(const struct downstream *d, struct counters *out) {
	*out = d->upper.counters;
	counters_add(out, &d->lower.counters);
}

uint64_t downstream_messages_pending(const struct downstream *d) {
	return messages_pending(&d->lower.messages);
}

struct message_path *downstream_messages(struct downstream *d) {
	struct message_path *p = &d->lower.messages.path;

	return p->ring != NULL ? p : NULL;
}

static bool messages_balanced(const struct ds_lower *l, const struct counters *c) {
	return c->values[COUNTER_MESSAGES] ==
	       c->values[COUNTER_MESSAGES_SENT] + c->values[COUNTER_MESSAGES_LOST] +
		       c->values[COUNTER_MESSAGES_LATE] + messages_waiting(&l->messages);
}

bool downstream_balanced(const struct downstream *d) {
	struct counters c;

	downstream_counters(d, &c);
	return messages_balanced(&d->lower, &c) &&
	       c.values[COUNTER_RECEIVED] ==
		       c.values[COUNTER_TRANSMITTED] + counters_dropped(&c) + downstream_pending(d);
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

uint64_t downstream_accounted_packets(const struct downstream *d) {
	return account_span_packets(&d->span, d->enqueue.accounting,
				    d->upper.counters.values[COUNTER_RECEIVED]);
}

/* `max`: packets whose arrival times the lower MAC may keep at once. They are in the crypto
 * provider, a burst, open DEPI frames or frames that wait for the port. */
int downstream_latency_reserve(struct downstream *d) {
	const struct depi *depi = &d->lower.depi;
	uint32_t max = DS_LOWER_LIMIT + PIPELINE_BURST + depi->channel_count * depi->max_segments;

	if (latency_line_create(&d->lower.arrivals, max) != 0)
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

void downstream_stop(struct downstream *d) {
	stages_stop(ds_lists, DS_PIPELINES, d);
}
