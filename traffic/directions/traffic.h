/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulates everything around the CMTS in both directions: the core network, the R-PHY device and the cable
 * modems.
 *
 *     downstream (downlink.h):  core network ==> CMTS ==> R-PHY device, modems --> proof
 *     upstream (uplink.h):      modems, R-PHY device ==> CMTS ==> core network --> proof
 *
 * One thread calls all functions. Each sent packet is proven, corrupted or lost, and counts once. A struct
 * traffic is for one service group; groups/groups.h combines several.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "captures/capture_replay.h"
#include "core/candidates.h"
#include "core/mix.h"
#include "core/shape.h"
#include "crypto/crypto.h"
#include "directions/run_groups.h"
#include "directions/uplink.h"
#include "directions/uplink_receiver.h"
#include "impairments/shadow.h"
#include "model/service_group.h"
#include "proof/account.h"
#include "proof/proof.h"
#include "proof/witness.h"
#include "refused/kinds.h"

struct meters;

struct traffic_options {
	/* started port; sends downstream packets, receives upstream packets */
	uint16_t network_port;
	uint16_t rphy_port; /* started port; receives DEPI, sends UEPI */
	/* The caller receives from this port and passes frames to traffic_process_*(). */
	bool network_shared, rphy_shared;
	unsigned group; /* index of this group in the process */
	/* all groups of the process, filled in before anything is sent. NULL: only one group */
	struct run_groups *run_groups;
	/* of corrupted and unexpected frames; must outlive the traffic. NULL: none is kept */
	struct evidence *evidence;
	/* of frames at the R-PHY port; must outlive the traffic. NULL: none */
	struct witness_pair *witness;
	/* Pools for all groups, which must outlive the traffic. NULL: creates its own. */
	struct rte_mempool *packets; /* from downlink_packets_pool() */
	struct rte_mempool *frames; /* from downlink_frames_pool() */
	struct rte_mempool *uplink_packets; /* from uplink_output_pool() */
	struct crypto_provider *crypto; /* only this thread creates keys in it */
	struct mix mix;
	const struct capture_replay *replay; /* replaces the mix; or NULL */
	uint64_t rate; /* bits of Ethernet frames without CRC per second; 0 = max */
	/* of the rate over time; must outlive the traffic. NULL: constant */
	const struct shape *shape;
	uint32_t permit_permille; /* share of packets that a filter rule permits */
	uint32_t classify_permille; /* share of packets that match a classifier */
	uint32_t flows; /* 5-tuples, at most FLOWS_MAX; 0: one per target */
	/* Adds a packet that vcmtsd must drop after one packet in so many, in both directions; at least
	 * GENERATOR_BURST; 0: none. */
	uint32_t refuse_every;
	/* Swaps a packet with the next one of its session with probability 1 in so many; 0: never. */
	uint32_t reorder_every;
	bool rphy_by_session; /* groups with the same VLAN share the R-PHY port */
	bool network_by_address; /* groups with the same VLAN and MAC address share the network port */
	uint64_t seed;
	bool no_latency; /* does not record latencies */
	bool qos; /* measures the rates of the downstream */
	/* Capacity of streams of a service group that will change; 0: it does not change. Not with replay,
	 * flows, impairments or traffic_restart(). */
	uint32_t streams, upstream_streams;
	bool no_downstream; /* ignores the options above that concern the downstream only */
	bool upstream; /* uses the options below */
	struct mix upstream_mix;
	uint64_t upstream_rate; /* as rate */
	const struct shape *upstream_shape; /* as shape */
	struct impair_shares impair; /* impairments of the upstream */
	bool scheduled; /* its modems request bandwidth, as in struct uplink_options */
};

/* The load sent after a restart. */
struct traffic_load {
	bool downstream; /* only if the traffic has a downstream */
	struct mix mix;
	uint64_t rate; /* bits of Ethernet frames without CRC per second; 0 = max */
	bool upstream; /* only if the traffic has an upstream */
	struct mix upstream_mix;
	uint64_t upstream_rate; /* as rate */
	/* of both rates over time; must outlive the traffic. NULL: constant */
	const struct shape *shape;
	/* Drops packets that a port refuses, as a wire would; otherwise offers them again. */
	bool drop;
	bool no_latency; /* does not record latencies */
	/* Decrypts and verifies one in so many numbered DOCSIS frames, beginning with the first of each
	 * stream, and checks only the header of the others. 0 and 1: all. */
	uint32_t prove_every;
};

/* All counts are of packets unless said otherwise. */
struct traffic_result {
	/* = proven + counted + lost + corrupted + undecipherable + overtaken when nothing is in flight */
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t proven;
	uint64_t proven_bytes;
	uint64_t counted; /* received with only the header checked: see `prove_every` of the load */
	uint64_t counted_bytes;
	double configured_bps; /* configured rate in bits per second, mean over a shape; 0 = max */
	uint64_t lost;
	/* by a change: sent to modems that the server had removed or changed before */
	uint64_t overtaken;
	/* difference of the sum above to `sent`; not 0: an error in the proof */
	int64_t unaccounted;
	uint64_t duplicated;
	uint64_t reordered; /* of the proven and counted ones */
	uint64_t corrupted;
	/* encrypted with a key generation that their modem does not have */
	uint64_t undecipherable;
	uint64_t corrupted_by[CORRUPTIONS];
	uint64_t unexpected[UNEXPECTEDS];
	uint64_t violations[VIOLATIONS];
	uint64_t formats[FORMATS];
	uint64_t sent_by_class[CLASS_COUNT];
	struct refused_counts refused; /* not included in `sent` */
	const struct capture_counts *replay; /* of the replayed capture, or NULL */
	uint32_t flows; /* 5-tuples if requested, else 0 */
	const struct meters *qos; /* measured rates, or NULL */
	bool shaped; /* the rate changes over time */
	uint64_t messages; /* DOCSIS frames without a packet, sent by a scheduler */
	uint64_t depi_frames;
	uint64_t depi_bytes;
	uint64_t resequenced;
	uint64_t resequencing_given_up; /* DSID numbers that did not arrive */
	uint64_t skipped; /* of those, numbers that no packet had, beyond lost and late packets */
	uint32_t resequencing_deepest; /* maximum span of numbers in one window */
	uint64_t transmit_backpressure; /* bursts that the network port accepted only in part */
	uint64_t no_buffers; /* packets not made because no mbuf was free */
	uint64_t descheduled; /* rounds of the loop longer than 1 ms */
	double descheduled_longest_us;
	double seconds; /* from the first packet sent to the last sent, proven or counted */
	double sent_seconds; /* to the last sent */
	uint64_t first_tsc, last_tsc; /* of the first and the last packet sent; 0: none */
	double gbps; /* proven and counted, Ethernet frames without CRC */
	struct percentiles latency_us; /* from making a packet to its delivery in order */
	/* The same in ns, owned by the traffic until traffic_free(). NULL: not recorded. */
	const struct hdr_histogram *latency;
};

/* TSC cycles of the traffic's core since the last restart, by kind of work. */
struct traffic_cycles {
	uint64_t generate;
	uint64_t transmit;
	uint64_t receive; /* extracting DOCSIS frames from DEPI, checking MAC headers */
	uint64_t decrypt;
	uint64_t verify; /* comparing bytes, resequencing, freeing buffers */
	uint64_t upstream_send;
	uint64_t upstream_receive;
};

/* Results of the upstream. All counts are of packets unless said otherwise. */
struct uplink_result {
	uint64_t sent; /* = proven + lost + corrupted + overtaken when nothing is in flight */
	uint64_t sent_bytes;
	uint64_t proven;
	uint64_t proven_bytes;
	uint64_t lost;
	uint64_t overtaken; /* as downstream */
	int64_t unaccounted; /* as downstream */
	uint64_t duplicated;
	uint64_t reordered; /* of the proven ones */
	uint64_t corrupted;
	uint64_t corrupted_by[UPLINK_CORRUPTIONS]; /* frames */
	uint64_t unexpected[UPLINK_UNEXPECTEDS]; /* frames */
	struct refused_counts refused; /* frames and packets not included in `sent` */
	uint64_t latency_unknown; /* of the proven ones */
	double seconds; /* from the first L2TPv3 packet sent to the last sent or packet proven */
	double sent_seconds; /* to the last sent */
	uint64_t first_tsc, last_tsc; /* as downstream */
	double gbps; /* proven, Ethernet frames without CRC */
	/* From acceptance by the R-PHY port of the trailer of a packet's last burst to the packet's
	 * arrival. */
	struct percentiles latency_us;
	const struct hdr_histogram *latency; /* as in struct traffic_result */
	struct uplink_counts counts; /* of the sender */
	uint64_t descheduled; /* rounds of the loop longer than 1 ms */
	double descheduled_longest_us;
	bool scheduled; /* modems request bandwidth, and `grants` is set */
	struct grants_result grants;
	bool impaired; /* the members below are set */
	bool expected_known; /* memory sufficed for `expected` */
	struct expected expected;
	uint64_t hits[IMPAIRMENTS];
	uint64_t survived; /* proven packets that were expected to be lost */
};

struct traffic;

/* `sg`, `crypto` and `replay` must outlive the traffic. Returns NULL after a message. The caller
 * frees it with traffic_free(). */
struct traffic *traffic_create(const struct service_group *sg,
			       const struct traffic_options *options);

void traffic_free(struct traffic *t);

/* Discards a burst of old frames from each port. Returns their number. */
unsigned traffic_drain(struct traffic *t);

/* Starts pacing and the measurement of rounds at TSC `now`. */
void traffic_begin(struct traffic *t, uint64_t now);

/*
 * Restarts with another load, when all is sent after traffic_stop(), and after traffic_finish(). All counts
 * are 0; packets from before count only as `unexpected`. Sequence numbers to the CMTS continue. Not with
 * impairments. Returns 0, or -1 after a message; then nothing may be sent before a successful restart.
 */
int traffic_restart(struct traffic *t, const struct traffic_load *load);

/* Sends the rest of the last load at a constant rate, so that the caller may free its shape. */
void traffic_forget_shape(struct traffic *t);

/* Sends what pacing allows at TSC `now`, at most a burst of 32 in each direction. Returns the
 * number of Ethernet frames (downstream) and L2TPv3 packets (upstream) sent. */
unsigned traffic_send(struct traffic *t, uint64_t now);

/* Makes no more packets. Takes back unsent packets of the downstream. traffic_send() completes
 * frames that modems have begun, until traffic_all_sent(). */
void traffic_stop(struct traffic *t);

/* After traffic_stop(): whether all that was made is sent, or modems have waited too long for grants. */
bool traffic_all_sent(const struct traffic *t);

/* Polls the ports that are not shared, decrypts and verifies. Returns the number of frames
 * processed. Must be called in every round, as it also runs timers. */
unsigned traffic_receive(struct traffic *t);

#define TRAFFIC_BURST 32

/* Process up to TRAFFIC_BURST frames for this group from a shared port, without VLAN tags, and free
 * them: from the R-PHY port, and from the network port. */
void traffic_process_rphy(struct traffic *t, struct rte_mbuf **frames, unsigned n);
void traffic_process_network(struct traffic *t, struct rte_mbuf **frames, unsigned n);

/* Number of packets sent and not accounted for yet. */
uint64_t traffic_in_flight(const struct traffic *t);

/* Whether frames are unresolved: they wait for the server's events. On any thread. */
bool traffic_unresolved(const struct traffic *t);

/* Gives the unresolved frames their verdict, and flushes the modems' resequencing. */
void traffic_finish(struct traffic *t);

/* Gets the current counts of the downstream; `lost` includes all packets in flight. */
void traffic_result(const struct traffic *t, struct traffic_result *out);

/* Gets the current counts of the upstream. */
void traffic_uplink_result(const struct traffic *t, struct uplink_result *out);

void traffic_cycles(const struct traffic *t, struct traffic_cycles *out);

/* Number of unexpected frames beyond those that impairments of the upstream explain. Late packets
 * and those of an earlier trial do not count. Either argument may be NULL. */
uint64_t traffic_unexpected(const struct traffic_result *down, const struct uplink_result *up);

/* Whether every packet is proven once and in order, no DSID number was skipped, and no DEPI frame
 * had a violation. */
bool traffic_result_good(const struct traffic_result *r);

/* Whether every packet is proven once and in order, except those that impairments were to lose or
 * corrupt. */
bool uplink_result_good(const struct uplink_result *r);
