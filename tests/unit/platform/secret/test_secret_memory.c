/* SPDX-License-Identifier: BSD-3-Clause */
/* Of many keys that were read, changed and freed, none is left in this process's memory. The test itself knows them inverted. */
#include "test_main.h"

#include "model/live/difference.h"
#include "model/live/live_group.h"
#include "model/live/object_copy.h"
#include "model/load/loader.h"
#include "platform/secret/secret_memory.h"

#define KEYS 200u
#define DIGITS 32u
#define PIECES 4u /* of a key: both ends of its text and of its bytes */

static uint64_t inverted[PIECES];

static unsigned value_of(unsigned place) {
	return (place + 1) * 2654435761u >> 13 & 15;
}

static char digit_of(unsigned place) {
	return "0123456789abcdef"[value_of(place % DIGITS)];
}

static int begin(void **state) {
	secret_json_wipe();
	for (unsigned i = 0; i < 8; i++) {
		const unsigned bytes[PIECES] = {(uint8_t)digit_of(i),
						(uint8_t)digit_of(DIGITS - 8 + i),
						value_of(2 * i) << 4 | value_of(2 * i + 1),
						value_of(16 + 2 * i) << 4 | value_of(17 + 2 * i)};

		for (unsigned p = 0; p < PIECES; p++)
			inverted[p] |= (uint64_t)(~bytes[p] & 0xff) << 8 * i;
	}
	return 0;
}

__attribute__((no_sanitize("address"))) static unsigned region_find(const char *begin,
								    const char *end) {
	unsigned found = 0;

	for (const char *at = begin; at + sizeof(uint64_t) <= end; at++) {
		uint64_t value;

		__builtin_memcpy(&value, at, sizeof(value));
		for (unsigned p = 0; p < PIECES; p++)
			found += inverted[p] == ~value;
	}
	return found;
}

/* Pieces of keys in the heap and the stack. */
static unsigned pieces_left(void) {
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned found = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		unsigned long begin, end;

		if (sscanf(line, "%lx-%lx rw", &begin, &end) == 2 && strstr(line, " rw") != NULL &&
		    (strstr(line, "[heap]") != NULL || strstr(line, "[stack]") != NULL))
			found += region_find((const char *)begin, (const char *)end);
	}
	fclose(maps);
	return found;
}

/* A group of modems with a key each. What writes and reads it leaves nothing by itself. */
static void load(struct service_group *sg) {
	static char text[KEYS * 256];
	FILE *out = fmemopen(text, sizeof(text), "w");

	setvbuf(out, NULL, _IONBF, 0);
	fputs("channels: [{id: 1, type: ofdm, rate: 1.89 Gbps, session: 7}]\n"
	      "bonding_groups: [{id: 1, channels: [1]}]\nmodems:\n",
	      out);
	for (unsigned k = 0; k < KEYS; k++) {
		fprintf(out,
			"- {mac: \"02:01:00:00:00:%02x\", addresses: [10.0.0.%u], bonding_group: "
			"1, service_flows: [{id: %u}], security: {said: %u, cipher: aes-256, key: "
			"\"",
			k, k + 1, k + 1, k + 1);
		for (unsigned place = 0; place < 2 * DIGITS; place++)
			fputc(digit_of(place), out); /* longer than libyaml's first buffers */
		fputs("\", iv: \"00000000000000000000000000000000\"}}\n", out);
	}
	fclose(out);
	assert_int_equal(service_group_load_text("sg.yaml", text, strlen(text), sg, stderr), 0);
	explicit_bzero(text, sizeof(text));
	secret_stack_wipe();
}

/* As a file alone, as changes, and as a group in service. */
TEST(what_was_freed_is_wiped) {
	for (unsigned turn = 0; turn < 3; turn++) {
		struct live_changes changes = {0};
		struct live_group live = {0};
		struct service_group sg;
		struct group_capacity capacity;

		load(&sg);
		assert_true(pieces_left() >= 2 * KEYS); /* the search finds keys */
		capacity = group_capacity_exact(&sg);
		for (uint32_t m = 0; turn == 1 && m < KEYS; m++)
			assert_true(live_changes_add(&changes, LIVE_MODEM, m,
						     object_copy(LIVE_MODEM, &sg.modems[m], NULL)));
		if (turn == 2)
			assert_int_equal(
				live_group_create(&live, &sg, &capacity, (char[LIVE_LINE]){0}), 0);
		service_group_free(&sg);
		if (turn == 1)
			live_changes_free(&changes);
		if (turn == 2)
			live_group_free(&live);
		secret_stack_wipe();
		assert_int_equal(pieces_left(), 0);
	}
}

static void __attribute__((noinline)) leave_on_the_stack(void) {
	volatile char left[KEYS * DIGITS];

	for (unsigned i = 0; i < sizeof(left); i++)
		left[i] = digit_of(i);
}

TEST(the_stack_is_wiped) {
	leave_on_the_stack();
	secret_stack_wipe();
	assert_int_equal(pieces_left(), 0);
}

TEST(memory_that_grows) {
	char *text = NULL;

	for (unsigned i = 0; i < KEYS * DIGITS; i++) {
		text = secret_realloc(text, i + 1);
		assert_non_null(text);
		text[i] = digit_of(i);
	}
	assert_int_equal(pieces_left(), KEYS * 2);
	for (unsigned i = 0; i < KEYS * DIGITS; i++)
		assert_int_equal(text[i], digit_of(i));
	secret_free(text);
	secret_free(NULL);
	assert_int_equal(pieces_left(), 0);
}

ALL_TESTS(begin, NULL)
