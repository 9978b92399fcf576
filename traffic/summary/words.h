/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and counts as text for people. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WORDS_SIZE 32 /* of any text */

/* Write the text to `out` and return it: 27208797 as "27,208,797"; bits per second as "2.30 Gbps", below 0.1 Gbps as
 * "75.00 Mbps". */
const char *words_count(uint64_t count, char out[WORDS_SIZE]);
const char *words_rate(double bps, char out[WORDS_SIZE]);
