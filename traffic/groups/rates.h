/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides rates of all service groups by the capacity of their channels. */
#pragma once

#include <stdint.h>

#include "model/service_group.h"

/* Capacity in bits per second of DOCSIS frames, of the channels in use. */
uint64_t rates_downstream_capacity(const struct service_group *sg);
uint64_t rates_upstream_capacity(const struct service_group *sg);

/*
 * Divides `rate`, bits per second, into `count` parts in proportion to `weights`; all weights 0: equal
 * parts. The parts add up to the rate, but each is at least 1 bit per second if its weight is not 0. Rate 0
 * (max) gives 0 for all.
 */
void rates_divide(uint64_t rate, const uint64_t *weights, unsigned count, uint64_t *parts);
