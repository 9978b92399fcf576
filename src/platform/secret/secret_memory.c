/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/secret/secret_memory.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define STACK_WIPED 65536u /* bytes: more than the deepest calls of a request use */

void secret_free(void *memory) {
	if (memory != NULL)
		explicit_bzero(memory, malloc_usable_size(memory));
	free(memory);
}

void *secret_realloc(void *memory, size_t size) {
	size_t before = memory != NULL ? malloc_usable_size(memory) : 0;
	void *larger;

	if (memory != NULL && size <= before && size >= before / 2)
		return memory;
	larger = malloc(size > 0 ? size : 1);
	if (larger == NULL)
		return NULL;
	if (memory != NULL)
		memcpy(larger, memory, before < size ? before : size);
	secret_free(memory);
	return larger;
}

void __attribute__((noinline)) secret_stack_wipe(void) {
	unsigned char below[STACK_WIPED];

	explicit_bzero(below, sizeof(below));
}

/* libyaml calls its allocator by four function names. Definitions in the program precede the
 * library's, so that its buffers and scalars are wiped, too. */
void *yaml_malloc(size_t size);
void *yaml_realloc(void *memory, size_t size);
void yaml_free(void *memory);
void *yaml_strdup(const void *text);

void *yaml_malloc(size_t size) {
	return malloc(size > 0 ? size : 1);
}

void *yaml_realloc(void *memory, size_t size) {
	return secret_realloc(memory, size);
}

void yaml_free(void *memory) {
	secret_free(memory);
}

void *yaml_strdup(const void *text) {
	return text != NULL ? strdup(text) : NULL;
}
