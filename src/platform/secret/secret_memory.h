/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that may hold keys is wiped before it is given back. libyaml allocates by the functions of this folder wherever
 * it is linked, jansson from secret_json_wipe() on.
 */
#pragma once

#include <stddef.h>

/* free() of the heap's memory, wiped. Harmless on NULL. */
void secret_free(void *memory);

/* realloc(): where the memory moves, the old one is wiped. NULL: no memory, and `memory` is as it was. */
void *secret_realloc(void *memory, size_t size);

/* Has jansson wipe what it frees, for the whole process (secret_json.c). To be called before it is used. */
void secret_json_wipe(void);

/* Wipes the stack below the caller, where the functions that it called have left their variables. */
void secret_stack_wipe(void);
