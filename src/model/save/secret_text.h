/* SPDX-License-Identifier: BSD-3-Clause */
/* A growing text that may contain keys: its memory is wiped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Zeroed: empty. */
struct secret_text {
	char *at; /* not terminated; NULL while empty */
	size_t size, capacity;
	bool failed; /* memory was short; the text is incomplete */
};

void secret_text_put(struct secret_text *t, const char *text, size_t size);
void secret_text_puts(struct secret_text *t, const char *text);
void secret_text_spaces(struct secret_text *t, size_t count);

/* Wipes and frees it. Accepts a zeroed struct. */
void secret_text_free(struct secret_text *t);
