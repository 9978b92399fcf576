/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a service group from YAML text, and keeps the loader's messages. */
#pragma once

#include "test.h"

#include "model/load/loader.h"

/* A complete service group with one modem, to which tests append keys. */
#define SMALL_HEAD                                                       \
	"channels: [{id: 1, type: ofdm, rate: 1.89 Gbps, session: 7}]\n" \
	"bonding_groups: [{id: 1, channels: [1]}]\n"
#define SMALL_MODEM                               \
	"  - mac: \"02:01:00:00:00:01\"\n"        \
	"    addresses: [10.0.0.1]\n"             \
	"    bonding_group: 1\n"                  \
	"    security: {said: 1, cipher: none}\n" \
	"    service_flows: [{id: 1}]\n"
#define SMALL SMALL_HEAD "modems:\n" SMALL_MODEM

struct loaded {
	struct service_group sg;
	int mistakes;
	char *messages;
};

/* Loads YAML. The caller frees the result by unload(), whether it has mistakes or not. */
static inline struct loaded load_bytes(const char *text, size_t size) {
	struct loaded loaded = {0};
	size_t length;
	FILE *errors = open_memstream(&loaded.messages, &length);

	assert_non_null(errors);
	loaded.mistakes = service_group_load_text("sg.yaml", text, size, &loaded.sg, errors);
	fclose(errors);
	return loaded;
}

static inline struct loaded load_text(const char *text) {
	return load_bytes(text, strlen(text));
}

static inline void unload(struct loaded *loaded) {
	service_group_free(&loaded->sg);
	free(loaded->messages);
}

/* Loads `text` and asserts that the messages are `lines`, of `count` mistakes. */
static inline void expect_mistakes(const char *text, int count, const char *lines) {
	struct loaded loaded = load_text(text);

	assert_string_equal(loaded.messages, lines);
	assert_int_equal(loaded.mistakes, count);
	assert_int_equal(loaded.sg.arena == NULL, count > 0);
	unload(&loaded);
}
