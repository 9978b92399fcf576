/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and runs the downstream: sends, receives, decrypts and verifies. */
#include "directions/downlink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_prefetch.h>

#include "core/vlan_tag.h"
#include "directions/downlink_change.h"
#include "directions/downlink_verdict.h"
#include "directions/spent.h"
#include "platform/pool.h"

#define PACKETS 32767
#define FRAMES 8191
#define AHEAD 3 /* prefetch distance in DEPI frames */
#define LINKS 3 /* mbufs after the first one of a DEPI frame that are prefetched */
#define HEAD_LINES \
	128 /* bytes to prefetch at the start of each mbuf, if only headers are to be checked */

struct rte_mempool *downlink_packets_pool(void) {
	return packet_pool("traffic_packets", PACKETS, 0, RTE_MBUF_DEFAULT_BUF_SIZE);
}

struct rte_mempool *downlink_frames_pool(void) {
	return packet_pool("traffic_frames", FRAMES, FRAME_PRIVATE_SIZE, RTE_MBUF_DEFAULT_BUF_SIZE);
}

static bool sender_create(struct downlink *d, const struct service_group *sg,
			  const struct traffic_options *o) {
	struct generator_options options = {
		.mix = &o->mix,
		.permit_permille = o->permit_permille,
		.classify_permille = o->classify_permille,
		.seed = o->seed,
		.flows = o->flows,
		.replay = o->replay == NULL ? NULL : &o->replay->replayed,
		.streams = o->streams,
	};
	double mean = o->replay == NULL ? mix_mean(&o->mix) : capture_replay_mean(o->replay);

	options.pool = o->packets;
	if (options.pool == NULL)
		options.pool = d->packets = downlink_packets_pool();
	if (options.pool == NULL)
		return false;
	d->generator = generator_create(sg, &options);
	pacing_start(&d->pacing, o->rate, d->tsc_hz, mean, rte_rdtsc());
	pacing_shape(&d->pacing, o->shape, rte_rdtsc());
	d->replay = o->replay;
	if (d->generator == NULL)
		return false;
	if (o->refuse_every == 0 || o->replay != NULL)
		return true;
	d->refused = downlink_refused_create(sg, o->refuse_every, o->network_by_address, o->seed);
	if (d->refused == NULL)
		fprintf(stderr, "traffic: no memory for packets to refuse\n");
	return d->refused != NULL;
}

static bool receiver_side_create(struct downlink *d, const struct service_group *sg,
				 const struct traffic_options *o) {
	const struct targets *targets = &d->generator->targets;

	struct rte_mempool *frames = o->frames;

	if (frames == NULL)
		frames = d->frames = downlink_frames_pool();
	if (frames == NULL || modems_create(&d->modems, sg, targets, &d->keys) != 0)
		return false;
	if (account_create(&d->account, targets->stream_count, d->tsc_hz, !o->no_latency) != 0 ||
	    resequencers_create(&d->resequencers, targets->stream_count, d->tsc_hz, verdict_deliver,
				d) != 0 ||
	    (o->qos && (d->meters = meters_create(sg, targets, d->tsc_hz)) == NULL) ||
	    (d->receiver = receiver_create(sg, frames, &d->account, d->meters)) == NULL) {
		fprintf(stderr, "traffic: no memory for the receiver\n");
		return false;
	}
	d->account.evidence = o->evidence;
	d->witness = o->witness != NULL ? &o->witness->downstream : NULL;
	return o->streams == 0 || downlink_follow_begin(d);
}

struct downlink *downlink_create(const struct service_group *sg, const struct traffic_options *o) {
	struct downlink *d = calloc(1, sizeof(*d));
	const char *lose = getenv("VCMTS_TRAFFIC_LOSE");

	if (d == NULL) {
		fprintf(stderr, "traffic: no memory for the downstream\n");
		return NULL;
	}
	d->network_port = o->network_port;
	d->rphy_port = o->rphy_port;
	d->keys = (struct key_store){.crypto = o->crypto, .direction = CRYPTO_UPLINK};
	d->tsc_hz = rte_get_tsc_hz();
	d->vlan = sg->network.vlan;
	d->run_groups = o->run_groups;
	d->messages = sg->upstream.scheduled;
	d->prove_every = 1;
	d->lose_every = (unsigned)strtoul(lose != NULL ? lose : "0", NULL, 10);
	if (decryptor_create(&d->decryptor, o->crypto, sg->crypto.generate_crc) &&
	    sender_create(d, sg, o) && receiver_side_create(d, sg, o))
		return d;
	downlink_free(d);
	return NULL;
}

void downlink_free(struct downlink *d) {
	if (d == NULL)
		return;
	rte_pktmbuf_free_bulk(d->pending, d->pending_count);
	downlink_follow_end(d);
	receiver_free(d->receiver);
	resequencers_free(&d->resequencers);
	meters_free(d->meters);
	account_free(&d->account);
	modems_free(&d->modems);
	decryptor_free(&d->decryptor);
	downlink_refused_free(d->refused);
	generator_free(d->generator);
	rte_mempool_free(d->frames);
	rte_mempool_free(d->packets);
	free(d);
}

int downlink_restart(struct downlink *d, const struct traffic_load *load, uint64_t now) {
	const struct mix *mix = load->downstream ? &load->mix : &d->generator->mix;

	if (generator_restart(d->generator, mix) != 0)
		return -1;
	pacing_start(&d->pacing, load->rate, d->tsc_hz, mix_mean(mix), now);
	pacing_shape(&d->pacing, load->shape, now);
	d->drop = load->drop;
	receiver_restart(d->receiver, load->prove_every > 1 ? verdict_is_wanted : NULL, d);
	resequencers_restart(&d->resequencers);
	account_restart(&d->account);
	downlink_refused_restart(d->refused);
	d->account.proof.untimed = load->no_latency;
	d->prove_every = RTE_MAX(load->prove_every, 1u);
	d->backpressure = d->dropped = d->first_tsc = d->last_tsc = 0;
	d->cycles = (struct traffic_cycles){0};
	return 0;
}

static void downlink_tag(struct downlink *d) {
	for (unsigned i = 0; d->vlan != 0 && i < d->pending_count; i++)
		vlan_tag_put(d->pending[i], d->vlan);
}

/* Simulates a data plane that loses packets, to test the reports of a run. */
static void downlink_lose(struct downlink *d) {
	unsigned kept = 0;

	for (unsigned i = 0; i < d->pending_count; i++) {
		if (++d->lose_at % d->lose_every == 0)
			rte_pktmbuf_free(d->pending[i]);
		else
			d->pending[kept++] = d->pending[i];
	}
	d->pending_count = kept;
}

static unsigned downlink_transmit(struct downlink *d) {
	unsigned n = rte_eth_tx_burst(d->network_port, 0, d->pending, (uint16_t)d->pending_count);

	d->pending_count -= n;
	if (d->pending_count == 0)
		return n;
	d->backpressure++;
	if (d->drop) {
		rte_pktmbuf_free_bulk(d->pending + n, d->pending_count);
		d->dropped += d->pending_count;
		d->pending_count = 0;
	} else {
		memmove(d->pending, d->pending + n, d->pending_count * sizeof(d->pending[0]));
	}
	return n;
}

unsigned downlink_send(struct downlink *d, uint64_t now) {
	unsigned available = d->pending_count == 0 ? GENERATOR_BURST : 0;
	unsigned n = pacing_round(&d->pacing, now, available);
	uint64_t start = rte_rdtsc();
	uint64_t bytes;

	if (n > 0) {
		d->pending_count = generator_burst(d->generator, now, d->pending, n, &bytes);
		pacing_spend(&d->pacing, bytes);
		downlink_refused_make(d->refused, d->pending, d->pending_count, now);
		downlink_tag(d);
		if (d->lose_every > 0)
			downlink_lose(d);
		start = spent(&d->cycles.generate, start);
	}
	if (d->pending_count == 0)
		return 0;
	if (d->first_tsc == 0)
		d->first_tsc = now;
	d->last_tsc = now;
	n = downlink_transmit(d);
	if (d->pending_count == 0)
		downlink_refused_send(d->refused, d->network_port, d->vlan);
	if (n > 0)
		spent(&d->cycles.transmit, start);
	return n;
}

void downlink_stop(struct downlink *d) {
	for (unsigned i = 0; d->vlan != 0 && i < d->pending_count; i++)
		vlan_tag_remove(d->pending[i]);
	generator_unsend(d->generator, d->pending, d->pending_count);
	d->pending_count = 0;
	meters_stop(d->meters, rte_rdtsc());
}

/* Prefetches, as the frame may be in another core's cache if the CMTS runs in this process. */
static void chain_prefetch(const struct downlink *d, const struct rte_mbuf *m) {
	uint32_t max = d->prove_every == 1 ? UINT16_MAX : HEAD_LINES;

	for (; m != NULL; m = m->next) {
		for (uint32_t at = 0; at < RTE_MIN(m->data_len, max); at += RTE_CACHE_LINE_SIZE)
			rte_prefetch0(rte_pktmbuf_mtod_offset(m, const uint8_t *, at));
	}
}

/* Prefetches the mbufs of all chains side by side, as each has the address of the next one. */
static void depi_prefetch(const struct downlink *d, struct rte_mbuf **depi, unsigned n) {
	const struct rte_mbuf *at[DOWNLINK_BURST];

	for (unsigned i = 0; i < n; i++) {
		at[i] = depi[i];
		rte_prefetch0(&at[i]->next);
	}
	for (unsigned link = 0; link < LINKS; link++) {
		for (unsigned i = 0; i < n; i++) {
			if (at[i] == NULL || (at[i] = at[i]->next) == NULL)
				continue;
			rte_prefetch0(at[i]);
			rte_prefetch0(&at[i]->next);
		}
	}
	for (unsigned i = 0; i < n && i < AHEAD; i++)
		chain_prefetch(d, depi[i]);
}

void downlink_process(struct downlink *d, struct rte_mbuf **depi, unsigned n, uint64_t start) {
	witness_pass(d->witness, depi, n);
	depi_prefetch(d, depi, n);
	for (unsigned i = 0; i < n; i++) {
		if (i + AHEAD < n)
			chain_prefetch(d, depi[i + AHEAD]);
		if (!verdict_depi(d, depi[i]))
			depi[i] = NULL;
	}
	rte_pktmbuf_free_bulk(depi, n);
	verdict_batch(d);
	spent(&d->cycles.receive, start);
}

void downlink_expire(struct downlink *d) {
	uint64_t now = rte_rdtsc();

	resequencers_expire(&d->resequencers, now);
	if (d->follow != NULL)
		downlink_follow_round(d, now);
}

unsigned downlink_receive(struct downlink *d) {
	struct rte_mbuf *depi[DOWNLINK_BURST];
	uint64_t start = rte_rdtsc();
	unsigned n = rte_eth_rx_burst(d->rphy_port, 0, depi, DOWNLINK_BURST);

	if (n > 0)
		downlink_process(d, depi, n, start);
	downlink_expire(d);
	return n;
}

void downlink_finish(struct downlink *d) {
	if (d->follow != NULL)
		verdict_retry(d, UINT64_MAX, false);
	resequencers_flush(&d->resequencers, rte_rdtsc());
}
