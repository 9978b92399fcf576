/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments of pre-3.0 modems, until they are joined. */
#include "test.h"

#include "fixture.h"
#include "upstream_units.h"

static void every_size_of_fragment(unsigned stream) {
	uint64_t fragments = 0;

	setup();
	for (size_t part = 3; part < 2 * FRAME + 10; part += part < 40 ? 1 : 17) {
		unit_size += docsis_concatenation_write(2, 2 * FRAME, unit);
		unit_add_clear(stream, SIZE);
		unit_add_clear(stream, SIZE);
		fragments += send_unit(stream, part);
		bench_complete(bench, stream);
		unit_add_clear(stream, SIZE); /* alone */
		fragments += send_unit(stream, part);
		bench_complete(bench, stream);
	}
	assert_int_equal(bench_count(bench, COUNTER_FRAGMENTS), fragments);
	for (unsigned p = 0; p < HOLD_POOLS; p++)
		assert_int_equal(bench->u->holds.buffers[p], 0);
	bench_close(bench);
}

static void every_size(void **state) {
	(void)state;
	every_size_of_fragment(PLAIN);
	every_size_of_fragment(AES);
}

static void order_of_fragments(void **state) {
	static const uint8_t bytes[50];

	(void)state;
	setup();
	send_fragment(PLAIN, 3, 0, bytes, 50); /* no first one */
	dropped(DROP_FRAGMENT_ORDER, 1);
	send_fragment(PLAIN, 3, LAST, bytes, 50);
	dropped(DROP_FRAGMENT_ORDER, 1);
	send_fragment(PLAIN, 3, FIRST, bytes, 50);
	send_fragment(PLAIN, 4, 0, bytes, 50);
	send_fragment(PLAIN, 6, 0, bytes, 50); /* 5 is missing: all of it */
	dropped(DROP_FRAGMENT_ORDER, 3);
	send_fragment(PLAIN, 7, LAST, bytes, 50);
	dropped(DROP_FRAGMENT_ORDER, 1);
	send_fragment(PLAIN, 15, FIRST, bytes, 50);
	unit_add_clear(PLAIN, SIZE);
	send_fragment(PLAIN, 15, FIRST, unit, 50); /* begins again */
	dropped(DROP_FRAGMENT_ORDER, 1);
	send_fragment(PLAIN, 0, LAST, unit + 50, unit_size - 50);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

static void crc_of_fragments(void **state) {
	static const unsigned streams[] = {PLAIN, AES};
	uint8_t out[BENCH_FRAME_MAX];

	(void)state;
	bench_prepare(bench);
	bench->sg.upstream.verify_crc = false; /* theirs is verified always */
	bench_start(bench);
	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		size_t size = fragment(streams[i], 0, FIRST, unit, 50, out);

		for (size_t at = 12; at < size; at++) {
			out[at] ^= 0x20;
			bench_plain(bench, streams[i], out, size);
			bench_settle(bench);
			dropped(DROP_FRAGMENT_CRC, 1);
			out[at] ^= 0x20;
		}
	}
	bench_close(bench);
}

/* As long as a frame can be, and one byte more. */
static void longest_unit(void **state) {
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		unsigned count;

		bench_prepare(bench);
		bench->sg.upstream.held_by_modem = 1000000;
		bench_start(bench);
		unit_size = 0;
		while (unit_size + 2 * FRAME < DOCSIS_FRAME_MAX)
			unit_add_clear(PLAIN, SIZE);
		memset(unit + unit_size, 0xff, FRAME * 2);
		unit_size = DOCSIS_FRAME_MAX + more;
		count = send_unit(PLAIN, 1900);
		if (more > 0) {
			dropped(DROP_FRAGMENT_TOO_LONG, count);
			assert_int_equal(bench->came[PLAIN], 0);
		} else {
			bench_complete(bench, PLAIN);
		}
		bench_close(bench);
	}
}

static void time_of_fragments(void **state) {
	static const uint8_t bytes[50];

	(void)state;
	setup();
	send_fragment(PLAIN, 0, FIRST, bytes, 50);
	bench_after(bench, 60 * BENCH_MS);
	send_fragment(PLAIN, 1, 0, bytes, 50);
	bench_after(bench, 40 * BENCH_MS - 1);
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 2);
	bench_after(bench, 1);
	dropped(DROP_FRAME_TIMEOUT, 2);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),	     cmocka_unit_test(order_of_fragments),
		cmocka_unit_test(crc_of_fragments),  cmocka_unit_test(longest_unit),
		cmocka_unit_test(time_of_fragments),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
