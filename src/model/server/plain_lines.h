/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether YAML is so plain that its indentation alone shows where the items of a list begin and end;
 * see model/server/parts.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether quotes and brackets end on the line where they begin. Only a plain scalar may then continue on
 * further lines, which are indented deeper. The text has only printable ASCII and newlines, and no
 * anchors, aliases, tags, block scalars, directives or document marks. May be false for such a text,
 * but is never true for any other YAML.
 */
bool plain_lines(const char *text, size_t size);
