/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether YAML is so plain that its indentation alone shows where the items of a list begin and end;
 * see model/server/parts.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * True only if the text is printable ASCII with newlines, quotes and brackets end on the line where they begin,
 * and there are no anchors, aliases, tags, block scalars, directives or document marks. Then only a plain scalar
 * can continue on further lines, and YAML demands that these are indented deeper. May be false for such a text,
 * too, which the caller then reads as a whole.
 */
bool plain_lines(const char *text, size_t size);
