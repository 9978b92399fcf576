/* SPDX-License-Identifier: BSD-3-Clause */
/* Wipes memory that may contain keys before it is freed. libyaml uses these functions wherever this
 * library is linked, jansson after secret_json_wipe(). */
#pragma once

#include <stddef.h>

/* Wipes and frees heap memory; `memory` may be NULL. */
void secret_free(void *memory);

/* realloc() that wipes the old memory if it moves. Returns NULL without memory; then `memory` is unchanged. */
void *secret_realloc(void *memory, size_t size);

/* Makes jansson wipe what it frees, for the whole process (secret_json.c). Call it before any use of jansson. */
void secret_json_wipe(void);

/* Wipes the stack below the caller, where called functions left their variables. */
void secret_stack_wipe(void);
