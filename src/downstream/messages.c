/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages: MAPs and UCDs of the upstream scheduler, in DEPI frames of their own. They go before all data, also before
 * that which waits for the port: a MAP that comes late is worth nothing. Their bytes are taken of the channels' rates.
 */
#include "downstream/messages.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "downstream/stages.h"

#define BURST 32

static uint32_t circle(uint32_t at) {
	return at & (DS_URGENT_CAPACITY - 1);
}

uint32_t ds_messages_waiting(const struct ds_messages *x) {
	uint32_t waiting = 0;

	for (uint32_t i = 0; i < x->urgent_count; i++)
		waiting += message_meta(x->urgent[circle(x->urgent_first + i)])->messages;
	return waiting;
}

/* Without a session of its own the channel of a message is gone. */
static bool stream_is_there(const struct depi *d, uint32_t stream) {
	return stream < d->pseudowires + d->channel_count &&
	       d->messages[stream].room > PSP_ENTRY_SIZE + DEPI_MIN_FRAGMENT;
}

/* Behind data where there is no flow of its own: then it has gone its way. */
static bool is_data(const struct depi *d, uint32_t stream) {
	return d->message_flow == 0 && stream >= d->pseudowires;
}

/* One message to DEPI frames in `out`. Returns how many these are. */
static uint16_t message_frames(struct ds_lower *l, struct rte_mbuf *m, struct rte_mbuf **out) {
	const struct message_meta meta = *message_meta(m);
	bool whole = false;
	uint16_t n = 0;

	if (stream_is_there(&l->depi, meta.stream))
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

/* Those of flows of their own come to the front of the burst, the others to its end. */
static uint16_t message_add(struct ds_lower *l, struct rte_mbuf *m, struct rte_mbuf **pkts,
			    uint16_t n) {
	struct rte_mbuf *frames[DEPI_MESSAGE_FRAMES];
	bool behind = is_data(&l->depi, message_meta(m)->stream);
	uint16_t made = message_frames(l, m, frames);
	uint16_t at = behind ? n : l->messages.coming;

	memmove(pkts + at + made, pkts + at, (n - at) * sizeof(pkts[0]));
	memcpy(pkts + at, frames, made * sizeof(pkts[0]));
	l->messages.coming = (uint16_t)(l->messages.coming + (behind ? 0 : made));
	return (uint16_t)(n + made);
}

/* A MAP that would come too late, or a part of one. */
static void late_drop(struct ds_lower *l, struct rte_mbuf *m, uint16_t messages) {
	count(&l->counters, COUNTER_MESSAGES_LATE, messages);
	rte_pktmbuf_free(m);
}

uint16_t ds_messages(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;
	struct ds_messages *x = &l->messages;
	uint32_t room =
		RTE_MIN((uint32_t)PIPELINE_CAPACITY - n, DS_URGENT_CAPACITY - x->urgent_count);
	struct rte_mbuf *in[BURST];
	unsigned taken;

	if (x->path.ring == NULL || rte_ring_empty(x->path.ring))
		return n;
	room = RTE_MIN(room / DEPI_MESSAGE_FRAMES, (uint32_t)BURST);
	taken = rte_ring_sc_dequeue_burst(x->path.ring, (void **)in, room, NULL);
	for (unsigned i = 0; i < taken; i++) {
		if (message_is_late(message_meta(in[i]), l->clock->now))
			late_drop(l, in[i], 1);
		else
			n = message_add(l, in[i], pkts, n);
	}
	count(&l->counters, COUNTER_MESSAGES, taken);
	return n;
}

/* For ports that send one buffer a frame. */
static struct rte_mbuf *copy_linear(struct ds_lower *l, struct rte_mbuf *m) {
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, l->linear, 0, UINT32_MAX);

	if (copy == NULL)
		count(&l->counters, COUNTER_MESSAGES_LOST, message_meta(m)->messages);
	rte_pktmbuf_free(m);
	return copy;
}

static void urgent_add(struct ds_lower *l, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_messages *x = &l->messages;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = l->linear == NULL ? pkts[i] : copy_linear(l, pkts[i]);

		if (m != NULL)
			x->urgent[circle(x->urgent_first + x->urgent_count++)] = m;
	}
}

/* Read before the port owns the frame. */
struct urgent_frame {
	uint64_t due;
	uint64_t bytes;
	uint8_t messages;
};

static void frame_sent(struct ds_lower *l, const struct urgent_frame *f) {
	struct ds_messages *x = &l->messages;
	uint64_t delay = l->clock->now > f->due ? l->clock->now - f->due : 0;

	if (unlikely(l->counters.values[COUNTER_TRANSMITTED_BYTES] == 0))
		x->opened = l->clock->now;
	count(&l->counters, COUNTER_TRANSMITTED_BYTES, f->bytes);
	count(&l->counters, COUNTER_MESSAGES_SENT, f->messages);
	if (f->messages == 0 || f->due < x->opened)
		return;
	x->delayed++;
	x->delay_sum += delay;
	x->delay_max = RTE_MAX(x->delay_max, delay);
}

/* One burst from the circle, up to its end. Returns how many frames the port took. */
static uint16_t urgent_send(struct ds_lower *l) {
	struct ds_messages *x = &l->messages;
	uint32_t n = RTE_MIN(x->urgent_count, DS_URGENT_CAPACITY - x->urgent_first);
	struct urgent_frame frames[BURST];
	uint16_t sent;

	n = RTE_MIN(n, (uint32_t)BURST);
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m = x->urgent[x->urgent_first + i];

		frames[i] = (struct urgent_frame){message_meta(m)->due, rte_pktmbuf_pkt_len(m),
						  message_meta(m)->messages};
	}
	sent = packet_sink_burst(&l->rphy, &x->urgent[x->urgent_first], (uint16_t)n);
	for (uint16_t i = 0; i < sent; i++)
		frame_sent(l, &frames[i]);
	x->urgent_first = circle(x->urgent_first + sent);
	x->urgent_count -= sent;
	return sent;
}

static void line_end(struct ds_lower *l) {
	struct ds_messages *x = &l->messages;

	for (; x->urgent_count > 0; x->urgent_count--) {
		struct rte_mbuf *m = x->urgent[x->urgent_first];

		count(&l->counters, COUNTER_MESSAGES_LOST, message_meta(m)->messages);
		rte_pktmbuf_free(m);
		x->urgent_first = circle(x->urgent_first + 1);
	}
}

/* What has waited for the port since another round. The others stay in their order, and move up. */
static void line_look(struct ds_lower *l) {
	struct ds_messages *x = &l->messages;
	uint32_t waited = x->urgent_count;

	for (uint32_t left = waited; left > 0; left--) {
		struct rte_mbuf *m = x->urgent[x->urgent_first];
		const struct message_meta *meta = message_meta(m);

		x->urgent_first = circle(x->urgent_first + 1);
		x->urgent_count--;
		if (message_is_late(meta, l->clock->now) &&
		    depi_message_withdraw(&l->depi, meta->stream, m)) {
			late_drop(l, m, meta->messages);
			continue;
		}
		depi_message_follow(&l->depi, meta->stream, m);
		x->urgent[circle(x->urgent_first + x->urgent_count++)] = m;
	}
	if (x->urgent_count < waited)
		depi_messages_withdrawn(&l->depi);
}

uint16_t ds_messages_send(struct ds_lower *l, struct rte_mbuf **pkts, uint16_t n, uint16_t *sent) {
	struct ds_messages *x = &l->messages;
	uint16_t messages = x->coming, now;

	*sent = 0;
	line_look(l);
	urgent_add(l, pkts, messages);
	x->coming = 0;
	memmove(pkts, pkts + messages, (n - messages) * sizeof(pkts[0]));
	if (unlikely(l->rphy.shut))
		line_end(l);
	while (x->urgent_count > 0 && (now = urgent_send(l)) > 0)
		*sent = (uint16_t)(*sent + now);
	return (uint16_t)(n - messages);
}

void ds_messages_stop(void *downstream) {
	struct downstream *d = downstream;
	struct ds_lower *l = &d->lower;
	struct ds_messages *x = &l->messages;
	struct rte_mbuf *m;

	line_end(l);
	while (x->path.ring != NULL && rte_ring_dequeue(x->path.ring, (void **)&m) == 0) {
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
		fprintf(stderr,
			"downstream: no memory for messages of the upstream scheduler: %s\n",
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
