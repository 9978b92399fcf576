/* SPDX-License-Identifier: BSD-3-Clause */
/* Verifies upstream packets: identity, contents, order. */
#include "directions/uplink_receiver.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "core/link_frame.h"
#include "proof/prefetch.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#define AHEAD 4 /* prefetch distance in frames */
#define FRAME_MAX 2048 /* exceeds every test packet; the rest of longer frames is ignored */

const char *const uplink_corruption_names[UPLINK_CORRUPTIONS] = {
#define CORRUPTION(enumerator, name, meaning) name,
#include "directions/uplink_corruption.def"
#undef CORRUPTION
};

const char *const uplink_unexpected_names[UPLINK_UNEXPECTEDS] = {
#define UNEXPECTED(enumerator, name, meaning) name,
#include "directions/uplink_unexpected.def"
#undef UNEXPECTED
};

/* Verdicts beside the kinds of corruption. */
#define PROVEN UPLINK_CORRUPTIONS
#define FOREIGN (UPLINK_CORRUPTIONS + 1)
#define EARLIER (UPLINK_CORRUPTIONS + 2)
#define OTHER_GROUP (UPLINK_CORRUPTIONS + 3)

int uplink_receiver_create(struct uplink_receiver *r, const struct uplink *uplink, uint64_t tsc_hz,
			   bool latency) {
	*r = (struct uplink_receiver){.uplink = uplink, .started = rte_rdtsc()};
	return proof_create(&r->proof, uplink_stream_count(uplink), tsc_hz, latency);
}

void uplink_receiver_restart(struct uplink_receiver *r) {
	struct proof proof = r->proof;

	proof_restart(&proof);
	*r = (struct uplink_receiver){
		.uplink = r->uplink,
		.run_groups = r->run_groups,
		.evidence = r->evidence,
		.unresolved = r->unresolved,
		.started = rte_rdtsc(),
		.proof = proof,
	};
}

void uplink_receiver_free(struct uplink_receiver *r) {
	proof_free(&r->proof);
}

/* Frame size in bytes by its IP header; 0 if it has none. */
static size_t ip_frame_size(const uint8_t *frame, size_t size) {
	uint16_t type;

	if (size < ETHERNET_HEADER + IPV4_HEADER)
		return 0;
	type = load_be16(frame + 12);
	if (type == ETHERTYPE_IPV4)
		return ETHERNET_HEADER + (size_t)load_be16(frame + ETHERNET_HEADER + 2);
	if (type == ETHERTYPE_IPV6)
		return ETHERNET_HEADER + IPV6_HEADER +
		       (size_t)load_be16(frame + ETHERNET_HEADER + 4);
	return 0;
}

static bool was_made(const struct uplink *u, const struct packet_tag *tag) {
	return tag->target < uplink_stream_count(u) && tag->sequence < uplink_made(u, tag->target);
}

/* A frame is a test packet if the time in its tag is valid, or if all other bytes, including the
 * magic of this run, are. Damage of one leaves the other. */
static int uplink_verdict(const struct uplink_receiver *r, const uint8_t *frame, size_t size,
			  uint64_t now, struct packet_tag *tag) {
	size_t stated = ip_frame_size(frame, size);
	size_t at = packet_tag_find(frame, size);
	bool made, same;

	if (stated > size)
		return UPLINK_CORRUPTION_TRUNCATED;
	if (at == 0)
		return FOREIGN;
	packet_tag_read(frame + at, tag);
	if (uplink_is_earlier(r->uplink, tag))
		return EARLIER;
	if (r->run_groups != NULL && !uplink_has_made(r->uplink, tag) &&
	    run_groups_have_sent(r->run_groups, tag))
		return OTHER_GROUP;
	made = was_made(r->uplink, tag);
	same = made && size <= PACKET_SIZE_MAX &&
	       uplink_matches(r->uplink, tag, frame, (uint32_t)size);
	if (tag->tsc < r->started || tag->tsc > now)
		return same ? (int)UPLINK_CORRUPTION_TAG : FOREIGN;
	if (!made)
		return UPLINK_CORRUPTION_TAG;
	if (same)
		return PROVEN;
	return stated < size ? UPLINK_CORRUPTION_LENGTH : UPLINK_CORRUPTION_CONTENTS;
}

/*
 * Time at which the packet's last byte was handed to the port; 0: not kept. A packet may arrive
 * before the burst after it is sent and its time is recorded; the recorded time is then older than
 * the packet, and 0 is returned.
 */
static uint64_t sent_at(const struct uplink *u, const struct packet_tag *tag) {
	uint64_t tsc = uplink_sent_at(u, tag->target, tag->sequence);

	return tsc < tag->tsc ? 0 : tsc;
}

static void network_unexpected(struct uplink_receiver *r, enum uplink_unexpected why,
			       const uint8_t *frame, size_t size) {
	r->unexpected[why]++;
	evidence_add(r->evidence, EVIDENCE_NETWORK, uplink_unexpected_names[why], frame,
		     (uint32_t)size);
}

static void uplink_refuse(struct uplink_receiver *r, int verdict, const uint8_t *frame,
			  size_t size) {
	switch (verdict) {
	case FOREIGN:
		if (link_frame_is(frame, size))
			r->unexpected[UPLINK_UNEXPECTED_LINK]++;
		else
			network_unexpected(r, UPLINK_UNEXPECTED_FOREIGN, frame, size);
		break;
	case EARLIER: r->unexpected[UPLINK_UNEXPECTED_EARLIER]++; break;
	case OTHER_GROUP: network_unexpected(r, UPLINK_UNEXPECTED_OTHER_GROUP, frame, size); break;
	default:
		r->corrupted[verdict]++;
		evidence_add(r->evidence, EVIDENCE_NETWORK, uplink_corruption_names[verdict], frame,
			     (uint32_t)size);
		break;
	}
}

static void uplink_prove(struct uplink_receiver *r, const struct packet_tag *tag, size_t size,
			 uint64_t now) {
	struct arrived packet = {
		.tsc = uplink_scheduled(r->uplink) ? tag->tsc : sent_at(r->uplink, tag),
		.stream = tag->target,
		.sequence = tag->sequence,
		.bytes = (uint16_t)size,
		.valid = true,
		.earlier = uplink_made_earlier(r->uplink, tag),
	};

	if (proof_arrive(&r->proof, &packet, now) == ARRIVAL_TOO_OLD)
		r->unexpected[UPLINK_UNEXPECTED_TOO_OLD]++;
	r->survived += !uplink_delivers(r->uplink, tag->target, tag->sequence);
}

/* Whether a frame may remain unresolved. */
enum retry {
	RETRY_NEVER,
	RETRY_LATER,
	RETRY_UNRESOLVED, /* it was unresolved before */
};

/* A later generation may explain the contents. A stream's frames wait behind unresolved ones. */
static bool has_to_wait(const struct uplink_receiver *r, int verdict, uint32_t stream,
			enum retry retry) {
	if (r->unresolved == NULL || retry == RETRY_NEVER)
		return false;
	return verdict == UPLINK_CORRUPTION_CONTENTS ||
	       (verdict == PROVEN &&
		unresolved_precedes(r->unresolved, stream, retry == RETRY_UNRESOLVED));
}

/* Returns false if `m`, which contains the frame, remains unresolved. */
static bool frame_verdict(struct uplink_receiver *r, const uint8_t *frame, size_t size,
			  uint64_t now, struct rte_mbuf *m, enum retry retry) {
	struct packet_tag tag = {0};
	int verdict = uplink_verdict(r, frame, size, now, &tag);

	if (has_to_wait(r, verdict, tag.target, retry) &&
	    unresolved_put(r->unresolved, m, now, tag.target))
		return false;
	if (verdict == PROVEN)
		uplink_prove(r, &tag, size, now);
	else
		uplink_refuse(r, verdict, frame, size);
	return true;
}

void uplink_receiver_process(struct uplink_receiver *r, const uint8_t *frame, size_t size,
			     uint64_t now) {
	frame_verdict(r, frame, size, now, NULL, RETRY_NEVER);
}

static bool mbuf_verdict(struct uplink_receiver *r, struct rte_mbuf *m, uint64_t now,
			 enum retry retry) {
	uint8_t copy[FRAME_MAX];
	uint32_t size = RTE_MIN(rte_pktmbuf_pkt_len(m), (uint32_t)FRAME_MAX);

	/* Copies only chains, which a CMTS in this process may send. */
	return frame_verdict(r, rte_pktmbuf_read(m, 0, size, copy), size, now, m, retry);
}

void uplink_receiver_retry(struct uplink_receiver *r, uint64_t before, bool again) {
	struct rte_mbuf *m;
	uint64_t since;

	unresolved_pass(r->unresolved);
	for (uint32_t n = r->unresolved->count; n > 0; n--) {
		m = unresolved_get(r->unresolved, before, &since);
		if (m != NULL && mbuf_verdict(r, m, since, again ? RETRY_UNRESOLVED : RETRY_NEVER))
			rte_pktmbuf_free(m);
	}
}

/* Prefetches the rest of a frame, which is in another core's cache if the CMTS runs in this process, and the records of
 * its stream. */
static void frame_prefetch(const struct uplink_receiver *r, const struct rte_mbuf *m) {
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	size_t at = packet_tag_find(frame, m->data_len);
	struct packet_tag tag;

	if (at == 0)
		return;
	prefetch_record(frame, m->data_len);
	packet_tag_read(frame + at, &tag);
	if (tag.target >= uplink_stream_count(r->uplink))
		return;
	uplink_prefetch(r->uplink, &tag);
	proof_prefetch(&r->proof, tag.target);
}

void uplink_receiver_process_burst(struct uplink_receiver *r, struct rte_mbuf **frames, unsigned n,
				   uint64_t now) {
	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(frames[i], void *));
	for (unsigned i = 0; i < n && i < AHEAD; i++)
		frame_prefetch(r, frames[i]);
	for (unsigned i = 0; i < n; i++) {
		if (i + AHEAD < n)
			frame_prefetch(r, frames[i + AHEAD]);
		if (!mbuf_verdict(r, frames[i], now, RETRY_LATER))
			frames[i] = NULL;
	}
	rte_pktmbuf_free_bulk(frames, n);
}

unsigned uplink_receiver_poll(struct uplink_receiver *r, uint16_t port) {
	struct rte_mbuf *frames[UPLINK_RECEIVE_BURST];
	unsigned n = rte_eth_rx_burst(port, 0, frames, UPLINK_RECEIVE_BURST);

	if (n > 0)
		uplink_receiver_process_burst(r, frames, n, rte_rdtsc());
	return n;
}

uint64_t uplink_receiver_corrupted(const struct uplink_receiver *r) {
	uint64_t sum = 0;

	for (int i = 0; i < UPLINK_CORRUPTIONS; i++)
		sum += r->corrupted[i];
	return sum;
}

uint64_t uplink_receiver_missing(const struct uplink_receiver *r) {
	uint64_t sent = uplink_sent(r->uplink);
	uint64_t received = r->proof.proven + uplink_receiver_corrupted(r);

	return sent > received ? sent - received : 0;
}
