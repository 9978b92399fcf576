/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The downstream of one service group: receives IP packets and sends encrypted DEPI frames.
 *
 * The three lists in downstream.c define a packet's path. Only a ring connects upper and lower MAC,
 * so they may share a core or have one each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_ring.h>

#include "downstream/classified.h"
#include "downstream/depi.h"
#include "downstream/flow_cache.h"
#include "downstream/rules/rules.h"
#include "downstream/tables.h"
#include "model/live/difference.h"
#include "model/service_group.h"
#include "pipeline/clock.h"
#include "pipeline/counters.h"
#include "pipeline/latency.h"
#include "pipeline/messages.h"
#include "pipeline/packet.h"
#include "pipeline/packet_ends.h"
#include "pipeline/pipeline.h"
#include "pipeline/poll_stats.h"
#include "scheduler/scheduler.h"

/* Packets or DEPI frames above which the lower MAC dequeues no more. */
#define DS_LOWER_LIMIT 512
#define DS_TRANSMIT_CAPACITY 4096 /* DEPI frames that wait for the port */

/* Drop reason by the scheduler's verdict. */
extern const enum drop_reason ds_refusals[SCHEDULER_VERDICTS];

/* Bytes that a channel could have carried: `before` until the time `since`, then by its rate. */
struct ds_capacity {
	uint32_t changes; /* odd while the members below change; see qos_capacity() */
	uint64_t rate; /* bits per second */
	uint64_t since; /* ns */
	uint64_t before; /* bytes */
};

/* Table for the lookup of a destination's modem. */
enum ds_lookup { DS_LOOKUP_IPV4, DS_LOOKUP_IPV6, DS_LOOKUP_MAC, DS_LOOKUPS };

/*
 * The record of a packet in the current burst. The packet carries its index, so stages from parse
 * to classify may drop and reorder packets. A packet that a stage keeps beyond the burst has no
 * record.
 */
struct ds_record {
	struct rule_key key;
	const uint8_t *destination; /* in the frame: key of the lookup */
	enum ds_lookup lookup;
	uint16_t extensions; /* as in struct frame_fields; only with FLOW_ALONE */
	uint32_t hash; /* of the key, for the flow cache */
	/* set by the stages after known_flows: */
	struct ds_modem *modem;
	uint8_t address; /* index of the destination in the modem's list */
	uint8_t filter; /* result of the filter rules, as in struct flow_record */
};

/* Packets of the current burst with known flows. The stages that they bypass count them. */
struct ds_known {
	uint32_t packets, permitted, classified[CLASSIFIED_KINDS];
};

/* Context of the stages of the upper MAC. */
struct ds_upper {
	struct packet_source network;
	uint32_t max_frame; /* bytes without CRC */
	struct clock *clock;
	uint64_t cpe_period_ns;
	uint64_t cpe_period; /* number of the current one */
	uint64_t cpe_period_end; /* ns */
	uint64_t cpe_since; /* ns; start of the period `cpe_first` */
	uint64_t cpe_first; /* number of a period */
	struct ds_tables *tables;
	struct rules filters;
	struct rules classifiers;
	struct scheduler *scheduler;
	struct ds_capacity *capacity; /* by channel */
	struct rte_ring *to_lower;
	const struct message_path *messages; /* NULL: no messages */
	uint64_t messages_charged; /* bytes of all channels */
	uint64_t *charged; /* by channel: bytes of messages, in memory of struct ds_messages */
	const struct latency *latency;
	struct flow_cache flow_cache;
	struct ds_record records[PIPELINE_BURST];
	struct ds_known known;
	uint16_t unknown_count; /* packets of the burst with records, at the latest stage */
	struct poll_stats effort;
	struct counters counters;
};

/* The record of a packet, which must have one. */
static inline struct ds_record *ds_record_of(struct ds_upper *u, struct rte_mbuf *m) {
	return &u->records[packet_meta(m)->record];
}

/* Whether the packet is IPv6 with extension headers. Rules are then matched for each header. */
static inline bool ds_has_chain(const struct ds_record *record) {
	return (record->key.flow.flags & FLOW_ALONE) != 0 && record->key.flow.family == RULE_IPV6;
}

/* Whether the flow cache may keep the results for the packet's flow. */
static inline bool ds_keeps_flow(const struct ds_upper *u, const struct ds_record *record) {
	return u->flow_cache.records != NULL && (record->key.flow.flags & FLOW_ALONE) == 0;
}

#define DS_URGENT_CAPACITY 256 /* a power of 2 */

/* The index in the ring of urgent frames. */
static inline uint32_t ds_urgent_index(uint32_t at) {
	return at & (DS_URGENT_CAPACITY - 1);
}

/* Management messages. They are sent before all data. */
struct ds_messages {
	struct message_path path; /* without an upstream scheduler its ring is NULL */
	uint64_t *charged; /* by channel: bytes that the upper MAC has charged */
	/* ring of DEPI frames that wait for the port */
	struct rte_mbuf *urgent[DS_URGENT_CAPACITY];
	uint32_t urgent_first, urgent_count;
	uint16_t new_count; /* frames of messages at the start of the current burst */
	/* ns from the due time of messages until the port took them, without those that waited
	 * for the first link */
	uint64_t delay_sum, delay_max;
	uint64_t delayed; /* messages with such a delay */
	uint64_t opened; /* when the port took its first frame; 0 if that was not of a message */
};

/* Context of the stages of the lower MAC. */
struct ds_lower {
	struct clock *clock;
	struct rte_ring *from_upper;
	const struct ds_tables *tables;
	struct crypto_queue *crypto;
	bool paused; /* from the upper MAC, until the crypto provider is replaced */
	uint16_t crypto_parts[CIPHERS]; /* enum crypto_parts by cipher */
	uint64_t dequeued, submitted; /* packets dequeued and frames submitted since the start */
	struct depi depi;
	struct packet_sink rphy;
	struct rte_mempool *linear; /* for copies of frames, if the port does not support chains */
	/* ring of DEPI frames that wait for the port */
	struct rte_mbuf *waiting[DS_TRANSMIT_CAPACITY];
	uint32_t waiting_first, waiting_count;
	uint32_t waiting_packets; /* packets that end in one of them */
	uint16_t waiting_arrivals[DS_TRANSMIT_CAPACITY]; /* index in `arrivals`, by frame */
	struct latency_line arrivals;
	struct latency *latency;
	struct ds_messages messages;
	struct counters counters;
};

/* Frees a DEPI frame, and counts the packets that end in it as dropped. */
void ds_frame_end(struct ds_lower *l, struct rte_mbuf *m, enum drop_reason reason);

/* Resources of the caller. They must outlive the downstream. */
struct ds_resources {
	struct packet_source network;
	struct packet_sink rphy;
	struct crypto_queue *crypto; /* DOWNLINK */
	void *const *schedules; /* of keys for DOWNLINK, by modem */
	const struct group_capacity
		*capacity; /* capacity for changes; NULL: for the group as it is */
	struct rte_mempool *depi_headers; /* for the first mbuf of each DEPI frame */
	struct rte_mempool *depi_fragments; /* for attached mbufs, without data buffers */
	struct rte_mempool *linear; /* for copies, if the port does not support chains */
	uint32_t queued_max; /* packets in all queues */
	uint32_t hand_over_max; /* packets between upper and lower MAC */
	struct clock *upper_clock;
	struct clock *lower_clock; /* may be the same clock */
};

/* Lists from which the rules of the upper MAC are built. The control thread owns them. */
struct ds_rule_lists {
	struct rule_lists filters, classifiers;
	uint32_t *of_group; /* by filter group of the service group */
	uint32_t *of_modem; /* by modem: list of its classifiers */
};

struct ds_change;

/* Slots that changes allocate. The control thread owns them. */
struct ds_slots {
	uint32_t *free_flows; /* unused indices of service flows */
	uint32_t free_flow_count;
	/* In removal: slots by kind, number of flows by bonding group, and of bonding groups
	 * by channel. */
	bool *retiring[LIVE_OBJECTS];
	uint32_t *flows_leaving, *groups_leaving;
	const struct ds_change *latest; /* the latest change, until it ends */
};

struct downstream {
	struct ds_tables tables;
	struct ds_rule_lists lists;
	struct ds_slots slots;
	struct ds_upper upper;
	struct ds_lower lower;
	struct pipeline enqueue; /* network port -> service-flow queues */
	struct pipeline dequeue; /* service-flow queues -> ring */
	struct pipeline lower_mac; /* ring -> R-PHY port */
	struct latency latency; /* from network port to R-PHY port */
	struct account_span span; /* over received packets */
};

/* The pipelines in the order of packets. */
#define DS_PIPELINES 3
extern const struct stage_list ds_lists[DS_PIPELINES];

/* Builds tables, rules, scheduler and pipelines from the configuration. Returns NULL after logging
 * an error. Free the result by downstream_free(). */
struct downstream *downstream_create(const struct service_group *sg, const struct ds_resources *r);

/* The index of a modem's service flow in the scheduler and the tables. `flow` is its index in
 * the modem's list. */
static inline uint32_t ds_flow_number(const struct downstream *d, size_t modem, size_t flow) {
	return d->tables.modems[modem].flows[flow];
}

/* Capacity of the flow cache. */
uint32_t ds_flow_records(const struct service_group *sg);

/* Frees the downstream. Does not count pending packets, so call downstream_stop() first. */
void downstream_free(struct downstream *d);

/* Pending packets: in queues, ring, crypto provider, open DEPI frames, and frames that wait for
 * the port. */
uint64_t downstream_pending(const struct downstream *d);

/* Whether received = transmitted + drops + pending. No worker may be running. */
bool downstream_balanced(const struct downstream *d);

/* Pending messages of the upstream scheduler. They count as received when the lower MAC dequeues
 * them. */
uint64_t downstream_messages_pending(const struct downstream *d);

/* The path of messages into the downstream. NULL without an upstream scheduler. */
struct message_path *downstream_messages(struct downstream *d);

/* The time in ns at which a stage may have work without further input. May be too early, never too
 * late. 0: at once; UINT64_MAX: never. No worker may be running. */
uint64_t downstream_due(const struct downstream *d);

/* The counters of upper and lower MAC together. May be called while workers run. */
void downstream_counters(const struct downstream *d, struct counters *out);

/* A pipeline by its index in ds_lists. */
struct pipeline *downstream_pipeline(struct downstream *d, unsigned index);

/* Switch the accounting of cycles; it is on after downstream_create(). The worker of the upper
 * or lower MAC calls its function between two rounds. */
void downstream_account_upper(struct downstream *d, bool on);
void downstream_account_lower(struct downstream *d, bool on);

/* Received packets for which cycles are accounted. */
uint64_t downstream_accounted_packets(const struct downstream *d);

/* As latency_switch(), latency_prepare() and latency_reserve(). Off after downstream_create(). */
int downstream_latency(struct downstream *d, bool on);
int downstream_latency_prepare(struct downstream *d);
int downstream_latency_reserve(struct downstream *d);

/* Drops all pending packets with the reason `stopped`. No worker may be running. Afterwards
 * received = transmitted + drops. */
void downstream_stop(struct downstream *d);
