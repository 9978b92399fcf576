/* SPDX-License-Identifier: BSD-3-Clause */
/* Validation of settings. Each returns NULL or a line that says what is wrong. */
#pragma once

#include "scheduler/internal.h"

const char *settings_rate(uint64_t rate); /* 0: no rate */
const char *settings_channel(const struct scheduler_channel *c);
const char *settings_group(const struct scheduler_group *g, size_t channels);
const char *settings_modem(const struct scheduler_modem *m);
const char *settings_flow(const struct scheduler_flow *f, size_t groups, size_t modems);
const char *settings_all(const struct scheduler_config *c);

/* Converts ticks at the old cost per byte to ticks at the new one; 0 if there was no old cost. */
int64_t settings_rescale(int64_t ticks, uint64_t old_cost, uint64_t new_cost);

/* Sets the bucket's limit. It keeps its tokens up to the new depth, or is full if it had no
 * limit. */
void settings_bucket(struct bucket *b, uint64_t rate, uint64_t burst, int64_t now);
