/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/replay/replay_wires.h"

#include <string.h>

#include <rte_ethdev.h>

#include "platform/port.h"

#define PORT_DEPTH 1024

int replay_wires_create(struct replay_wires *w) {
	for (unsigned e = 0; e < REPLAY_ENDS; e++) {
		if (w->out[e] != NULL && capture_create(&w->writers[e], w->out[e]) != 0)
			return -1;
	}
	return 0;
}

static bool is_wired(const struct replay_wires *w, unsigned end) {
	return end != REPLAY_CONTROL || w->out[end] != NULL;
}

/* Opens a pair of ports per end. Returns 0 and the server's ports in `server_ports`, or -1 with none open. */
static int pairs_open(struct replay_wires *w, struct rte_mempool *pool,
		      uint16_t server_ports[REPLAY_ENDS]) {
	static const char *const names[REPLAY_ENDS] = {
		[REPLAY_NETWORK] = "network",
		[REPLAY_RPHY] = "rphy",
		[REPLAY_CONTROL] = "control",
	};
	unsigned e;

	for (e = 0; e < REPLAY_ENDS; e++) {
		uint16_t pair[2];

		if (!is_wired(w, e))
			continue;
		if (port_pair(names[e], pool, PORT_DEPTH, pair) != 0)
			break;
		server_ports[e] = pair[0];
		w->ports[e] = pair[1];
	}
	if (e == REPLAY_ENDS)
		return 0;
	while (e-- > 0) {
		port_close(server_ports[e]);
		port_close(w->ports[e]);
	}
	return -1;
}

int replay_wires_open(struct replay_wires *w, struct server *s,
		      const struct server_config *config) {
	static const enum device_role roles[REPLAY_ENDS] = {
		[REPLAY_NETWORK] = DEVICE_NETWORK,
		[REPLAY_RPHY] = DEVICE_RPHY,
		[REPLAY_CONTROL] = DEVICE_CONTROL,
	};
	uint16_t server_ports[REPLAY_ENDS] = {0};

	if (server_create(s, config) != 0 || pairs_open(w, s->pools.packets, server_ports) != 0)
		return -1;
	for (unsigned e = 0; e < REPLAY_ENDS; e++) {
		if (!is_wired(w, e))
			continue;
		for (unsigned g = 0; g < config->group_count; g++)
			server_ports_set(&s->ports, g, roles[e], server_ports[e]);
		/* groups added later find the port by its device */
		s->ports.list[s->ports.of[0][roles[e]]].device =
			device_port(&config->groups[0], roles[e])->device;
	}
	if (server_serve(s) == 0)
		return 0;
	replay_wires_close(w);
	return -1;
}

/* Frames larger than a buffer become chains. */
static struct rte_mbuf *to_mbuf(struct rte_mempool *pool, const uint8_t *data, uint32_t size) {
	struct rte_mbuf *head = rte_pktmbuf_alloc(pool);

	while (head != NULL) {
		struct rte_mbuf *last = rte_pktmbuf_lastseg(head), *more;
		uint32_t part = RTE_MIN(size, (uint32_t)rte_pktmbuf_tailroom(last));

		memcpy(rte_pktmbuf_append(head, (uint16_t)part), data, part);
		data += part;
		size -= part;
		if (size == 0)
			break;
		more = rte_pktmbuf_alloc(pool);
		if (more == NULL || rte_pktmbuf_chain(head, more) != 0) {
			rte_pktmbuf_free(more);
			rte_pktmbuf_free(head);
			return NULL;
		}
	}
	return head;
}

enum replay_sent replay_wires_send(struct replay_wires *w, enum replay_end end,
				   struct rte_mempool *pool, const struct capture_packet *p) {
	struct rte_mbuf *m = to_mbuf(pool, p->data, p->size);

	if (m == NULL)
		return REPLAY_NO_BUFFER;
	if (rte_eth_tx_burst(w->ports[end], 0, &m, 1) == 1)
		return REPLAY_SENT;
	rte_pktmbuf_free(m);
	return REPLAY_WIRE_FULL;
}

static void wires_record(struct replay_wires *w, unsigned end, uint64_t time) {
	struct rte_mbuf *pkts[PIPELINE_BURST];
	uint16_t n;

	while ((n = rte_eth_rx_burst(w->ports[end], 0, pkts, PIPELINE_BURST)) > 0) {
		for (uint16_t i = 0; i < n; i++) {
			uint32_t size = rte_pktmbuf_pkt_len(pkts[i]);

			if (w->out[end] != NULL)
				capture_write(&w->writers[end], time,
					      rte_pktmbuf_read(pkts[i], 0, size, w->frame), size);
			rte_pktmbuf_free(pkts[i]);
		}
	}
}

void replay_wires_record(struct replay_wires *w, uint64_t time) {
	for (unsigned e = 0; e < REPLAY_ENDS; e++) {
		if (w->out[e] != NULL || e == REPLAY_RPHY) /* MAPs leave there */
			wires_record(w, e, time);
	}
}

void replay_wires_close(struct replay_wires *w) {
	for (unsigned e = 0; e < REPLAY_ENDS; e++) {
		if (is_wired(w, e))
			port_close(w->ports[e]);
	}
}

int replay_wires_finish(struct replay_wires *w) {
	int ret = 0;

	for (unsigned e = 0; e < REPLAY_ENDS; e++)
		ret |= capture_finish(&w->writers[e]);
	return ret;
}
