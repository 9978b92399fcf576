/* SPDX-License-Identifier: BSD-3-Clause */
/* Transmit messages: sends DEPI frames of MAPs and UCDs to the R-PHY port. They precede all data,
 * including data that waits for the port: a late MAP is useless. */
#include <string.h>

#include "downstream/messages.h"
#include "downstream/stages.h"

#define BURST 32

/* For ports that support one buffer per frame only. */
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
			x->urgent[ds_urgent_index(x->urgent_first + x->urgent_count++)] = m;
	}
}

/* Copied before the port owns the frame. */
struct urgent_frame {
	uint64_t due;
	uint64_t bytes;
	uint8_t messages;
};

/* Counts a frame that the port took, and the delay of its messages since they were due. */
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

/* Sends one burst of the ring, up to its end. Returns how many frames the port took. */
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
	x->urgent_first = ds_urgent_index(x->urgent_first + sent);
	x->urgent_count -= sent;
	return sent;
}

static void drop_all(struct ds_lower *l) {
	struct ds_messages *x = &l->messages;

	for (; x->urgent_count > 0; x->urgent_count--) {
		struct rte_mbuf *m = x->urgent[x->urgent_first];

		count(&l->counters, COUNTER_MESSAGES_LOST, message_meta(m)->messages);
		rte_pktmbuf_free(m);
		x->urgent_first = ds_urgent_index(x->urgent_first + 1);
	}
}

/* Drops frames that waited too long for the port. The others keep their order and get lower
 * numbers, including those of this round. */
static void drop_late(struct ds_lower *l) {
	struct ds_messages *x = &l->messages;
	uint32_t waited = x->urgent_count;

	for (uint32_t left = waited; left > 0; left--) {
		struct rte_mbuf *m = x->urgent[x->urgent_first];
		const struct message_meta *meta = message_meta(m);

		x->urgent_first = ds_urgent_index(x->urgent_first + 1);
		x->urgent_count--;
		if (message_is_late(meta, l->clock->now) &&
		    depi_message_withdraw(&l->depi, meta->stream, m)) {
			ds_message_late(l, m, meta->messages);
			continue;
		}
		depi_message_renumber(&l->depi, meta->stream, m);
		x->urgent[ds_urgent_index(x->urgent_first + x->urgent_count++)] = m;
	}
	if (x->urgent_count < waited)
		depi_messages_withdraw_end(&l->depi);
}

uint16_t ds_transmit_messages(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;
	struct ds_messages *x = &l->messages;
	uint16_t messages = x->new_count;

	if (messages == 0 && x->urgent_count == 0)
		return n;
	urgent_add(l, pkts, messages);
	drop_late(l);
	x->new_count = 0;
	memmove(pkts, pkts + messages, (n - messages) * sizeof(pkts[0]));
	if (unlikely(l->rphy.shut))
		drop_all(l);
	while (x->urgent_count > 0 && urgent_send(l) > 0)
		;
	return (uint16_t)(n - messages);
}

void ds_transmit_messages_stop(void *downstream) {
	struct downstream *d = downstream;

	drop_all(&d->lower);
}
