/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: encapsulates MAPs and UCDs of the upstream scheduler in DEPI frames of their own, which
 * precede those of data. Their bytes are charged to the channels' rates. */
#include "downstream/messages.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "downstream/stages.h"
#include "platform/log/log.h"

#define BURST 32

/* Without a session, the message's channel was removed. */
static bool stream_exists(const struct depi *d, uint32_t stream) {
	return stream < d->pseudowires + d->channel_count &&
	       d->messages[stream].capacity > PSP_ENTRY_SIZE + DEPI_MIN_FRAGMENT;
}

/* Whether the stream is part of the data flow. Its messages are counted as sent here. */
static bool is_data(const struct depi *d, uint32_t stream) {
	return d->message_flow == 0 && stream >= d->pseudowires;
}

/* Encapsulates one message in frames in `out`. Returns their number. */
static uint16_t message_frames(struct ds_lower *l, struct rte_mbuf *m, struct rte_mbuf **out) {
	const struct message_meta meta = *message_meta(m);
	bool whole = false;
	uint16_t n = 0;

	if (stream_exists(&l->depi, meta.stream))
		n = depi_message(&l->depi, meta.stream, m, l->clock->now, &l->counters, out,
				 &whole);
	else
		rte_pktmbuf_free(m);
	count(&l->counters, COUNTER_MESSAGES_LOST, !whole);
	if (is_data(&l->depi, meta.stream)) {
		count(&l->counters, COUNTER_MESSAGES_SENT, whole);
		return n;
	}
	for (uint16_t i = 0; i < n; i++)
		*message_meta(out[i]) = (struct message_meta){
			.due = meta.due,
			.stream = meta.stream,
			.slack = meta.slack,
			.messages = whole && i + 1 == n,
			.head = (uint8_t)rte_pktmbuf_data_len(out[i]),
		};
	return n;
}

/* Inserts the frames of a message at the start of the burst, or at its end if they are part of
 * the data flow. */
static uint16_t message_add(struct ds_lower *l, struct rte_mbuf *m, struct rte_mbuf **pkts,
			    uint16_t n) {
	struct rte_mbuf *frames[DEPI_MESSAGE_FRAMES];
	bool behind = is_data(&l->depi, message_meta(m)->stream);
	uint16_t made = message_frames(l, m, frames);
	uint16_t at = behind ? n : l->messages.new_count;

	memmove(pkts + at + made, pkts + at, (n - at) * sizeof(pkts[0]));
	memcpy(pkts + at, frames, made * sizeof(pkts[0]));
	l->messages.new_count = (uint16_t)(l->messages.new_count + (behind ? 0 : made));
	return (uint16_t)(n + made);
}

void ds_message_late(struct ds_lower *l, struct rte_mbuf *m, uint16_t messages) {
	count(&l->counters, COUNTER_MESSAGES_LATE, messages);
	rte_pktmbuf_free(m);
}

uint16_t ds_messages(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;
	struct ds_messages *x = &l->messages;
	uint32_t capacity =
		RTE_MIN((uint32_t)PIPELINE_CAPACITY - n, DS_URGENT_CAPACITY - x->urgent_count);
	struct rte_mbuf *in[BURST];
	unsigned dequeued;

	if (x->path.ring == NULL || rte_ring_empty(x->path.ring))
		return n;
	capacity = RTE_MIN(capacity / DEPI_MESSAGE_FRAMES, (uint32_t)BURST);
	dequeued = rte_ring_sc_dequeue_burst(x->path.ring, (void **)in, capacity, NULL);
	for (unsigned i = 0; i < dequeued; i++) {
		if (message_is_late(message_meta(in[i]), l->clock->now))
			ds_message_late(l, in[i], 1);
		else
			n = message_add(l, in[i], pkts, n);
	}
	count(&l->counters, COUNTER_MESSAGES, dequeued);
	return n;
}

void ds_messages_stop(void *downstream) {
	struct downstream *d = downstream;
	struct ds_lower *l = &d->lower;
	struct rte_ring *ring = l->messages.path.ring;
	struct rte_mbuf *m;

	while (ring != NULL && rte_ring_dequeue(ring, (void **)&m) == 0) {
		count(&l->counters, COUNTER_MESSAGES, 1);
		count(&l->counters, COUNTER_MESSAGES_LOST, 1);
		rte_pktmbuf_free(m);
	}
}

void ds_messages_charge(struct ds_upper *u) {
	const struct message_path *p = u->messages;
	uint64_t total = __atomic_load_n(&p->total, __ATOMIC_ACQUIRE);

	if (likely(total == u->messages_charged))
		return;
	u->messages_charged = total;
	for (uint32_t c = 0; c < p->channels; c++) {
		uint64_t bytes = __atomic_load_n(&p->bytes[c], __ATOMIC_RELAXED);

		scheduler_charge(u->scheduler, c, bytes - u->charged[c]);
		u->charged[c] = bytes;
	}
}

static int path_create(struct downstream *d, const struct service_group *sg) {
	struct ds_messages *x = &d->lower.messages;
	uint32_t channels = d->lower.depi.channel_count;
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "messages_%u", sg->id);
	x->path.pseudowires = (uint32_t)sg->upstream_channel_count;
	x->path.channels = channels;
	x->path.bytes =
		rte_zmalloc("messages", channels * sizeof(x->path.bytes[0]), RTE_CACHE_LINE_SIZE);
	x->charged = rte_zmalloc("messages", channels * sizeof(x->charged[0]), RTE_CACHE_LINE_SIZE);
	x->path.ring = rte_ring_create(name, messages_ring(sg), SOCKET_ID_ANY,
				       RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (x->path.bytes == NULL || x->charged == NULL || x->path.ring == NULL)
		return -1;
	return depi_messages_create(&d->lower.depi, sg, x->path.pseudowires);
}

int ds_messages_open(void *downstream, const struct service_group *sg, const void *resources) {
	struct downstream *d = downstream;
	(void)resources;
	if (!sg->upstream.scheduled || sg->upstream_channel_count == 0)
		return 0;
	if (path_create(d, sg) != 0) {
		log_error("memory", LOG_NO_FIELDS,
			  "downstream: no memory for messages of the upstream scheduler: %s",
			  rte_strerror(rte_errno));
		return -1;
	}
	d->upper.messages = &d->lower.messages.path;
	d->upper.charged = d->lower.messages.charged;
	return 0;
}

void ds_messages_close(void *downstream) {
	struct downstream *d = downstream;

	struct ds_messages *x = &d->lower.messages;

	rte_ring_free(x->path.ring);
	rte_free(x->path.bytes);
	rte_free(x->charged);
}
