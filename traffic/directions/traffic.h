/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything around the CMTS, in both directions at once: the core network, the R-PHY device, and
 * the cable modems.
 *
 *     downstream (downlink.h):  core network ==> CMTS ==> R-PHY device, modems --> proof
 *     upstream (uplink.h):      modems, R-PHY device ==> CMTS ==> core network --> proof
 *
 * One thread calls all of it. A packet that was sent is proven, corrupted or lost, and counts once. This is
 * of one service group; several are put together in groups/groups.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "captures/capture_replay.h"
#include "core/candidates.h"
#include "core/mix.h"
#include "core/shape.h"
#include "crypto/crypto.h"
#include "directions/neighbours.h"
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
	uint16_t network_port; /* opened; packets for the modems go out here, the modems' come in */
	uint16_t rphy_port; /* opened; DEPI comes in here, UEPI goes out */
	/* What comes in there is received by somebody else, and given to traffic_take_*(). */
	bool network_shared, rphy_shared;
	unsigned group; /* its place among several that are in one process */
	struct neighbours
		*neighbours; /* these; to be filled in before anything is sent. NULL: alone */
	struct evidence *evidence; /* of what nobody asked for; must live on. NULL: none is kept */
	struct witness_pair *witness; /* of what comes and goes at the R-PHY port; likewise */
	/* Pools for all groups, which must live on; NULL: it makes its own. */
	struct rte_mempool *packets; /* of downlink_packets_pool() */
	struct rte_mempool *frames; /* of downlink_frames_pool() */
	struct rte_mempool *uplink_packets; /* of uplink_output_pool() */
	struct crypto_provider *crypto; /* its keys are made on this thread alone */
	struct mix mix;
	const struct capture_replay *replay; /* its packets instead of the mix; or NULL */
	uint64_t rate; /* bits of Ethernet frames without CRC per second; 0 = max */
	const struct shape *shape; /* of the rate over time; must live on; NULL: constant */
	uint32_t permit_permille; /* share of packets that a filter rule permits */
	uint32_t classify_permille; /* share of packets that meet a classifier */
	uint32_t flows; /* 5-tuples, at most FLOWS_MAX; 0: one a target */
	/* One of so many packets is followed by one that vcmtsd has to drop; 0: none. */
	uint32_t refuse_every;
	/* Of packets of a session that leave together, one in so many comes behind the next; 0: none. */
	uint32_t reorder_every;
	bool rphy_by_session; /* groups with the same VLAN share the R-PHY port */
	bool network_by_address; /* groups with the same VLAN and MAC address share the network port */
	uint64_t seed;
	bool no_latency; /* how long packets take is not recorded */
	bool qos; /* what the rates of the downstream let through is measured */
	/* The service group will change: room for as many streams. Not with replay, flows, impairments or
	 * traffic_restart(). 0: it will not */
	uint32_t streams, upstream_streams;
	bool no_downstream; /* what is above but ports, device and seed is not used */
	bool upstream; /* what follows is used */
	struct mix upstream_mix;
	uint64_t upstream_rate; /* as rate */
	const struct shape *upstream_shape; /* as shape */
	struct impair_shares impair; /* of the upstream */
	bool scheduled; /* its modems wait for grants, as in struct uplink_options */
};

/* What is sent from a restart on. */
struct traffic_load {
	bool downstream; /* where traffic was made with it */
	struct mix mix;
	uint64_t rate; /* bits of Ethernet frames without CRC per second; 0 = max */
	bool upstream; /* likewise */
	struct mix upstream_mix;
	uint64_t upstream_rate; /* as rate */
	const struct shape *shape; /* of both rates over time; must live on; NULL: constant */
	/* What a port does not take is lost, as on a wire that does not wait; else it is offered again. */
	bool drop;
	bool no_latency; /* none is recorded */
	/* Of the DOCSIS frames with a number one in so many is decrypted and checked, from its stream's
	 * first on; of the others only the header. 0 and 1: all */
	uint32_t prove_every;
};

/* All counts are of packets unless said otherwise. */
struct traffic_result {
	/* = proven + counted + lost + corrupted + undecipherable + overtaken when nothing is in flight */
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t proven;
	uint64_t proven_bytes;
	uint64_t counted; /* came, and only their headers were checked: `prove_every` of the load */
	uint64_t counted_bytes;
	double asked_bps; /* bits per second, in the mean over a shape; 0 = max */
	uint64_t lost;
	uint64_t
		overtaken; /* by a change: they were for what the server had no more, or otherwise, by then */
	int64_t unaccounted; /* what the sum above lacks: 0, or something is wrong with the proof */
	uint64_t duplicated;
	uint64_t reordered; /* of the proven and counted ones */
	uint64_t corrupted;
	uint64_t undecipherable; /* of a key generation that their modem does not hold */
	uint64_t corrupted_by[CORRUPTIONS];
	uint64_t unexpected[UNEXPECTEDS];
	uint64_t violations[VIOLATIONS];
	uint64_t formats[FORMATS];
	uint64_t sent_by_class[CLASS_COUNT];
	struct refused_counts refused; /* beside what was sent */
	const struct capture_counts *replay; /* of what is replayed; or NULL */
	uint32_t flows; /* 5-tuples, where they were asked for; else 0 */
	const struct meters *qos; /* what rates let through; or NULL */
	bool shaped; /* the rate changes over time */
	uint64_t messages; /* DOCSIS frames that hold none, and that a scheduler sends */
	uint64_t depi_frames;
	uint64_t depi_bytes;
	uint64_t resequenced;
	uint64_t resequencing_given_up; /* numbers of DSIDs that never came */
	uint64_t
		skipped; /* of those, numbers that no packet had: more than did not come, or came late */
	uint32_t resequencing_deepest; /* numbers that one window spanned */
	uint64_t transmit_backpressure; /* bursts that the network port did not take whole */
	uint64_t no_buffers; /* packets not made as no mbuf was free */
	uint64_t descheduled; /* rounds of the loop longer than 1 ms */
	double descheduled_longest_us;
	double seconds; /* from the first packet sent to the last sent, proven or counted */
	double sent_seconds; /* to the last sent */
	double gbps; /* proven and counted, Ethernet frames without CRC */
	struct percentiles latency_us; /* from when a packet is made to its delivery in order */
	/* The same in ns, the traffic's own: until traffic_free(). NULL: was not recorded */
	const struct hdr_histogram *latency;
};

/* TSC cycles of the traffic's core since the last restart, by what they were spent on. */
struct traffic_cycles {
	uint64_t generate;
	uint64_t transmit;
	uint64_t receive; /* DEPI frames taken apart, MAC headers checked */
	uint64_t decrypt;
	uint64_t verify; /* bytes compared, packets put in order, buffers freed */
	uint64_t upstream_send;
	uint64_t upstream_receive;
};

/* The upstream's. All counts are of packets unless said otherwise. */
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
	struct refused_counts refused; /* frames and packets beside what was sent */
	uint64_t latency_unknown; /* of the proven ones */
	double seconds; /* from the first L2TPv3 packet sent to the last sent or packet proven */
	double sent_seconds; /* to the last sent */
	double gbps; /* proven, Ethernet frames without CRC */
	/* From when the R-PHY port took the trailer of a packet's last burst to its arrival. */
	struct percentiles latency_us;
	const struct hdr_histogram *latency; /* as the downstream's */
	struct uplink_counts counts; /* of the sender */
	uint64_t descheduled; /* rounds of the loop longer than 1 ms */
	double descheduled_longest_us;
	bool scheduled; /* modems waited for their grants: `grants` is set */
	struct grants_result grants;
	bool impaired; /* what follows is set */
	bool expected_known; /* memory was enough for `expected` */
	struct expected expected;
	uint64_t hits[IMPAIRMENTS];
	uint64_t astray; /* of the proven ones, those that are among the ones expected to be lost */
};

struct traffic;

/* `sg`, `crypto` and `replay` must live on. Returns NULL after a message. To be freed by traffic_free(). */
struct traffic *traffic_create(const struct service_group *sg,
			       const struct traffic_options *options);

void traffic_free(struct traffic *t);

/* Discards a burst of what stands in each port from before. Returns how many frames that were. */
unsigned traffic_drain(struct traffic *t);

/* Time begins to count at TSC `now`: for the pacing, and for long rounds of the loop. */
void traffic_begin(struct traffic *t, uint64_t now);

/*
 * When all is sent after traffic_stop(), and after traffic_finish(): begins anew with another load. All
 * counts are 0, and packets of before that still come count as `unexpected` only. Numbers that the CMTS
 * sees go on. Not with impairments. Returns 0, or -1 after a message; then nothing may be sent before a
 * restart has gone well.
 */
int traffic_restart(struct traffic *t, const struct traffic_load *load);

/* What is still sent of the last load goes at a constant rate: its shape need not live on. */
void traffic_forget_shape(struct traffic *t);

/*
 * Sends what pacing allows at TSC `now`, at most a burst of 32 in each direction. Returns packets
 * sent: Ethernet frames of the downstream, L2TPv3 packets of the upstream.
 */
unsigned traffic_send(struct traffic *t, uint64_t now);

/*
 * No more packets are made. Those of the downstream that are not sent are taken back; what modems
 * have begun to send goes on with traffic_send() until traffic_all_sent().
 */
void traffic_stop(struct traffic *t);

/* After traffic_stop(): whether no modem is in the middle of a packet. */
bool traffic_all_sent(const struct traffic *t);

/* Polls the ports that it does not share, decrypts and verifies. Returns frames handled; 0 when nothing
 * happened. To be called at any rate, as time passes for what waits. */
unsigned traffic_receive(struct traffic *t);

#define TRAFFIC_BURST 32

/* Takes up to TRAFFIC_BURST frames that came for this group at a port that several have, without VLAN tags,
 * and frees them: at the R-PHY port, and at the network port. */
void traffic_take_rphy(struct traffic *t, struct rte_mbuf **frames, unsigned n);
void traffic_take_network(struct traffic *t, struct rte_mbuf **frames, unsigned n);

/* Packets sent of which nothing was heard yet. */
uint64_t traffic_in_flight(const struct traffic *t);

/* Gives up what the modems' resequencing waits for. */
void traffic_finish(struct traffic *t);

/* The counts of the downstream as they are now; `lost` is what is missing now. */
void traffic_result(const struct traffic *t, struct traffic_result *out);

/* The same of the upstream. */
void traffic_uplink_result(const struct traffic *t, struct uplink_result *out);

void traffic_cycles(const struct traffic *t, struct traffic_cycles *out);

/* Frames that came and that nobody asked for, more than impairments of the upstream let come. What is late, or of an
 * earlier trial, was asked for. Either may be NULL. */
uint64_t traffic_unexpected(const struct traffic_result *down, const struct uplink_result *up);

/* Whether every packet is proven, in order, once, no number of a DSID was left out, and nothing was wrong with the
 * DEPI frames. */
bool traffic_result_good(const struct traffic_result *r);

/* Whether every packet is proven, in order and once, but for those that had to be lost or corrupted. */
bool uplink_result_good(const struct uplink_result *r);
