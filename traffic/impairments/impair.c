/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of all impairments: random numbers, and the rules that spare streams and sessions. */
#include "impairments/impair.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>

#define STREAM_BEGINS 2 /* bursts */
#define LEGACY_SPARED \
	6 /* bursts around a hit one: more than from the end of a unit to the beginning of the next */
#define CALM_GRANTS 4 /* minimum per stream */

static bool foreign_create(struct impair *im) {
	uint8_t key[16];

	for (unsigned i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)random_next(&im->random);
	im->foreign.cipher = CIPHER_AES_128;
	im->foreign.schedule = crypto_key_make(im->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, key);
	return im->foreign.schedule != NULL;
}

static void session_bind(struct impair *im, struct uplink_session *s, bool data) {
	struct impair_session *x = &im->sessions[im->session_count++];

	x->impair = im;
	x->data = data;
	s->impair = x;
	s->impairer = &impair_sessions;
}

static bool impair_sessions_create(struct impair *im, size_t channels) {
	im->sessions = calloc(3 * channels, sizeof(*im->sessions));
	if (im->sessions == NULL)
		return false;
	for (size_t c = 0; c < channels; c++) {
		session_bind(im, &im->rphy->channels[c].data, true);
		session_bind(im, &im->rphy->channels[c].requests, false);
		session_bind(im, &im->rphy->channels[c].ranging, false);
	}
	return true;
}

struct impair *impair_create(const struct impair_shares *shares, const struct service_group *sg,
			     struct uplink_flows *flows, struct uplink_rphy *rphy,
			     struct crypto_provider *crypto, uint64_t seed) {
	struct impair *im = calloc(1, sizeof(*im));

	if (im == NULL) {
		fprintf(stderr, "traffic: no memory for impairments\n");
		return NULL;
	}
	im->shares = *shares;
	im->random.state = ~seed; /* differs from the seed of the sizes */
	im->crypto = crypto;
	im->flows = flows;
	im->rphy = rphy;
	im->output = &rphy->output;
	/* The CMTS may give up packets that are delayed longer. */
	im->max_delay = sg->upstream.reorder_timeout_ns / 2 * (rte_get_tsc_hz() / 1000) / 1000000;
	if (shadow_create(&im->shadow, sg, flows->stream_count) != 0 || !foreign_create(im) ||
	    !impair_sessions_create(im, sg->upstream_channel_count)) {
		fprintf(stderr, "traffic: no memory for impairments\n");
		impair_free(im);
		return NULL;
	}
	for (uint32_t i = 0; i < flows->stream_count; i++) {
		im->shadow.streams[i].modem = flows->streams[i].modem->index;
		im->shadow.streams[i].framed = flows->streams[i].segment_header;
		im->shadow.streams[i].has_key = flows->streams[i].modem->key_count > 0;
	}
	return im;
}

void impair_free(struct impair *im) {
	if (im == NULL)
		return;
	for (unsigned s = 0; s < im->session_count; s++) {
		for (unsigned i = 0; i < im->sessions[s].delayed_count; i++)
			rte_pktmbuf_free(im->sessions[s].delayed[i].m);
	}
	crypto_key_free(im->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, im->foreign.schedule);
	shadow_free(&im->shadow);
	free(im->sessions);
	free(im);
}

uint32_t impair_stop(struct impair *im) {
	const struct uplink_flows *flows = im->flows;
	uint32_t clusters = 1, grants = CALM_GRANTS;

	im->stopped = true;
	for (uint32_t f = 0; f < flows->plan.count; f++)
		clusters = RTE_MAX(clusters, flows->plan.all[f].count);
	for (uint32_t s = 0; s < flows->stream_count; s++)
		grants = RTE_MAX(grants, (uint32_t)flows->streams[s].cluster->sid_count + 1);
	return flows->plan.count * clusters * grants;
}

enum impairment impair_draw(struct impair *im, enum impair_target target, uint32_t allowed) {
	double drawn = (double)(random_next(&im->random) >> 11) * 0x1p-53;

	if (im->stopped || im->shadow.failed)
		return IMPAIRMENTS;
	for (unsigned i = 0; i < IMPAIRMENTS; i++) {
		enum impairment kind = (enum impairment)i;

		if (impair_target(kind) != target)
			continue;
		if (drawn < im->shares.share[i])
			return (allowed & impair_bit(kind)) != 0 ? kind : IMPAIRMENTS;
		drawn -= im->shares.share[i];
	}
	return IMPAIRMENTS;
}

bool impair_may_hit(const struct shadow_stream *st, uint32_t number) {
	uint32_t apart = number > st->hit_at ? number - st->hit_at : st->hit_at - number;

	if (number < STREAM_BEGINS)
		return false;
	return st->framed || !st->hit || apart >= LEGACY_SPARED;
}

void impair_hit(struct impair *im, struct shadow_stream *st, uint32_t number,
		enum impairment kind) {
	im->hits[kind]++;
	st->hit_at = number;
	st->hit = true;
}
