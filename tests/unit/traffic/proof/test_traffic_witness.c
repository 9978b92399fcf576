/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests witness.h: windows of consecutive packets from random times of a run, written as pcapng. */
#include "proof/witness.h"

#include <unistd.h>

#include "fixture.h"
#include "test_main.h"

#define PACKETS 64
#define SIZE 128
#define FILE_MAX (1 << 20)

#define BLOCK_INTERFACE 1
#define BLOCK_PACKET 6

static struct rte_mempool *pool;
static struct witness_pair pair;
static uint8_t file[FILE_MAX];
static size_t file_size;

static int set_up(void **state) {
	fixture_start(state);
	pool = fixture_pool_create("witness", 64, FIXTURE_BUFFER_SIZE);
	return 0;
}

static int tear_down(void **state) {
	fixture_pool_free(pool);
	return fixture_stop(state);
}

/* Passes packets `from` to `to` - 1 of `size` bytes, in bursts. A packet begins with its number. */
static void pass_packets(uint32_t from, uint32_t to, size_t size) {
	uint8_t bytes[2 * SIZE] = {0};

	while (from < to) {
		struct rte_mbuf *burst[32];
		unsigned n = 0;

		for (; n < 1 + from % 32 && from < to; n++, from++) {
			memcpy(bytes, &from, sizeof(from));
			burst[n] = fixture_packet_create(pool, bytes, size);
		}
		witness_pass(&pair.downstream, burst, n);
		rte_pktmbuf_free_bulk(burst, n);
		if (n == 0)
			break;
	}
}

static void write_file(void) {
	char path[] = "/tmp/witness-XXXXXX";
	int fd = mkstemp(path);
	FILE *in;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(witness_write(&pair, 1, path), 0);
	in = fopen(path, "rb");
	assert_non_null(in);
	file_size = fread(file, 1, sizeof(file), in);
	fclose(in);
	unlink(path);
	assert_in_range(file_size, 1, sizeof(file) - 1);
}

static uint32_t file_word(size_t at) {
	uint32_t value;

	memcpy(&value, file + at, sizeof(value));
	return value;
}

struct file_packets {
	unsigned count, interfaces;
	uint32_t numbers[PACKETS + WITNESS_WINDOW];
	uint32_t size, wire_size; /* of the last packet */
	char comments[PACKETS + WITNESS_WINDOW];
};

static struct file_packets read_packets(void) {
	struct file_packets r = {0};

	for (size_t at = 0; at < file_size; at += file_word(at + 4)) {
		if (file_word(at) == BLOCK_INTERFACE)
			r.interfaces++;
		if (file_word(at) != BLOCK_PACKET)
			continue;
		assert_in_range(r.count, 0, RTE_DIM(r.numbers) - 1);
		r.size = file_word(at + 20);
		r.wire_size = file_word(at + 24);
		/* the bytes are followed by a comment option of one digit */
		r.comments[r.count] = (char)file[at + 28 + (r.size + 3) / 4 * 4 + 4];
		r.numbers[r.count++] = file_word(at + 28);
	}
	return r;
}

/* Runs `count` packets of `size` bytes; returns those in the file, up to `packets`. */
static struct file_packets run(uint32_t packets, uint64_t seed, uint32_t count, size_t size) {
	struct file_packets r;

	assert_int_equal(witness_create(&pair.downstream, packets, SIZE, seed), 0);
	assert_int_equal(witness_create(&pair.upstream, 0, SIZE, seed), 0);
	pass_packets(0, count, size);
	write_file();
	r = read_packets();
	witness_free(&pair.downstream);
	witness_free(&pair.upstream);
	return r;
}

/* A long run gives packets of its first and second half, mostly of the second. */
TEST(windows_contain_consecutive_packets) {
	unsigned early = 0, late = 0, first = 0;

	for (uint64_t seed = 1; seed < 100; seed++) {
		struct file_packets r = run(PACKETS, seed, 20000, SIZE);

		assert_int_equal(r.interfaces, 1);
		/* the last window may be incomplete */
		assert_in_range(r.count, PACKETS - WITNESS_WINDOW, PACKETS);
		for (unsigned i = 0; i < r.count; i++) {
			if (i > 0 && r.comments[i] == r.comments[i - 1])
				assert_int_equal(r.numbers[i], r.numbers[i - 1] + 1);
			early += r.numbers[i] < 10000;
			late += r.numbers[i] >= 10000;
		}
	}
	assert_true(early > (early + late) / 10);
	assert_true(late > (early + late) / 4);
	for (uint64_t seed = 1; seed < 200; seed++) {
		struct file_packets r = run(PACKETS, seed, 200, SIZE);

		first += r.count > 0 && r.numbers[0] < 8;
	}
	assert_in_range(first, 5, 100);
}

TEST(long_packets_are_truncated) {
	struct file_packets r = run(PACKETS, 1, 200, 2 * SIZE);

	assert_int_equal(r.size, SIZE);
	assert_int_equal(r.wire_size, 2 * SIZE);
}

TEST(witness_without_capacity_keeps_nothing) {
	struct file_packets r = run(0, 1, 100, SIZE);

	assert_int_equal(r.count, 0);
	assert_int_equal(r.interfaces, 0);
	witness_pass(NULL, NULL, 1);
	assert_int_equal(witness_write(&pair, 1, "/nowhere/file"), -1);
}

ALL_TESTS(set_up, tear_down)
