/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether YAML is so plain that its lines alone show where values end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether each line is complete: quotes and brackets end on the line where they begin, and nothing
 * continues on the next one. The text has no anchors, aliases, tags, block scalars, directives,
 * document marks or tabs, and only ASCII. May be false for plain text, but is never true for other
 * text.
 */
bool plain_lines(const char *text, size_t size);
