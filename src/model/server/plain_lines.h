/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether YAML is written so plainly that lines alone tell where things end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether each of the lines is complete in itself: quotes and brackets that begin there end there, and nothing begins
 * that may go on: no anchors, aliases, tags, block scalars, directives, documents, tabs, and nothing but ASCII. A false
 * answer may be wrong, a true one is not.
 */
bool plain_lines(const char *text, size_t size);
