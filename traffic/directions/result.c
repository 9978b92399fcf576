/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the counts of both directions into results. */
#include <string.h>

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"

uint64_t downlink_in_flight(const struct downlink *d) {
	uint64_t sent = d->generator->packets - d->pending_count;
	uint64_t received = d->account.proof.proven + d->account.counted +
			    account_corrupted(&d->account) + d->account.undecipherable + d->dropped;

	return sent > received ? sent - received : 0;
}

static double duration(uint64_t first, uint64_t last, uint64_t tsc_hz) {
	return last > first ? (double)(last - first) / (double)tsc_hz : 0;
}

static double gbps(uint64_t bytes, double seconds) {
	return seconds > 0 ? (double)bytes * 8 / seconds / 1e9 : 0;
}

/*
 * Packets that did not arrive, by the sequence numbers of their streams. This is independent of
 * the counts of sent and proven packets, so that the account reveals an error in either. Packets
 * of which only the header is checked have no such numbers.
 */
static int64_t downlink_missing(const struct downlink *d, const struct traffic_result *r) {
	const struct proof *p = &d->account.proof;
	int64_t missing = p->ended_missing - d->pending_count;

	if (d->prove_every > 1)
		return (int64_t)(r->sent - r->proven - r->counted);
	for (uint32_t s = 0; s < p->stream_count; s++)
		missing += proof_stream_missing(p, s, d->generator->sent[s]);
	return missing;
}

static void downlink_balance(const struct downlink *d, struct traffic_result *r) {
	const struct proof_damage damage = {account_corrupted(&d->account),
					    d->account.undecipherable};
	int64_t missing = downlink_missing(d, r);
	struct proof_balance balance =
		proof_balance(&d->account.proof, (uint64_t)RTE_MAX(missing, INT64_C(0)), &damage);

	r->lost = balance.lost;
	r->duplicated = balance.duplicated;
	r->corrupted = balance.corrupted;
	r->undecipherable = balance.undecipherable;
	if (d->follow != NULL)
		r->overtaken =
			RTE_MIN(r->lost, watch_removed(&d->follow->watch, &d->account.proof));
	r->lost -= r->overtaken;
	r->unaccounted = (int64_t)(r->sent - r->proven - r->counted - r->lost - r->corrupted -
				   r->undecipherable - r->overtaken);
}

/* DSID sequence numbers that modems gave up although no packet had them; each delays later packets
 * by 18 ms. Not computed after changes, as a flow may then have another DSID with other numbers. */
static uint64_t numbers_skipped(const struct downlink *d, const struct traffic_result *r) {
	uint64_t explained =
		r->lost + r->overtaken + r->corrupted + r->undecipherable + r->reordered;

	if (d->generator->magic != d->generator->first_magic)
		return 0;
	return r->resequencing_given_up > explained ? r->resequencing_given_up - explained : 0;
}

void downlink_result(const struct downlink *d, struct traffic_result *r) {
	const struct account *a = &d->account;

	*r = (struct traffic_result){
		.sent = d->generator->packets - d->pending_count,
		.sent_bytes = d->generator->bytes,
		.proven = a->proof.proven,
		.proven_bytes = a->proof.proven_bytes,
		.counted = a->counted,
		.counted_bytes = a->counted_bytes,
		.configured_bps = pacing_configured(&d->pacing),
		.reordered = a->proof.reordered + d->resequencers.counted_late,
		.messages = a->messages,
		.depi_frames = a->depi_frames,
		.depi_bytes = a->depi_bytes,
		.resequenced = d->resequencers.resequenced,
		.resequencing_given_up = d->resequencers.given_up,
		.resequencing_deepest = d->resequencers.deepest,
		.transmit_backpressure = d->backpressure,
		.no_buffers = d->generator->no_buffers,
		.seconds =
			duration(d->first_tsc, RTE_MAX(d->last_tsc, a->proof.last_tsc), d->tsc_hz),
		.sent_seconds = duration(d->first_tsc, d->last_tsc, d->tsc_hz),
		.first_tsc = d->first_tsc,
		.last_tsc = d->last_tsc,
		.latency_us = proof_latency_us(&a->proof),
		.latency = proof_histogram(&a->proof),
	};
	memcpy(r->corrupted_by, a->corrupted, sizeof(r->corrupted_by));
	memcpy(r->unexpected, a->unexpected, sizeof(r->unexpected));
	memcpy(r->violations, a->violations, sizeof(r->violations));
	memcpy(r->formats, a->formats, sizeof(r->formats));
	memcpy(r->sent_by_class, d->generator->by_class, sizeof(r->sent_by_class));
	r->refused = downlink_refused_counts(d->refused);
	r->qos = d->meters;
	r->shaped = d->pacing.walk.shape != NULL;
	if (d->replay != NULL)
		r->replay = &d->replay->counts;
	if (d->generator->targets.flows != NULL)
		r->flows = d->generator->targets.flow_count;
	r->gbps = gbps(r->proven_bytes + r->counted_bytes, r->seconds);
	downlink_balance(d, r);
	r->skipped = numbers_skipped(d, r);
}

static uint64_t downstream_unexpected(const struct traffic_result *r) {
	uint64_t sum = 0;

	for (int i = 0; i < UNEXPECTEDS; i++) {
		if (i != UNEXPECTED_EARLIER && i != UNEXPECTED_TOO_OLD && i != UNEXPECTED_LINK)
			sum += r->unexpected[i];
	}
	return sum;
}

/* Impairments cause frames without a tag; their number is predicted. */
static uint64_t upstream_unexpected(const struct uplink_result *r) {
	uint64_t predicted = r->impaired ? r->expected.foreign : 0, sum = 0;

	for (int i = 0; i < UPLINK_UNEXPECTEDS; i++) {
		if (i != UPLINK_UNEXPECTED_EARLIER && i != UPLINK_UNEXPECTED_TOO_OLD &&
		    i != UPLINK_UNEXPECTED_LINK)
			sum += r->unexpected[i];
	}
	return sum > predicted ? sum - predicted : 0;
}

uint64_t traffic_unexpected(const struct traffic_result *down, const struct uplink_result *up) {
	return (down == NULL ? 0 : downstream_unexpected(down)) +
	       (up == NULL ? 0 : upstream_unexpected(up));
}

bool traffic_result_good(const struct traffic_result *r) {
	for (int i = 0; i < VIOLATIONS; i++) {
		if (r->violations[i] != 0)
			return false;
	}
	return r->sent > 0 && r->unaccounted == 0 &&
	       r->proven + r->counted + r->overtaken == r->sent && r->duplicated == 0 &&
	       r->reordered == 0 && r->corrupted == 0 && r->undecipherable == 0 && r->lost == 0 &&
	       r->skipped == 0;
}

static void impairment_result(const struct traffic *t, struct uplink_result *r) {
	const struct expected *expected;

	r->impaired = uplink_impaired(t->uplink);
	if (!r->impaired)
		return;
	expected = uplink_expected(t->uplink);
	r->expected_known = expected != NULL;
	if (expected != NULL)
		r->expected = *expected;
	memcpy(r->hits, uplink_hits(t->uplink), sizeof(r->hits));
	r->survived = t->uplink_receiver.survived;
}

/* Packets that modems discarded after unanswered requests have a number and were never sent. */
static int64_t uplink_missing(const struct traffic *t, const struct uplink_result *r) {
	const struct proof *p = &t->uplink_receiver.proof;
	int64_t missing = p->ended_missing - (int64_t)r->grants.given_up;

	for (uint32_t s = 0; s < p->stream_count; s++)
		missing += proof_stream_missing(p, s, uplink_ended(t->uplink, s));
	return missing;
}

/* Upstream, the CMTS itself drops and counts frames that it cannot decrypt. */
static void uplink_balance(const struct traffic *t, struct uplink_result *r) {
	const struct proof *p = &t->uplink_receiver.proof;
	const struct proof_damage damage = {uplink_receiver_corrupted(&t->uplink_receiver), 0};
	int64_t missing = uplink_missing(t, r);
	struct proof_balance balance =
		proof_balance(p, (uint64_t)RTE_MAX(missing, INT64_C(0)), &damage);

	r->lost = balance.lost;
	r->duplicated = balance.duplicated;
	r->corrupted = balance.corrupted;
	if (t->follows)
		r->overtaken = RTE_MIN(r->lost, watch_removed(&t->uplink_follow.watch, p));
	r->lost -= r->overtaken;
	r->unaccounted = (int64_t)(r->sent - r->proven - r->lost - r->corrupted - r->overtaken);
}

void traffic_uplink_result(const struct traffic *t, struct uplink_result *r) {
	const struct uplink_receiver *receiver = &t->uplink_receiver;
	const struct proof *p = &receiver->proof;

	*r = (struct uplink_result){0};
	if (t->uplink == NULL)
		return;
	r->sent = uplink_sent(t->uplink);
	r->sent_bytes = uplink_sent_bytes(t->uplink);
	r->proven = p->proven;
	r->proven_bytes = p->proven_bytes;
	r->reordered = p->reordered;
	r->scheduled = uplink_scheduled(t->uplink);
	if (r->scheduled)
		uplink_grants(t->uplink, &r->grants);
	uplink_balance(t, r);
	memcpy(r->corrupted_by, receiver->corrupted, sizeof(r->corrupted_by));
	memcpy(r->unexpected, receiver->unexpected, sizeof(r->unexpected));
	r->latency_unknown = p->latency_unknown;
	r->refused = uplink_refused_sent(t->uplink);
	r->seconds =
		duration(t->uplink_first_tsc, RTE_MAX(t->uplink_last_tsc, p->last_tsc), t->tsc_hz);
	r->sent_seconds = duration(t->uplink_first_tsc, t->uplink_last_tsc, t->tsc_hz);
	r->first_tsc = t->uplink_first_tsc;
	r->last_tsc = t->uplink_last_tsc;
	r->gbps = gbps(r->proven_bytes, r->seconds);
	r->latency_us = proof_latency_us(p);
	r->latency = proof_histogram(p);
	uplink_counts(t->uplink, &r->counts);
	r->descheduled = t->rounds.descheduled;
	r->descheduled_longest_us = pacing_longest_us(&t->rounds);
	impairment_result(t, r);
}

/* Without impairments all expected counts are 0. */
bool uplink_result_good(const struct uplink_result *r) {
	return r->sent > 0 && r->unaccounted == 0 && r->duplicated == 0 && r->reordered == 0 &&
	       r->survived == 0 && r->corrupted == r->expected.corrupted &&
	       r->lost == r->expected.lost && r->expected_known == r->impaired &&
	       (r->grants.waiting == 0 || r->grants.silent > 0);
}
