/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts in their order: what is sent, and the way of what comes back. */
#include "downlink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_prefetch.h>

#include "core/vlan_tag.h"
#include "modems/verifier.h"
#include "platform/pool.h"
#include "spent.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define PACKETS 32767
#define FRAMES 8191
#define EXTENDED_MAX (RECEIVER_HEAD - DOCSIS_MAC_HEADER - 6)
#define AHEAD 3 /* DEPI frames */
#define HEAD_LINES \
	128 /* bytes that are read of frames which are only counted, the beginning of each */

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
		.replay = o->replay,
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
	return d->generator != NULL;
}

static bool receiver_side_create(struct downlink *d, const struct service_group *sg,
				 const struct traffic_options *o) {
	const struct targets *targets = &d->generator->targets;

	struct rte_mempool *frames = o->frames;

	if (frames == NULL)
		frames = d->frames = downlink_frames_pool();
	if (frames == NULL || modems_create(&d->modems, sg, targets->first_stream,
					    targets->stream_count, d->decryptor.crypto) != 0)
		return false;
	if (account_create(&d->account, targets->stream_count, d->tsc_hz, !o->no_latency) != 0 ||
	    resequencers_create(&d->resequencers, targets->stream_count, d->tsc_hz, account_deliver,
				&d->account) != 0 ||
	    (d->receiver = receiver_create(sg, frames, &d->account)) == NULL) {
		fprintf(stderr, "traffic: no memory for the receiver\n");
		return false;
	}
	return true;
}

struct downlink *downlink_create(const struct service_group *sg, const struct traffic_options *o) {
	struct downlink *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->network_port = o->network_port;
	d->rphy_port = o->rphy_port;
	d->decryptor = (struct decryptor){.crypto = o->crypto, .queue = o->crypto_queue};
	d->tsc_hz = rte_get_tsc_hz();
	d->vlan = sg->network.vlan;
	d->neighbours = o->neighbours;
	d->prove_every = 1;
	if (sender_create(d, sg, o) && receiver_side_create(d, sg, o))
		return d;
	downlink_free(d);
	return NULL;
}

void downlink_free(struct downlink *d) {
	if (d == NULL)
		return;
	rte_pktmbuf_free_bulk(d->pending, d->pending_count);
	receiver_free(d->receiver);
	resequencers_free(&d->resequencers);
	account_free(&d->account);
	modems_free(&d->modems);
	generator_free(d->generator);
	rte_mempool_free(d->frames);
	rte_mempool_free(d->packets);
	free(d);
}

/*
 * Only numbers tell frames apart that nobody decrypts, and the number of a stream's first packet is
 * known when that was decrypted.
 */
static bool is_proven(const struct downlink *d, const struct frame_info *info) {
	return info->ds != DS_EHDR_SEQUENCE || info->number % d->prove_every == 0 ||
	       !resequencers_started(&d->resequencers, info->stream);
}

/*
 * Where a header is so long that its end and the destination may not be in the head, the whole frame is
 * taken, and so it is where something is wrong with it.
 */
static bool downlink_is_wanted(void *downlink, struct rte_mbuf *head) {
	struct downlink *d = downlink;
	uint8_t extended = rte_pktmbuf_mtod(head, const uint8_t *)[1];
	enum corruption why;

	return extended > EXTENDED_MAX || modems_check(&d->modems, head, 0, &why) != MODEM_TAKES ||
	       is_proven(d, frame_info(head));
}

int downlink_restart(struct downlink *d, const struct traffic_load *load, uint64_t now) {
	const struct mix *mix = load->downstream ? &load->mix : &d->generator->mix;

	if (generator_restart(d->generator, mix) != 0)
		return -1;
	pacing_start(&d->pacing, load->rate, d->tsc_hz, mix_mean(mix), now);
	receiver_restart(d->receiver, load->prove_every > 1 ? downlink_is_wanted : NULL, d);
	resequencers_restart(&d->resequencers);
	account_restart(&d->account);
	d->account.proof.untimed = load->no_latency;
	d->prove_every = RTE_MAX(load->prove_every, 1u);
	d->backpressure = d->first_tsc = d->last_tsc = 0;
	d->cycles = (struct traffic_cycles){0};
	return 0;
}

static void downlink_tag(struct downlink *d) {
	for (unsigned i = 0; d->vlan != 0 && i < d->pending_count; i++)
		vlan_tag_put(d->pending[i], d->vlan);
}

static unsigned downlink_transmit(struct downlink *d) {
	unsigned n = rte_eth_tx_burst(d->network_port, 0, d->pending, (uint16_t)d->pending_count);

	d->pending_count -= n;
	if (d->pending_count > 0) {
		d->backpressure++;
		memmove(d->pending, d->pending + n, d->pending_count * sizeof(d->pending[0]));
	}
	return n;
}

unsigned downlink_send(struct downlink *d, uint64_t now) {
	unsigned room = d->pending_count == 0 ? GENERATOR_BURST : 0;
	unsigned n = pacing_round(&d->pacing, now, room);
	uint64_t start = rte_rdtsc();
	uint64_t bytes;

	if (n > 0) {
		d->pending_count = generator_burst(d->generator, now, d->pending, n, &bytes);
		pacing_spend(&d->pacing, bytes);
		downlink_tag(d);
		start = spent(&d->cycles.generate, start);
	}
	if (d->pending_count == 0)
		return 0;
	if (d->first_tsc == 0)
		d->first_tsc = now;
	d->last_tsc = now;
	n = downlink_transmit(d);
	if (n > 0)
		spent(&d->cycles.transmit, start);
	return n;
}

void downlink_stop(struct downlink *d) {
	for (unsigned i = 0; d->vlan != 0 && i < d->pending_count; i++)
		vlan_tag_take(d->pending[i]);
	generator_take_back(d->generator, d->pending, d->pending_count);
	d->pending_count = 0;
}

/* A frame that failed a check behind its header still takes the place of its number. */
static void resequence(struct downlink *d, const struct frame_info *info,
		       const struct arrived *packet, uint64_t now) {
	if (info->ds != DS_EHDR_SEQUENCE) {
		if (packet->valid)
			account_deliver(&d->account, packet, now);
		return;
	}
	switch (resequencers_take(&d->resequencers, info->stream, info->number, packet, now)) {
	case RESEQUENCER_TAKEN: break;
	case RESEQUENCER_EARLIER: d->account.unexpected[UNEXPECTED_EARLIER]++; break;
	case RESEQUENCER_DUPLICATE: d->account.proof.duplicated++; break;
	case RESEQUENCER_CONFLICT: d->account.corrupted[CORRUPTION_DSID]++; break;
	case RESEQUENCER_USED:
		if (packet->counted ||
		    window_came(&d->account.proof.streams[packet->stream], packet->sequence))
			d->account.proof.duplicated++;
		else
			d->account.corrupted[CORRUPTION_DSID]++;
		break;
	}
}

static enum corruption frame_check(struct downlink *d, struct rte_mbuf *m, struct arrived *packet) {
	const struct frame_info *info = frame_info(m);
	const uint8_t *frame = rte_pktmbuf_mtod_offset(m, const uint8_t *, info->header_size);
	uint32_t size = m->data_len - info->header_size - ETHERNET_CRC_SIZE;
	enum corruption why;

	if (info->decrypted == DECRYPTED_BAD_CRC)
		return CORRUPTION_CRC;
	if (info->decrypted != DECRYPTED_GOOD)
		return CORRUPTION_CRYPTO;
	why = verify(d->generator, &d->modems, info, frame, size, packet);
	if (why != CORRUPTION_TAG)
		return why;
	if (generator_is_earlier(d->generator, frame, size))
		d->account.unexpected[UNEXPECTED_EARLIER]++;
	else if (neighbours_have_made(d->neighbours, frame, size))
		d->account.unexpected[UNEXPECTED_OTHER_GROUP]++;
	else
		return why;
	return CORRUPTION_NONE;
}

static void frame_prove(struct downlink *d, struct rte_mbuf *m, uint64_t now) {
	struct arrived packet = {.valid = false};
	enum corruption why = frame_check(d, m, &packet);

	if (why != CORRUPTION_NONE) {
		d->account.corrupted[why]++;
		packet.valid = false;
	}
	resequence(d, frame_info(m), &packet, now);
}

static void frame_count(struct downlink *d, struct rte_mbuf *m, uint64_t now) {
	const struct frame_info *info = frame_info(m);
	struct arrived packet = {
		.stream = info->stream,
		.bytes = (uint16_t)(info->size - info->header_size - ETHERNET_CRC_SIZE),
		.valid = true,
		.counted = true,
	};

	resequence(d, info, &packet, now);
}

/* Decrypts what is to be proven, and judges all in the order in which they came. */
static void batch_judge(struct downlink *d) {
	struct rte_mbuf *proven[DECRYPT_BURST];
	uint64_t now = rte_rdtsc();
	unsigned n = 0;

	for (unsigned i = 0; i < d->batch_count; i++) {
		if (frame_info(d->batch[i])->decrypted != DECRYPTED_NOT)
			proven[n++] = d->batch[i];
	}
	decrypt(&d->decryptor, &d->modems, proven, n);
	now = spent(&d->cycles.decrypt, now);
	for (unsigned i = 0; i < d->batch_count; i++) {
		if (frame_info(d->batch[i])->decrypted != DECRYPTED_NOT)
			frame_prove(d, d->batch[i], now);
		else
			frame_count(d, d->batch[i], now);
	}
	rte_pktmbuf_free_bulk(d->batch, d->batch_count);
	d->batch_count = 0;
	spent(&d->cycles.verify, now);
}

/* What has only a head was checked when that came, all but whether as many bytes as it told did. */
static enum modem_verdict frame_verdict(struct downlink *d, struct rte_mbuf *frame,
					enum corruption *why) {
	struct frame_info *info = frame_info(frame);

	if (!info->head_only)
		return modems_check(&d->modems, frame, info->size, why);
	*why = CORRUPTION_LENGTH;
	return info->size == info->told_size ? MODEM_TAKES : MODEM_REFUSES;
}

/* A frame that no modem takes is another group's where one of its modems would. */
static void frame_refuse(struct downlink *d, struct rte_mbuf *frame, enum corruption why) {
	const uint8_t *destination =
		rte_pktmbuf_mtod_offset(frame, const uint8_t *, frame_info(frame)->header_size);

	if (why == CORRUPTION_DESTINATION && neighbours_have_modem(d->neighbours, destination))
		d->account.unexpected[UNEXPECTED_OTHER_GROUP]++;
	else
		d->account.corrupted[why]++;
}

static void frame_take(struct downlink *d, struct rte_mbuf *frame) {
	struct frame_info *info = frame_info(frame);
	enum corruption why;

	switch (frame_verdict(d, frame, &why)) {
	case MODEM_TAKES:
		info->decrypted =
			info->head_only || !is_proven(d, info) ? DECRYPTED_NOT : DECRYPTED_GOOD;
		d->batch[d->batch_count++] = frame;
		if (d->batch_count == DECRYPT_BURST)
			batch_judge(d);
		return;
	case MODEM_IGNORES: d->account.unexpected[UNEXPECTED_MANAGEMENT]++; break;
	case MODEM_REFUSES: frame_refuse(d, frame, why); break;
	}
	rte_pktmbuf_free(frame);
}

/* What is read of a frame stands in the cache of another core where that is in this process. */
static void chain_prefetch(const struct downlink *d, const struct rte_mbuf *m) {
	uint32_t most = d->prove_every == 1 ? UINT16_MAX : HEAD_LINES;

	for (; m != NULL; m = m->next) {
		for (uint32_t at = 0; at < RTE_MIN(m->data_len, most); at += RTE_CACHE_LINE_SIZE)
			rte_prefetch0(rte_pktmbuf_mtod_offset(m, const uint8_t *, at));
	}
}

static void depi_prefetch(const struct downlink *d, struct rte_mbuf **depi, unsigned n) {
	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(&depi[i]->next);
	for (unsigned i = 0; i < n; i++) {
		rte_prefetch0(depi[i]->next);
		if (depi[i]->next != NULL)
			rte_prefetch0(&depi[i]->next->next);
	}
	for (unsigned i = 0; i < n && i < AHEAD; i++)
		chain_prefetch(d, depi[i]);
}

void downlink_take(struct downlink *d, struct rte_mbuf **depi, unsigned n, uint64_t start) {
	struct rte_mbuf *frames[RECEIVER_FRAMES_MAX];

	depi_prefetch(d, depi, n);
	for (unsigned i = 0; i < n; i++) {
		unsigned count;

		if (i + AHEAD < n)
			chain_prefetch(d, depi[i + AHEAD]);
		count = receiver_take(d->receiver, depi[i], frames);

		for (unsigned f = 0; f < count; f++)
			frame_take(d, frames[f]);
	}
	rte_pktmbuf_free_bulk(depi, n);
	batch_judge(d);
	spent(&d->cycles.receive, start);
}

void downlink_expire(struct downlink *d) {
	resequencers_expire(&d->resequencers, rte_rdtsc());
}

unsigned downlink_receive(struct downlink *d) {
	struct rte_mbuf *depi[DOWNLINK_BURST];
	uint64_t start = rte_rdtsc();
	unsigned n = rte_eth_rx_burst(d->rphy_port, 0, depi, DOWNLINK_BURST);

	if (n > 0)
		downlink_take(d, depi, n, start);
	downlink_expire(d);
	return n;
}

void downlink_finish(struct downlink *d) {
	resequencers_flush(&d->resequencers, rte_rdtsc());
}
