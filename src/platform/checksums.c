/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/checksums.h"

#include <stdio.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "platform/log/log.h"
#include "wire/ip.h"

#define QUEUES 64 /* of a port; further queues have no callback */
#define ROLE 16

/* State of a port. The worker counts, the control thread reads. */
struct watched {
	const struct rte_eth_rxtx_callback *callbacks[QUEUES];
	char role[ROLE];
	uint64_t completed; /* packets */
	uint64_t truncated; /* packets that are shorter than their IP header says */
	bool reported;
};

static struct watched watched[RTE_MAX_ETHPORTS];

static uint16_t folded(uint32_t sum) {
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* The sum in network byte order, as in the packet. */
static uint16_t pseudo_header_sum(const struct frame_fields *f) {
	size_t addresses = f->family == 4 ? 8 : 32; /* source and destination are adjacent */

	return folded((uint32_t)rte_raw_cksum(f->source, addresses) +
		      rte_cpu_to_be_16(f->protocol) + rte_cpu_to_be_16((uint16_t)f->upper_size));
}

/* Offset of the checksum in the TCP or UDP header; 0: none. */
static size_t checksum_offset(const struct frame_fields *f) {
	if (f->protocol == IP_PROTOCOL_TCP && f->upper_size >= sizeof(struct rte_tcp_hdr))
		return offsetof(struct rte_tcp_hdr, cksum);
	if (f->protocol == IP_PROTOCOL_UDP && f->upper_size >= sizeof(struct rte_udp_hdr))
		return offsetof(struct rte_udp_hdr, dgram_cksum);
	return 0;
}

/* RFC 1071 checksum over the pseudo-header and all bytes after it, without the checksum field. */
static uint16_t checksum_of(const struct frame_fields *f, uint16_t pseudo, uint16_t field) {
	uint32_t sum = (uint32_t)rte_raw_cksum(f->upper, f->upper_size) + pseudo;
	uint16_t whole = (uint16_t)~folded(sum + (uint16_t)~field);

	return whole == 0 && f->protocol == IP_PROTOCOL_UDP ? UINT16_MAX : whole;
}

/* Parses a frame with up to two VLAN tags; frame_parse() accepts only untagged frames. */
static enum frame_verdict parse(const struct rte_mbuf *m, struct frame_fields *f) {
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	size_t size = rte_pktmbuf_data_len(m);
	enum frame_verdict verdict = frame_parse(frame, size, f);

	for (unsigned tags = 0; tags < 2 && verdict == FRAME_VLAN && size > RTE_VLAN_HLEN; tags++) {
		frame += RTE_VLAN_HLEN;
		size -= RTE_VLAN_HLEN;
		verdict = frame_parse(frame, size, f);
	}
	return verdict;
}

/* Completes a checksum field that holds the sum of the pseudo-header only. Returns whether it did. */
static bool complete(const struct frame_fields *f) {
	size_t offset = checksum_offset(f);
	uint16_t pseudo, field, right;

	if (f->fragment || f->upper == NULL || offset == 0)
		return false;
	memcpy(&field, f->upper + offset, sizeof(field));
	pseudo = pseudo_header_sum(f);
	if (field != pseudo)
		return false;
	right = checksum_of(f, pseudo, field);
	if (right == field) /* already correct: true for one of 65,536 packets */
		return false;
	memcpy((uint8_t *)(uintptr_t)f->upper + offset, &right, sizeof(right));
	return true;
}

bool checksum_complete(struct rte_mbuf *m) {
	struct frame_fields f;

	return m->nb_segs == 1 && parse(m, &f) == FRAME_GOOD && complete(&f);
}

static uint16_t on_receive(uint16_t port, uint16_t queue, struct rte_mbuf *packets[],
			   uint16_t count, uint16_t max, void *arg) {
	struct watched *w = arg;
	uint64_t completed = 0, truncated = 0;

	(void)port;
	(void)queue;
	(void)max;
	for (uint16_t i = 0; i < count; i++) {
		struct frame_fields f;
		enum frame_verdict verdict;

		if (packets[i]->nb_segs != 1)
			continue;
		verdict = parse(packets[i], &f);
		completed += verdict == FRAME_GOOD && complete(&f);
		truncated += verdict == FRAME_IPV4_LENGTH || verdict == FRAME_IPV6_LENGTH;
	}
	if (completed != 0)
		__atomic_fetch_add(&w->completed, completed, __ATOMIC_RELAXED);
	if (truncated != 0)
		__atomic_fetch_add(&w->truncated, truncated, __ATOMIC_RELAXED);
	return count;
}

/* Drivers that receive packets of the kernel without their offload state. */
static bool may_be_partial(const char *device) {
	const char *arguments = strchr(device, ',');

	if (strncmp(device, "net_pcap", 8) == 0 || strncmp(device, "eth_pcap", 8) == 0)
		return arguments != NULL && strstr(arguments, "iface=") != NULL;
	return strncmp(device, "net_af_packet", 13) == 0 ||
	       strncmp(device, "eth_af_packet", 13) == 0 || strncmp(device, "net_af_xdp", 10) == 0;
}

void checksums_watch(uint16_t id, const char *device, const char *role) {
	struct watched *w = &watched[id];
	struct rte_eth_dev_info info;

	if (!may_be_partial(device) || rte_eth_dev_info_get(id, &info) != 0)
		return;
	*w = (struct watched){0};
	snprintf(w->role, sizeof(w->role), "%s", role);
	for (uint16_t q = 0; q < RTE_MIN(info.nb_rx_queues, QUEUES); q++)
		w->callbacks[q] = rte_eth_add_rx_callback(id, q, on_receive, w);
}

void checksums_report(void) {
	for (size_t id = 0; id < RTE_DIM(watched); id++) {
		struct watched *w = &watched[id];
		uint64_t completed = __atomic_load_n(&w->completed, __ATOMIC_RELAXED);
		uint64_t truncated = __atomic_load_n(&w->truncated, __ATOMIC_RELAXED);

		if (w->reported || completed + truncated == 0)
			continue;
		w->reported = true;
		log_warning("port", LOG_FIELDS(LOG_STRING("port", w->role)),
			    "port %s: %s; segments of TSO, GSO and UDP_SEGMENT arrive joined "
			    "or truncated: run `ethtool -K IFACE tx off tso off gso off` for "
			    "the interface at the other end",
			    w->role,
			    completed > 0 ? "the sender leaves TCP and UDP checksums to "
					    "hardware; this port completes them"
					  : "packets arrive truncated");
	}
}

void checksums_unwatch(uint16_t id) {
	struct watched *w = &watched[id];

	for (uint16_t q = 0; q < QUEUES; q++) {
		if (w->callbacks[q] != NULL &&
		    rte_eth_remove_rx_callback(id, q, w->callbacks[q]) == 0)
			rte_free((void *)(uintptr_t)w->callbacks[q]);
	}
	*w = (struct watched){0};
}
