/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts in their order: what is sent, and the way of what comes back. */
#include "downlink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_prefetch.h>

#include "platform/pool.h"
#include "verifier.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define PACKETS 32767
#define FRAMES 8191
#define RECEIVE_BURST 32

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

	options.pool = d->packets =
		packet_pool("traffic_packets", PACKETS, 0, RTE_MBUF_DEFAULT_BUF_SIZE);
	if (d->packets == NULL)
		return false;
	d->generator = generator_create(sg, &options);
	pacing_start(&d->pacing, o->rate, d->tsc_hz, mean, rte_rdtsc());
	pacing_shape(&d->pacing, o->shape, rte_rdtsc());
	return d->generator != NULL;
}

static bool receiver_side_create(struct downlink *d, const struct service_group *sg,
				 const struct traffic_options *o) {
	const struct targets *targets = &d->generator->targets;

	d->frames = packet_pool("traffic_frames", FRAMES, FRAME_PRIVATE_SIZE,
				RTE_MBUF_DEFAULT_BUF_SIZE);
	if (d->frames == NULL || modems_create(&d->modems, sg, targets->first_stream,
					       targets->stream_count, d->decryptor.crypto) != 0)
		return false;
	if (account_create(&d->account, targets->stream_count, d->tsc_hz, !o->no_latency) != 0 ||
	    resequencers_create(&d->resequencers, targets->stream_count, d->tsc_hz, account_deliver,
				&d->account) != 0 ||
	    (d->receiver = receiver_create(sg, d->frames, &d->account)) == NULL) {
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

static unsigned transmit(struct downlink *d) {
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
	uint64_t bytes;

	if (n > 0) {
		d->pending_count = generator_burst(d->generator, now, d->pending, n, &bytes);
		pacing_spend(&d->pacing, bytes);
	}
	if (d->pending_count == 0)
		return 0;
	if (d->first_tsc == 0)
		d->first_tsc = now;
	d->last_tsc = now;
	return transmit(d);
}

void downlink_stop(struct downlink *d) {
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
	case RESEQUENCER_DUPLICATE: d->account.proof.duplicated++; break;
	case RESEQUENCER_CONFLICT: d->account.corrupted[CORRUPTION_DSID]++; break;
	case RESEQUENCER_USED:
		if (window_came(&d->account.proof.streams[packet->stream], packet->sequence))
			d->account.proof.duplicated++;
		else
			d->account.corrupted[CORRUPTION_DSID]++;
		break;
	}
}

static void frame_prove(struct downlink *d, const struct rte_mbuf *m, enum decrypted decrypted,
			const struct frame_info *info, uint64_t now) {
	const uint8_t *frame = rte_pktmbuf_mtod_offset(m, const uint8_t *, info->header_size);
	uint32_t size = m->data_len - info->header_size - ETHERNET_CRC_SIZE;
	struct arrived packet = {.valid = false};
	enum corruption why = CORRUPTION_NONE;

	if (decrypted == DECRYPTED_GOOD)
		why = verify(d->generator, &d->modems, info, frame, size, &packet);
	else
		why = decrypted == DECRYPTED_BAD_CRC ? CORRUPTION_CRC : CORRUPTION_CRYPTO;
	if (why != CORRUPTION_NONE) {
		d->account.corrupted[why]++;
		packet.valid = false;
	}
	resequence(d, info, &packet, now);
}

static unsigned collect(struct downlink *d) {
	struct rte_mbuf *frames[DECRYPT_BURST];
	enum decrypted verdicts[DECRYPT_BURST];
	unsigned n = decrypt_collect(&d->decryptor, frames, verdicts);
	uint64_t now;

	if (n == 0)
		return 0;
	now = rte_rdtsc();
	for (unsigned i = 0; i < n; i++)
		frame_prove(d, frames[i], verdicts[i], frame_info(frames[i]), now);
	rte_pktmbuf_free_bulk(frames, n);
	return n;
}

/* Gives the batch to the crypto device, collecting when it is full. */
static void submit(struct downlink *d) {
	unsigned done = 0;

	while (done < d->batch_count) {
		unsigned n = decrypt_submit(&d->decryptor, &d->modems, d->batch + done,
					    d->batch_count - done);

		done += n;
		if (n > 0 || collect(d) > 0 || d->decryptor.in_flight > 0)
			continue;
		/* Nothing in flight and nothing taken: the device refuses. */
		d->account.corrupted[CORRUPTION_CRYPTO] += d->batch_count - done;
		rte_pktmbuf_free_bulk(d->batch + done, d->batch_count - done);
		break;
	}
	d->batch_count = 0;
}

static void frame_take(struct downlink *d, struct rte_mbuf *frame) {
	enum corruption why;

	switch (modems_check(&d->modems, frame, &why)) {
	case MODEM_TAKES:
		d->batch[d->batch_count++] = frame;
		if (d->batch_count == DECRYPT_BURST)
			submit(d);
		return;
	case MODEM_IGNORES: d->account.unexpected[UNEXPECTED_MANAGEMENT]++; break;
	case MODEM_REFUSES: d->account.corrupted[why]++; break;
	}
	rte_pktmbuf_free(frame);
}

unsigned downlink_receive(struct downlink *d) {
	struct rte_mbuf *frames[RECEIVER_FRAMES_MAX];
	struct rte_mbuf *depi[RECEIVE_BURST];
	unsigned n = rte_eth_rx_burst(d->rphy_port, 0, depi, RECEIVE_BURST);
	unsigned done;

	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(depi[i], void *));
	for (unsigned i = 0; i < n; i++) {
		unsigned count = receiver_take(d->receiver, depi[i], frames);

		for (unsigned f = 0; f < count; f++)
			frame_take(d, frames[f]);
	}
	if (n > 0)
		rte_pktmbuf_free_bulk(depi, n);
	submit(d);
	done = collect(d);
	resequencers_expire(&d->resequencers, rte_rdtsc());
	return n + done;
}

void downlink_finish(struct downlink *d) {
	submit(d);
	while (d->decryptor.in_flight > 0)
		collect(d);
	resequencers_flush(&d->resequencers, rte_rdtsc());
}
