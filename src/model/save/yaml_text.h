/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes JSON values as YAML for people. */
#pragma once

#include <jansson.h>

#include "model/save/secret_text.h"

/* Appends the value on one line, in flow style: {id: 1, channels: [1, 2]}. */
void yaml_text_flow(struct secret_text *t, const json_t *value);

/* Appends the value at the column `indent`, without a line break at its end. Maps and lists that do
 * not fit a line of 100 columns are in block style. */
void yaml_text_block(struct secret_text *t, const json_t *value, size_t indent);
