/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether YAML is so plain that its lines alone show where values end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether each line is complete: quotes and brackets end on their line, and no value continues on
 * the next one. The text has only ASCII, and no anchors, aliases, tags, block scalars, directives,
 * document marks or tabs. May be false for a plain text, but is never true for any other.
 */
bool plain_lines(const char *text, size_t size);
