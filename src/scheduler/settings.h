/* SPDX-License-Identifier: BSD-3-Clause */
/* What a scheduler is told, judged before it is believed. Each returns NULL or says what is
 * wrong. */
#pragma once

#include "scheduler/internal.h"

const char *settings_rate(uint64_t rate); /* 0 is none */
const char *settings_channel(const struct scheduler_channel *c);
const char *settings_group(const struct scheduler_group *g, size_t channels);
const char *settings_modem(const struct scheduler_modem *m);
const char *settings_flow(const struct scheduler_flow *f, size_t groups, size_t modems);
const char *settings_all(const struct scheduler_config *c);

/* What time at one cost of a byte is at another; 0 where there was none. */
int64_t settings_rescale(int64_t ticks, uint64_t old_cost, uint64_t new_cost);

/* A bucket for the limit that holds what the one before held, as far as it may; full where there
 * was none. */
void settings_bucket(struct bucket *b, uint64_t rate, uint64_t burst, int64_t now);
