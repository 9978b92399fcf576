/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of all service groups together, divided by what the channels of each carry. */
#pragma once

#include <stdint.h>

#include "model/service_group.h"

/* Bits per second of DOCSIS frames that the channels carry, as far as somebody uses them. */
uint64_t rates_downstream_capacity(const struct service_group *sg);
uint64_t rates_upstream_capacity(const struct service_group *sg);

/*
 * Divides `rate`, bits per second, into `count` parts like `weights`; all 0 are all alike. The parts add
 * up to the rate, but each is at least 1 bit per second where its weight is not 0. 0, as fast as it goes,
 * is 0 for all.
 */
void rates_divide(uint64_t rate, const uint64_t *weights, unsigned count, uint64_t *parts);
