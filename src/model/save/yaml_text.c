/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/save/yaml_text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "platform/secret/secret_memory.h"

#define COLUMNS 100
#define STEP 2 /* columns per level */

static bool is_address(const char *text) {
	struct in_addr address;

	return inet_pton(AF_INET, text, &address) == 1;
}

/* A number, a space and its unit: "500 Mbps". */
static bool is_quantity(const char *text) {
	size_t digits = strspn(text, "0123456789."), letters = 0;

	if (digits == 0 || text[digits] != ' ')
		return false;
	while (isalpha((unsigned char)text[digits + 1 + letters]))
		letters++;
	return letters > 0 && text[digits + 1 + letters] == '\0';
}

/* A word that no reader of YAML takes for another type. */
static bool is_word(const char *text) {
	static const char *const other[] = {"y",   "n",	   "yes",   "no",   "on",
					    "off", "true", "false", "null", "nan"};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		if (strcasecmp(text, other[i]) == 0)
			return false;
	}
	if (!isalpha((unsigned char)text[0]) && text[0] != '/')
		return false;
	while (isalnum((unsigned char)*text) || (*text != '\0' && strchr("_./-", *text) != NULL))
		text++;
	return *text == '\0';
}

static void put_string(struct secret_text *t, const json_t *value) {
	const char *text = json_string_value(value);
	char *quoted;

	if (is_word(text) || is_quantity(text) || is_address(text)) {
		secret_text_puts(t, text);
		return;
	}
	quoted = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	if (quoted != NULL)
		secret_text_puts(t, quoted);
	t->failed = t->failed || quoted == NULL;
	secret_free(quoted);
}

static void put_integer(struct secret_text *t, json_int_t value) {
	char text[32];

	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, value);
	secret_text_puts(t, text);
}

static void put_flow_map(struct secret_text *t, const json_t *map) {
	const char *before = "{";
	const char *key;
	json_t *value;

	if (json_object_size(map) == 0)
		secret_text_puts(t, before);
	json_object_foreach((json_t *)(uintptr_t)map, key, value) {
		secret_text_puts(t, before);
		secret_text_puts(t, key);
		secret_text_puts(t, ": ");
		yaml_text_flow(t, value);
		before = ", ";
	}
	secret_text_puts(t, "}");
}

void yaml_text_flow(struct secret_text *t, const json_t *value) {
	if (json_is_string(value)) {
		put_string(t, value);
	} else if (json_is_integer(value)) {
		put_integer(t, json_integer_value(value));
	} else if (json_is_boolean(value)) {
		secret_text_puts(t, json_is_true(value) ? "true" : "false");
	} else if (json_is_object(value)) {
		put_flow_map(t, value);
	} else if (json_is_array(value)) {
		secret_text_puts(t, "[");
		for (size_t i = 0; i < json_array_size(value); i++) {
			secret_text_puts(t, i > 0 ? ", " : "");
			yaml_text_flow(t, json_array_get(value, i));
		}
		secret_text_puts(t, "]");
	} else {
		t->failed = true; /* the configuration has no other values */
	}
}

static void new_line(struct secret_text *t, size_t indent) {
	secret_text_puts(t, "\n");
	secret_text_spaces(t, indent);
}

/* Appends the value in flow style if it fits the rest of the line, or is no map or list. */
static bool put_short(struct secret_text *t, const json_t *value, size_t column) {
	size_t size = t->size;

	yaml_text_flow(t, value);
	if (t->failed || column + t->size - size <= COLUMNS ||
	    json_object_size(value) + json_array_size(value) == 0)
		return true;
	t->size = size;
	return false;
}

static void put_block_list(struct secret_text *t, const json_t *list, size_t indent) {
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (i > 0)
			new_line(t, indent);
		secret_text_puts(t, "- ");
		yaml_text_block(t, json_array_get(list, i), indent + STEP);
	}
}

static void put_block_map(struct secret_text *t, const json_t *map, size_t indent) {
	bool first = true;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)map, key, value) {
		if (!first)
			new_line(t, indent);
		first = false;
		secret_text_puts(t, key);
		secret_text_puts(t, ": ");
		if (put_short(t, value, indent + strlen(key) + 2))
			continue;
		t->size--; /* the space */
		new_line(t, indent + STEP);
		yaml_text_block(t, value, indent + STEP);
	}
}

void yaml_text_block(struct secret_text *t, const json_t *value, size_t indent) {
	if (put_short(t, value, indent))
		return;
	if (json_is_object(value))
		put_block_map(t, value, indent);
	else
		put_block_list(t, value, indent);
}
