/* SPDX-License-Identifier: BSD-3-Clause */
/* Downstream: what rows count and leave, of packets whose sizes are known. */
#include "test.h"

#include <stdio.h>

#include "downstream/stages.h"

#include "scheduler/report.h"
#include "server_bench.h"

#define PACKETS 40

static struct server_bench storage, *const bench = &storage;

/* MULPI, annex C.2.2: rates count from the byte behind the HCS to the end of the CRC. */
static uint64_t scheduled_bytes(const struct downstream *d) {
	uint64_t bytes = 0;

	for (uint32_t f = 0; f < d->tables.flow_count; f++) {
		struct scheduler_flow_report r;

		scheduler_report_flow(d->upper.scheduler, f, &r);
		bytes += r.bytes;
	}
	return bytes;
}

static void bytes_are_those_of_the_packets(void **state) {
	char text[8192];
	struct counters c;
	uint64_t bytes = 0;

	(void)state;
	snprintf(text, sizeof(text), "%srphy: {mtu: 1500, max_segments: 16}\n", server_bench_text);
	server_bench_open(bench, text, 1024);
	for (unsigned i = 0; i < PACKETS; i++)
		server_bench_good(bench, (uint8_t)(i % 2), 0, 60 + 7 * i);
	server_bench_round(bench);
	server_bench_settle(bench);
	for (unsigned i = 0; i < PACKETS; i++)
		bytes += bench->sent[i].size;
	c = server_bench_counters(bench);
	assert_int_equal(c.values[COUNTER_RECEIVED], PACKETS);
	assert_int_equal(c.values[COUNTER_RECEIVED_BYTES], bytes);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], PACKETS);
	assert_int_equal(scheduled_bytes(bench->group->downstream),
			 bytes + (uint64_t)PACKETS * RTE_ETHER_CRC_LEN);
	/* the last row of a list leaves nothing */
	assert_int_equal(ds_hand_over(&bench->group->downstream->upper, NULL, 0), 0);
	server_bench_close(bench);
}

/* What the crypto provider does to frames of each cipher. */
static void parts_are_those_that_are_wanted(void **state) {
	char text[8192];

	(void)state;
	for (unsigned crc = 0; crc < 2; crc++) {
		snprintf(text, sizeof(text),
			 "%srphy: {mtu: 1500, max_segments: 16}\ncrypto: {generate_crc: %s}\n",
			 server_bench_text, crc ? "true" : "false");
		server_bench_open(bench, text, 1024);
		for (enum cipher k = CIPHER_NONE; k < CIPHERS; k++)
			assert_int_equal(bench->group->downstream->lower.crypto_parts[k],
					 (crc ? CRYPTO_CRC : 0) |
						 (k == CIPHER_NONE ? 0 : CRYPTO_CIPHER));
		server_bench_close(bench);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_those_of_the_packets),
		cmocka_unit_test(parts_are_those_that_are_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
