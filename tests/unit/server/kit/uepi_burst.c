/* SPDX-License-Identifier: BSD-3-Clause */
#include "uepi_burst.h"

#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "platform/large_pages.h"
#include "platform/port.h"
#include "wire/crc32.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"
#include "wire/uepi.h"

#include "packets.h"

#include "test.h"

static void part(uint8_t *psp, uint8_t **at, bool begin, bool end, const void *bytes, size_t size) {
	psp_entry_write(psp + PSP_HEADER_FIXED + PSP_ENTRY_SIZE * psp[1]++, begin, end,
			(uint16_t)size);
	memcpy(*at, bytes, size);
	*at += size;
}

size_t uepi_burst_write(const struct service_group *sg, const struct uepi_burst *b,
			uint8_t packet[UEPI_BURST_MAX]) {
	struct docsis_up_header mac = {.kind = b->kind};
	struct uepi_header header = {.sid = b->sid};
	struct uepi_trailer trailer = {0};
	struct depi_encap e = {.family = 4, .ttl = 64, .session = b->session};
	uint8_t bytes[UEPI_TRAILER_MAX], frame[256] = {0};
	uint8_t *psp = packet + depi_encap_size(&e);
	uint8_t *at = psp + PSP_HEADER_FIXED + (b->open ? 2 : 3) * PSP_ENTRY_SIZE;
	size_t mac_size = docsis_up_header_write(&mac, b->size + ETHERNET_CRC_SIZE, frame);
	size_t size;

	memset(packet, 0, UEPI_BURST_MAX);
	packet_ipv4(frame + mac_size, b->size, b->serial, (const uint8_t[]){198, 51, 100, 1});
	ethernet_crc_write(frame + mac_size, b->size);
	memcpy(e.source_ip, sg->rphy.rpd_ip.bytes, 4);
	memcpy(e.destination_ip, sg->rphy.core_ip.bytes, 4);
	psp_header_write(psp, 0, 0, b->sequence);
	part(psp, &at, true, false, bytes, uepi_header_write(UEPI_SC_QAM, &header, bytes));
	part(psp, &at, false, false, frame, mac_size + b->size + ETHERNET_CRC_SIZE);
	size = uepi_trailer_write(UEPI_SC_QAM, &trailer, bytes);
	if (!b->open)
		part(psp, &at, false, true, bytes, size);
	depi_encap_write(&e, (size_t)(at - psp), packet);
	return (size_t)(at - packet);
}

uint16_t server_give(struct server *s, unsigned group, enum device_role role,
		     struct rte_mempool *pool, unsigned depth) {
	static unsigned opened;
	uint16_t pair[2];
	char name[32];

	snprintf(name, sizeof(name), "far%u", opened++);
	assert_int_equal(port_pair(name, pool, depth, pair), 0);
	server_ports_give(&s->ports, group, role, pair[0]);
	return pair[1];
}

void server_has_nothing(const struct server *s) {
	const struct rte_mempool *const pools[] = {s->pools.packets, s->pools.depi_headers,
						   s->pools.depi_fragments, s->pools.uepi,
						   s->pools.frames};

	assert_int_equal(server_held(s), 0);
	for (size_t p = 0; p < ARRAY_COUNT(pools); p++)
		assert_int_equal(pools[p] != NULL ? rte_mempool_in_use_count(pools[p]) : 0, 0);
}

static void heap_add(struct heaps_used *used, int socket) {
	struct rte_malloc_socket_stats stats;

	if (rte_malloc_get_socket_stats(socket, &stats) != 0)
		return;
	used->bytes += stats.heap_allocsz_bytes;
	used->allocations += stats.alloc_count;
}

struct heaps_used heaps_used(void) {
	struct heaps_used used = {0};

	for (int heap = 0; heap < RTE_MAX_HEAPS; heap++)
		heap_add(&used, heap);
	if (large_pages_socket() != SOCKET_ID_ANY)
		heap_add(&used, large_pages_socket());
	return used;
}

void bytes_digest(uint64_t *sum, const void *bytes, size_t size) {
	for (size_t i = 0; i < size; i++)
		*sum = (*sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
}
