/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for all fuzz targets: libFuzzer's entry point, and a check that stops the run. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                  \
	do {                              \
		if (!(condition))         \
			__builtin_trap(); \
	} while (0)

/* Reads every byte, so that the sanitizer detects those that must not be read. */
static inline void touch(const uint8_t *bytes, size_t size) {
	const volatile uint8_t *read = bytes;

	for (size_t i = 0; i < size; i++)
		(void)read[i];
}
