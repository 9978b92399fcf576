/* SPDX-License-Identifier: BSD-3-Clause */
/* The huge pages that this process can use: free ones, within the limit of its container. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* MB in free pages of `page_mb` (2 or 1024), read below `root` ("": this machine). The limit is
 * that of the root of the mounted control group, version 2 or 1; in a container this is its own. */
uint64_t huge_pages_free_mb(const char *root, unsigned page_mb);

/* Whether `mb` MB are free in pages of one size. */
bool huge_pages_enough(const char *root, unsigned mb);
