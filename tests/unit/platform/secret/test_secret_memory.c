/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that freed keys leave no copy in heap and stack. The test knows the keys inverted only. */
#include "test_main.h"

#include "model/live/difference.h"
#include "model/live/live_group.h"
#include "model/live/object_copy.h"
#include "model/load/loader.h"
#include "platform/secret/secret_memory.h"

#define KEYS 200u
#define DIGITS 32u
#define PIECES 4u /* 8 bytes each: both ends of a key's text and of its binary form */

static uint64_t inverted[PIECES];

static unsigned nibble_at(unsigned position) {
	return (position + 1) * 2654435761u >> 13 & 15;
}

static char digit_at(unsigned position) {
	return "0123456789abcdef"[nibble_at(position % DIGITS)];
}

static int set_up(void **state) {
	secret_json_wipe();
	for (unsigned i = 0; i < 8; i++) {
		const unsigned bytes[PIECES] = {(uint8_t)digit_at(i),
						(uint8_t)digit_at(DIGITS - 8 + i),
						nibble_at(2 * i) << 4 | nibble_at(2 * i + 1),
						nibble_at(16 + 2 * i) << 4 | nibble_at(17 + 2 * i)};

		for (unsigned p = 0; p < PIECES; p++)
			inverted[p] |= (uint64_t)(~bytes[p] & 0xff) << 8 * i;
	}
	return 0;
}

__attribute__((no_sanitize("address"))) static unsigned region_count(const char *begin,
								     const char *end) {
	unsigned count = 0;

	for (const char *at = begin; at + sizeof(uint64_t) <= end; at++) {
		uint64_t value;

		__builtin_memcpy(&value, at, sizeof(value));
		for (unsigned p = 0; p < PIECES; p++)
			count += inverted[p] == ~value;
	}
	return count;
}

/* Counts pieces of keys in the heap and the stack. */
static unsigned pieces_left(void) {
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned count = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		unsigned long begin, end;

		if (sscanf(line, "%lx-%lx rw", &begin, &end) == 2 && strstr(line, " rw") != NULL &&
		    (strstr(line, "[heap]") != NULL || strstr(line, "[stack]") != NULL))
			count += region_count((const char *)begin, (const char *)end);
	}
	fclose(maps);
	return count;
}

/* Loads a group of modems with a key each, and wipes its own copies. */
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
		for (unsigned position = 0; position < 2 * DIGITS; position++)
			fputc(digit_at(position), out); /* longer than libyaml's initial buffers */
		fputs("\", iv: \"00000000000000000000000000000000\"}}\n", out);
	}
	fclose(out);
	assert_int_equal(service_group_load_text("sg.yaml", text, strlen(text), sg, stderr), 0);
	explicit_bzero(text, sizeof(text));
	secret_stack_wipe();
}

/* Keys of a loaded file, of changes, and of a group in service. */
TEST(freed_keys_are_wiped) {
	for (unsigned kind = 0; kind < 3; kind++) {
		struct live_changes changes = {0};
		struct live_group live = {0};
		struct service_group sg;
		struct group_capacity capacity;

		load(&sg);
		assert_true(pieces_left() >= 2 * KEYS); /* the search finds keys */
		capacity = group_capacity_exact(&sg);
		for (uint32_t m = 0; kind == 1 && m < KEYS; m++)
			assert_true(live_changes_add(&changes, LIVE_MODEM, m,
						     object_copy(LIVE_MODEM, &sg.modems[m], NULL)));
		if (kind == 2)
			assert_int_equal(
				live_group_create(&live, &sg, &capacity, (char[LIVE_LINE]){0}), 0);
		service_group_free(&sg);
		if (kind == 1)
			live_changes_free(&changes);
		if (kind == 2)
			live_group_free(&live);
		secret_stack_wipe();
		assert_int_equal(pieces_left(), 0);
	}
}

static void __attribute__((noinline)) leave_on_stack(void) {
	volatile char left[KEYS * DIGITS];

	for (unsigned i = 0; i < sizeof(left); i++)
		left[i] = digit_at(i);
}

TEST(stack_is_wiped) {
	leave_on_stack();
	secret_stack_wipe();
	assert_int_equal(pieces_left(), 0);
}

TEST(realloc_wipes_old_memory) {
	char *text = NULL;

	for (unsigned i = 0; i < KEYS * DIGITS; i++) {
		text = secret_realloc(text, i + 1);
		assert_non_null(text);
		text[i] = digit_at(i);
	}
	assert_int_equal(pieces_left(), KEYS * 2);
	for (unsigned i = 0; i < KEYS * DIGITS; i++)
		assert_int_equal(text[i], digit_at(i));
	secret_free(text);
	secret_free(NULL);
	assert_int_equal(pieces_left(), 0);
}

ALL_TESTS(set_up, NULL)
