/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated traffic has the shares that were asked for, and its sequences have no holes. */
#include "core/generator.h"
#include "model/load/loader.h"
#include "test.h"
#include "traffic_config.h"
#include "traffic_pool.h"

#include <stdlib.h>
#include <string.h>

static struct service_group sg;

static int unload(void **state) {
	(void)state;
	service_group_free(&sg);
	return 0;
}

static struct generator *generator(void) {
	struct generator_options options = {
		.permit_permille = 100,
		.classify_permille = 100,
		.seed = 4,
		.pool = pool,
	};
	struct generator *g;
	char error[128];
	struct mix mix;

	assert_int_equal(mix_parse("imix", 1996, &mix, error, sizeof(error)), 0);
	options.mix = &mix;
	g = generator_create(&sg, &options);
	return g;
}

static void generated_traffic_has_the_shares(void **state) {
	struct rte_mbuf *packets[GENERATOR_BURST];
	unsigned sizes[1281] = {0};
	struct generator *g;
	uint32_t *next;
	uint64_t bytes;

	(void)state;
	traffic_config_load(&sg, "permit", SOME_RULES, SOME_CLASSIFIERS);
	g = generator();
	next = calloc(g->targets.stream_count, sizeof(*next));
	for (unsigned burst = 0; burst < 100; burst++) {
		assert_int_equal(generator_burst(g, burst, packets, 20, &bytes), 20);
		for (unsigned i = 0; i < 20; i++) {
			const uint8_t *frame = rte_pktmbuf_mtod(packets[i], const uint8_t *);
			struct packet_tag tag;

			sizes[packets[i]->pkt_len]++;
			packet_tag_read(frame + packet_tag_find(frame, packets[i]->pkt_len), &tag);
			assert_int_equal(tag.magic, g->magic);
			assert_int_equal(tag.tsc, burst);
			assert_int_equal(tag.sequence, next[g->targets.all[tag.target].stream]++);
		}
		rte_pktmbuf_free_bulk(packets, 20);
	}
	assert_int_equal(sizes[84], 300);
	assert_int_equal(sizes[256], 200);
	assert_int_equal(sizes[1280], 1500);
	assert_int_equal(g->by_class[CLASS_UNMATCHED], 1600);
	assert_int_equal(g->by_class[CLASS_PERMIT], 200);
	assert_int_equal(g->by_class[CLASS_CLASSIFIED], 200);
	assert_int_equal(g->packets, 2000);
	assert_int_equal(g->bytes, 300 * 84 + 200 * 256 + 1500 * 1280);
	free(next);
	generator_free(g);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static void packets_taken_back_were_never_made(void **state) {
	struct rte_mbuf *packets[GENERATOR_BURST];
	struct generator *g;
	uint32_t *sent;
	uint64_t bytes;

	(void)state;
	traffic_config_load(&sg, "permit", SOME_RULES, SOME_CLASSIFIERS);
	g = generator();
	sent = calloc(g->targets.stream_count, sizeof(*sent));
	assert_int_equal(generator_burst(g, 1, packets, 32, &bytes), 32);
	generator_take_back(g, packets + 20, 12);
	rte_pktmbuf_free_bulk(packets, 20);
	assert_int_equal(g->packets, 20);
	assert_int_equal(g->by_class[0] + g->by_class[1] + g->by_class[2], 20);
	memcpy(sent, g->sent, g->targets.stream_count * sizeof(*sent));
	assert_int_equal(generator_burst(g, 1, packets, 32, &bytes), 32);
	generator_take_back(g, packets, 32);
	assert_memory_equal(sent, g->sent, g->targets.stream_count * sizeof(*sent));
	free(sent);
	generator_free(g);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static void a_configuration_that_lets_nothing_pass_is_refused(void **state) {
	(void)state;
	traffic_config_load(&sg, "deny", "      - {family: ipv4, action: deny}\n",
			    "      - {family: ipv4, destination_ports: 1, service_flow: 2}\n");
	assert_null(generator());
}

#define test(function) cmocka_unit_test_teardown(function, unload)

int main(void) {
	const struct CMUnitTest tests[] = {
		test(generated_traffic_has_the_shares),
		test(packets_taken_back_were_never_made),
		test(a_configuration_that_lets_nothing_pass_is_refused),
	};

	return cmocka_run_group_tests(tests, pool_start, pool_stop);
}
