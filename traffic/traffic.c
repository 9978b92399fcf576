/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts in their order: what is sent, and the way of what comes back. */
#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_prefetch.h>

#include "decrypt.h"
#include "generator.h"
#include "modem.h"
#include "pacing.h"
#include "platform/pool.h"
#include "receiver.h"
#include "traffic_parts.h"
#include "verifier.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define PACKETS 32767
#define FRAMES 8191
#define POOL_CACHE 256

static bool sender_create(struct traffic *t, const struct service_group *sg,
			  const struct traffic_options *o) {
	struct generator_options options = {
		.mix = &o->mix,
		.permit_permille = o->permit_permille,
		.classify_permille = o->classify_permille,
		.seed = o->seed,
	};

	options.pool = t->packets =
		packet_pool("traffic_packets", PACKETS, 0, RTE_MBUF_DEFAULT_BUF_SIZE);
	if (t->packets == NULL)
		return false;
	t->generator = generator_create(sg, &options);
	pacing_start(&t->pacing, o->rate, t->tsc_hz, mix_mean(&o->mix), mix_largest(&o->mix),
		     rte_rdtsc());
	return t->generator != NULL;
}

static bool receiver_side_create(struct traffic *t, const struct service_group *sg) {
	const struct targets *targets = &t->generator->targets;

	t->frames = packet_pool("traffic_frames", FRAMES, FRAME_PRIVATE_SIZE,
				RTE_MBUF_DEFAULT_BUF_SIZE);
	if (t->frames == NULL || modems_create(&t->modems, sg, targets->first_stream,
					       targets->stream_count, t->decryptor.crypto) != 0)
		return false;
	if (account_create(&t->account, targets->stream_count, t->tsc_hz) != 0 ||
	    resequencers_create(&t->resequencers, targets->stream_count, t->tsc_hz, account_deliver,
				&t->account) != 0 ||
	    (t->receiver = receiver_create(sg, t->frames, &t->account)) == NULL) {
		fprintf(stderr, "traffic: no memory for the receiver\n");
		return false;
	}
	return true;
}

struct traffic *traffic_create(const struct service_group *sg, const struct traffic_options *o) {
	struct traffic *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->network_port = o->network_port;
	t->rphy_port = o->rphy_port;
	t->decryptor = (struct decryptor){.crypto = o->crypto, .queue = o->crypto_queue};
	t->tsc_hz = rte_get_tsc_hz();
	if (sender_create(t, sg, o) && receiver_side_create(t, sg))
		return t;
	traffic_free(t);
	return NULL;
}

void traffic_free(struct traffic *t) {
	if (t == NULL)
		return;
	rte_pktmbuf_free_bulk(t->pending, t->pending_count);
	receiver_free(t->receiver);
	resequencers_free(&t->resequencers);
	account_free(&t->account);
	modems_free(&t->modems);
	generator_free(t->generator);
	rte_mempool_free(t->frames);
	rte_mempool_free(t->packets);
	free(t);
}

unsigned traffic_drain(struct traffic *t) {
	struct rte_mbuf *old[RECEIVE_BURST];
	unsigned total = 0;
	unsigned n;

	while ((n = rte_eth_rx_burst(t->rphy_port, 0, old, RECEIVE_BURST)) > 0) {
		rte_pktmbuf_free_bulk(old, n);
		total += n;
	}
	return total;
}

static unsigned transmit(struct traffic *t) {
	unsigned n = rte_eth_tx_burst(t->network_port, 0, t->pending, (uint16_t)t->pending_count);

	t->pending_count -= n;
	if (t->pending_count > 0) {
		t->backpressure++;
		memmove(t->pending, t->pending + n, t->pending_count * sizeof(t->pending[0]));
	}
	return n;
}

unsigned traffic_send(struct traffic *t, uint64_t now) {
	unsigned room = t->pending_count == 0 ? GENERATOR_BURST : 0;
	unsigned n = pacing_round(&t->pacing, now, room);
	uint64_t bytes;

	if (n > 0) {
		t->pending_count = generator_burst(t->generator, now, t->pending, n, &bytes);
		pacing_spend(&t->pacing, bytes);
	}
	if (t->pending_count == 0)
		return 0;
	if (t->first_tsc == 0)
		t->first_tsc = now;
	t->last_tsc = now;
	return transmit(t);
}

void traffic_stop(struct traffic *t) {
	generator_take_back(t->generator, t->pending, t->pending_count);
	t->pending_count = 0;
}

/* A frame that failed a check behind its header still takes the place of its number. */
static void resequence(struct traffic *t, const struct frame_info *info,
		       const struct arrived *packet, uint64_t now) {
	if (info->ds != DS_EHDR_SEQUENCE) {
		if (packet->valid)
			account_deliver(&t->account, packet, now);
		return;
	}
	switch (resequencers_take(&t->resequencers, info->stream, info->number, packet, now)) {
	case RESEQUENCER_TAKEN: break;
	case RESEQUENCER_DUPLICATE: t->account.duplicated++; break;
	case RESEQUENCER_CONFLICT: t->account.corrupted[CORRUPTION_DSID]++; break;
	case RESEQUENCER_USED:
		if (window_came(&t->account.streams[packet->stream], packet->sequence))
			t->account.duplicated++;
		else
			t->account.corrupted[CORRUPTION_DSID]++;
		break;
	}
}

static void frame_prove(struct traffic *t, const struct rte_mbuf *m, enum decrypted decrypted,
			const struct frame_info *info, uint64_t now) {
	const uint8_t *frame = rte_pktmbuf_mtod_offset(m, const uint8_t *, info->header_size);
	uint32_t size = m->data_len - info->header_size - ETHERNET_CRC_SIZE;
	struct arrived packet = {.valid = false};
	enum corruption why = CORRUPTION_NONE;

	if (decrypted == DECRYPTED_GOOD)
		why = verify(t->generator, &t->modems, info, frame, size, &packet);
	else
		why = decrypted == DECRYPTED_BAD_CRC ? CORRUPTION_CRC : CORRUPTION_CRYPTO;
	if (why != CORRUPTION_NONE) {
		t->account.corrupted[why]++;
		packet.valid = false;
	}
	resequence(t, info, &packet, now);
}

static unsigned collect(struct traffic *t) {
	struct rte_mbuf *frames[DECRYPT_BURST];
	enum decrypted verdicts[DECRYPT_BURST];
	unsigned n = decrypt_collect(&t->decryptor, frames, verdicts);
	uint64_t now;

	if (n == 0)
		return 0;
	now = rte_rdtsc();
	for (unsigned i = 0; i < n; i++)
		frame_prove(t, frames[i], verdicts[i], frame_info(frames[i]), now);
	rte_pktmbuf_free_bulk(frames, n);
	return n;
}

/* Gives the batch to the crypto device, collecting when it is full. */
static void submit(struct traffic *t) {
	unsigned done = 0;

	while (done < t->batch_count) {
		unsigned n = decrypt_submit(&t->decryptor, &t->modems, t->batch + done,
					    t->batch_count - done);

		done += n;
		if (n > 0 || collect(t) > 0 || t->decryptor.in_flight > 0)
			continue;
		/* Nothing in flight and nothing taken: the device refuses. */
		t->account.corrupted[CORRUPTION_CRYPTO] += t->batch_count - done;
		rte_pktmbuf_free_bulk(t->batch + done, t->batch_count - done);
		break;
	}
	t->batch_count = 0;
}

static void frame_take(struct traffic *t, struct rte_mbuf *frame) {
	enum corruption why;

	switch (modems_check(&t->modems, frame, &why)) {
	case MODEM_TAKES:
		t->batch[t->batch_count++] = frame;
		if (t->batch_count == DECRYPT_BURST)
			submit(t);
		return;
	case MODEM_IGNORES: t->account.unexpected[UNEXPECTED_MANAGEMENT]++; break;
	case MODEM_REFUSES: t->account.corrupted[why]++; break;
	}
	rte_pktmbuf_free(frame);
}

unsigned traffic_receive(struct traffic *t) {
	struct rte_mbuf *frames[RECEIVER_FRAMES_MAX];
	struct rte_mbuf *depi[RECEIVE_BURST];
	unsigned n = rte_eth_rx_burst(t->rphy_port, 0, depi, RECEIVE_BURST);
	unsigned done;

	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(depi[i], void *));
	for (unsigned i = 0; i < n; i++) {
		unsigned count = receiver_take(t->receiver, depi[i], frames);

		for (unsigned f = 0; f < count; f++)
			frame_take(t, frames[f]);
	}
	if (n > 0)
		rte_pktmbuf_free_bulk(depi, n);
	submit(t);
	done = collect(t);
	resequencers_expire(&t->resequencers, rte_rdtsc());
	return n + done;
}

void traffic_finish(struct traffic *t) {
	submit(t);
	while (t->decryptor.in_flight > 0)
		collect(t);
	resequencers_flush(&t->resequencers, rte_rdtsc());
}
