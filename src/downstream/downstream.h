/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The downstream of one service group: IP packets in, encrypted DEPI frames out.
 *
 * The way of a packet is the three lists in downstream.c. Upper and lower MAC meet in a ring only,
 * so that they may run on one core in turn or on a core each.
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
#include "pipeline/effort.h"
#include "pipeline/latency.h"
#include "pipeline/messages.h"
#include "pipeline/packet.h"
#include "pipeline/packet_ends.h"
#include "pipeline/pipeline.h"
#include "scheduler/scheduler.h"

/* Packets, and DEPI frames, from where on the lower MAC takes over no more. */
#define DS_LOWER_LIMIT 512
#define DS_TRANSMIT_CAPACITY 4096

/* Under which reason a packet that the scheduler does not take is dropped. */
extern const enum drop_reason ds_refusals[SCHEDULER_VERDICTS];

/* What a channel could have carried: `before` up to the time `since`, from there on by its rate. */
struct ds_capacity {
	uint64_t rate; /* bits per second */
	uint64_t since; /* ns */
	uint64_t before; /* bytes */
};

/* Where the modem of a destination is looked up. */
enum ds_lookup { DS_LOOKUP_IPV4, DS_LOOKUP_IPV6, DS_LOOKUP_MAC, DS_LOOKUPS };

/*
 * What is known of a packet of the burst in hand. Its number goes with the packet, so that stages from parse
 * to classify may drop packets and change their order; only what one of them held back would have none.
 */
struct ds_row {
	struct rule_key key;
	const uint8_t *destination; /* into the frame: what `lookup` asks for */
	enum ds_lookup lookup;
	uint16_t extensions; /* as in struct frame_fields; of packets with FLOW_ALONE only */
	uint32_t hash; /* of the key, where known flows are kept */
	/* found out by the stages behind known_flows: */
	struct ds_modem *modem;
	uint8_t address; /* number of the destination among the modem's */
	uint8_t filter; /* what the filter rules say, as in struct flow_record */
};

/* Packets of the burst in hand whose flows are known: the stages that they pass by count them. */
struct ds_known {
	uint32_t packets, permitted, classified[CLASSIFIED_KINDS];
};

/* What the stages of the upper MAC work with. */
struct ds_upper {
	struct packet_source network;
	uint32_t max_frame; /* bytes without CRC */
	struct clock *clock;
	uint64_t cpe_period_ns;
	uint64_t cpe_period; /* number of the present one */
	uint64_t cpe_period_end; /* ns */
	uint64_t cpe_since; /* ns: when the period of the next number began */
	uint64_t cpe_first;
	struct ds_tables *tables;
	struct rules filters;
	struct rules classifiers;
	struct scheduler *scheduler;
	struct ds_capacity *capacity; /* one a channel */
	struct rte_ring *to_lower;
	const struct message_path *messages; /* NULL: none come */
	uint64_t messages_charged; /* bytes, of all channels */
	uint64_t *charged; /* by channel */
	const struct latency *latency;
	struct flow_cache flow_cache;
	struct ds_row rows[PIPELINE_BURST];
	struct ds_known known;
	uint16_t unknown_count; /* rows that were still in use when a stage looked last */
	struct effort effort;
	struct counters counters;
};

/* The row of a packet that has one. */
static inline struct ds_row *ds_row_of(struct ds_upper *u, struct rte_mbuf *m) {
	return &u->rows[packet_meta(m)->row];
}

/* Whether it is an IPv6 packet with extension headers, of which rules ask for each. */
static inline bool ds_has_chain(const struct ds_row *row) {
	return (row->key.flow.flags & FLOW_ALONE) != 0 && row->key.flow.family == RULE_IPV6;
}

/* Whether what is found out about a packet is kept for its flow. */
static inline bool ds_keeps_flow(const struct ds_upper *u, const struct ds_row *row) {
	return u->flow_cache.records != NULL && (row->key.flow.flags & FLOW_ALONE) == 0;
}

#define DS_URGENT_CAPACITY 256 /* a power of 2 */

/* The place in the circle of urgent frames. */
static inline uint32_t ds_urgent_place(uint32_t at) {
	return at & (DS_URGENT_CAPACITY - 1);
}

/* Management messages, which go before all data. */
struct ds_messages {
	struct message_path path; /* without an upstream scheduler its ring is NULL */
	uint64_t *charged; /* the upper MAC's */
	/* DEPI frames that the port has not taken yet, a circle */
	struct rte_mbuf *urgent[DS_URGENT_CAPACITY];
	uint32_t urgent_first, urgent_count;
	uint16_t coming; /* of the burst in hand, the first ones are messages */
	/* ns from when messages were due until the port had them; not of those that waited for its first link */
	uint64_t delay_sum, delay_max;
	uint64_t delayed; /* messages with such a delay */
	uint64_t opened; /* when the port had its first frame; 0 where that was not of a message */
};

/* What the stages of the lower MAC work with. */
struct ds_lower {
	struct clock *clock;
	struct rte_ring *from_upper;
	const struct ds_tables *tables;
	struct crypto_queue *crypto;
	bool takes_nothing; /* from the upper MAC, until its crypto provider is another one */
	uint16_t crypto_parts[CIPHERS]; /* enum crypto_parts, by a frame's cipher */
	uint64_t taken_over,
		submitted; /* packets from the ring, frames to the provider: all so far */
	struct depi depi;
	struct packet_sink rphy;
	struct rte_mempool *linear; /* where the port takes no chains: for copies; else NULL */
	/* DEPI frames that the port has not taken yet, a circle */
	struct rte_mbuf *waiting[DS_TRANSMIT_CAPACITY];
	uint32_t waiting_first, waiting_count;
	uint32_t waiting_packets; /* whose last byte is in one of them */
	uint16_t waiting_arrivals[DS_TRANSMIT_CAPACITY]; /* of a frame, in `arrivals` */
	struct latency_line arrivals;
	struct latency *latency;
	struct ds_messages messages;
	struct counters counters;
};

/* Ends a DEPI frame: the packets that end in it are dropped. */
void ds_frame_end(struct ds_lower *l, struct rte_mbuf *m, enum drop_reason reason);

/* What the edge provides: all of it outlives the downstream. */
struct ds_resources {
	struct packet_source network;
	struct packet_sink rphy;
	struct crypto_queue *crypto; /* DOWNLINK */
	void *const *schedules; /* of keys, DOWNLINK, one for each modem */
	const struct group_room *room; /* for changes; NULL: no more than the group has */
	struct rte_mempool *depi_headers; /* for the first mbuf of DEPI frames */
	struct rte_mempool *depi_fragments; /* for mbufs attached to others, no data room */
	struct rte_mempool *linear; /* for copies of DEPI frames, where the port takes no chains */
	uint32_t queued_max; /* packets in all queues together */
	uint32_t hand_over_max; /* packets between upper and lower MAC */
	struct clock *upper_clock;
	struct clock *lower_clock; /* may be the same */
};

/* The lists that the rules of the upper MAC are built of. Who changes lists has it, and no worker. */
struct ds_rule_lists {
	struct rule_lists filters, classifiers;
	uint32_t *of_group; /* of a filter group of the service group */
	uint32_t *of_modem; /* of a modem's classifiers */
};

struct ds_change;

/* Places that changes give away. Who changes the downstream has them, and no worker. */
struct ds_places {
	uint32_t *free_flows; /* numbers of service flows that are nobody's */
	uint32_t free_flow_count;
	/* What is not quite gone: places by kind; flows by bonding group, and bonding groups by channel. */
	bool *leaving[LIVE_OBJECTS];
	uint32_t *flows_leaving, *groups_leaving;
	const struct ds_change *latest; /* the change that was begun last, until it ends */
};

struct downstream {
	struct ds_tables tables;
	struct ds_rule_lists lists;
	struct ds_places places;
	struct ds_upper upper;
	struct ds_lower lower;
	struct pipeline enqueue; /* network port -> service-flow queues */
	struct pipeline dequeue; /* service-flow queues -> ring */
	struct pipeline lower_mac; /* ring -> R-PHY port */
	struct latency latency; /* from network port to R-PHY port */
	struct account_span span; /* of packets received */
};

/* Its pipelines in the order of travel. */
#define DS_PIPELINES 3
extern const struct stage_list ds_lists[DS_PIPELINES];

/*
 * Builds tables, rules, scheduler and pipelines from the configuration. Returns NULL after a
 * message. To be freed by downstream_free().
 */
struct downstream *downstream_create(const struct service_group *sg, const struct ds_resources *r);

/* The number of a modem's service flow, by the modem's place and the flow's among its own: that of the scheduler
 * and of the tables. */
static inline uint32_t ds_flow_number(const struct downstream *d, size_t modem, size_t flow) {
	return d->tables.modems[modem].flows[flow];
}

/* How many flows the cache is asked to hold. */
uint32_t ds_flow_records(const struct service_group *sg);

/* Frees it; packets still held are freed without being counted: downstream_stop() comes first. */
void downstream_free(struct downstream *d);

/* Packets that are in it: queues, ring, crypto provider, open DEPI frames, frames not yet taken. */
uint64_t downstream_held(const struct downstream *d);

/* Whether received = transmitted + drops + held. To be asked when no worker runs. */
bool downstream_balanced(const struct downstream *d);

/* Messages of the upstream scheduler that are in it; those that went in are counted when the lower MAC takes them. */
uint64_t downstream_messages_held(const struct downstream *d);

/* The way of messages into it; NULL without an upstream scheduler. */
struct message_path *downstream_messages(struct downstream *d);

/* When something changes in it though nothing comes in, ns: perhaps too early, never too late; 0: at once,
 * UINT64_MAX: never. To be asked when no worker runs. */
uint64_t downstream_next(const struct downstream *d);

/* Counters of both halves together. May be called while workers run. */
void downstream_counters(const struct downstream *d, struct counters *out);

/* The pipelines of a downstream by the index of ds_lists. */
struct pipeline *downstream_pipeline(struct downstream *d, unsigned index);

/* Whether the cycles of all stages are measured; they are after downstream_create(). Those of the upper MAC are
 * switched by the worker that has it, and those of the lower MAC by its own, each between two rounds. */
void downstream_account_upper(struct downstream *d, bool on);
void downstream_account_lower(struct downstream *d, bool on);

/* Packets received over which the cycles go. */
uint64_t downstream_accounted(const struct downstream *d);

/* As latency_switch(), and latency_prepare(); it is off after downstream_create(). */
int downstream_latency(struct downstream *d, bool on);
int downstream_latency_prepare(struct downstream *d);
int downstream_latency_reserve(struct downstream *d); /* as latency_reserve() */

/*
 * Ends all packets that are still held, with the reason `stopped`. No worker may be running.
 * Afterwards received = transmitted + drops.
 */
void downstream_stop(struct downstream *d);
