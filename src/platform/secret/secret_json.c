/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/secret/secret_json.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "platform/secret/secret_memory.h"

#define CODE_AT (JSON_ERROR_TEXT_LENGTH - 1) /* position where json_error_code() expects the code */

/* State of the text that this thread loads. */
static __thread bool loading, short_of_memory;

static void *allocate(size_t size) {
	void *memory;

	if (loading && short_of_memory)
		return NULL;
	memory = malloc(size);
	short_of_memory = memory == NULL;
	return memory;
}

void secret_json_wipe(void) {
	json_set_alloc_funcs(allocate, secret_free);
}

json_t *secret_json_load(const char *text, size_t size, size_t flags, json_error_t *error) {
	json_error_t own;
	json_t *json;

	if (error == NULL)
		error = &own;
	short_of_memory = false;
	loading = true;
	json = json_loadb(text, size, flags, error);
	loading = false;
	if (!short_of_memory)
		return json;
	json_decref(json);
	error->line = error->column = -1;
	snprintf(error->text, CODE_AT, "no memory left");
	error->text[CODE_AT] = json_error_out_of_memory;
	return NULL;
}
