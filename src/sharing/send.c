/* SPDX-License-Identifier: BSD-3-Clause */
/* Send: transmits bursts of frames from the ring to the port. While frames wait for the port,
 * nothing is dequeued. The ring then fills up, and the senders keep their frames. */
#include "sharing/sharing.h"
#include "sharing/stages.h"

#define BURSTS 8 /* per call, so that the groups run, too */

/* For a port that is shut: drops waiting frames, and up to `max` of the ring. Returns how many. */
static uint16_t send_nothing(struct port_share *s, unsigned max) {
	struct share_send *w = &s->send;
	struct rte_mbuf *m;
	uint16_t ended = 0;

	for (; w->count > 0; w->count--, ended++)
		drop(&s->counters, w->waiting[w->first++], DROP_PORT_UNSENT);
	for (; ended < max && rte_ring_sc_dequeue(w->ring, (void **)&m) == 0; ended++)
		drop(&s->counters, m, DROP_PORT_UNSENT);
	return ended;
}

/* Sends one burst. Returns how many frames the port took. */
static uint16_t share_send_burst(struct port_share *s) {
	struct share_send *w = &s->send;
	uint16_t sent;

	if (w->count == 0) {
		w->first = 0;
		w->count = (uint16_t)rte_ring_sc_dequeue_burst(w->ring, (void **)w->waiting,
							       PIPELINE_BURST, NULL);
	}
	if (w->count == 0)
		return 0;
	sent = packet_sink_burst(&w->to, &w->waiting[w->first], w->count);
	w->first += sent;
	w->count -= sent;
	count(&s->counters, COUNTER_PORT_SENT, sent);
	count(&s->counters, COUNTER_PORT_SEND_RETRIES, w->count > 0);
	return sent;
}

uint16_t share_send(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct port_share *s = ctx;
	uint16_t all = 0, sent;

	(void)pkts;
	(void)n;
	if (unlikely(s->send.to.shut))
		return s->send.ring == NULL ? 0 : send_nothing(s, BURSTS * PIPELINE_BURST);
	for (unsigned b = 0; s->send.ring != NULL && b < BURSTS; b++) {
		sent = share_send_burst(s);
		if (sent == 0)
			break;
		all += sent;
	}
	return all;
}
