/* SPDX-License-Identifier: BSD-3-Clause */
/* How many huge pages this process may have: of those that are free, as many as its container is allowed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * MB of pages of `page_mb`, 2 or 1024, by the files below `root` ("" is this machine). The limit is that of the control
 * group at the root of what is mounted, which in a container is its own: version 2 or 1.
 */
uint64_t huge_pages_free_mb(const char *root, unsigned page_mb);

/* Whether there are `mb` MB of one size. */
bool huge_pages_enough(const char *root, unsigned mb);
