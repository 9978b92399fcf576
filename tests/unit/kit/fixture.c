/* SPDX-License-Identifier: BSD-3-Clause */
#include "fixture.h"

#include "pipeline/packet.h"
#include "platform/platform.h"

#include "test.h"

static bool eal_running;

static void eal_stop(void) {
	if (eal_running)
		platform_stop();
	eal_running = false;
}

void fixture_start_eal(unsigned memory_mb) {
	const struct platform_options options = {
		.program = "unit-test",
		.main_core = PLATFORM_ANY_CORE,
		.memory_mb = memory_mb,
	};

	assert_int_equal(atexit(eal_stop), 0);
	assert_int_equal(platform_start(&options), 0);
	eal_running = true;
	assert_int_equal(packet_meta_register(), 0);
}

int fixture_start(void **state) {
	fixture_start_eal(64);
	return 0;
}

int fixture_stop(void **state) {
	eal_stop();
	return 0;
}

struct rte_malloc_socket_stats fixture_heap_stats(void) {
	struct rte_malloc_socket_stats stats;

	assert_int_equal(rte_malloc_get_socket_stats((int)rte_socket_id(), &stats), 0);
	return stats;
}

struct rte_mempool *fixture_pool_create(const char *name, unsigned buffers, unsigned size) {
	struct rte_mempool *pool =
		rte_pktmbuf_pool_create(name, buffers, 0, 0, (uint16_t)size, SOCKET_ID_ANY);

	assert_non_null(pool);
	return pool;
}

void fixture_pool_free(struct rte_mempool *pool) {
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	rte_mempool_free(pool);
}

struct rte_mbuf *fixture_packet_create(struct rte_mempool *pool, const void *bytes, size_t size) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	void *data;

	assert_non_null(m);
	data = rte_pktmbuf_append(m, (uint16_t)size);
	assert_non_null(data);
	memcpy(data, bytes, size);
	return m;
}

size_t fixture_packet_read(const struct rte_mbuf *m, uint8_t *out, size_t capacity) {
	size_t size = 0;

	for (; m != NULL; m = m->next) {
		assert_true(size + m->data_len <= capacity);
		memcpy(out + size, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
		size += m->data_len;
	}
	return size;
}

void fixture_packet_check(const struct rte_mbuf *m) {
	const uint32_t total = m->pkt_len;
	const unsigned segments = m->nb_segs;
	uint32_t bytes = 0;
	unsigned n = 0;

	for (; m != NULL; m = m->next) {
		if ((size_t)m->data_off + m->data_len > m->buf_len)
			fail_msg("mbuf of %u bytes has %u data bytes at offset %u", m->buf_len,
				 m->data_len, m->data_off);
		assert_true(rte_mbuf_refcnt_read(m) > 0);
		bytes += m->data_len;
		n++;
	}
	assert_int_equal(n, segments);
	assert_int_equal(bytes, total);
}
