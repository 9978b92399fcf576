/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of service flows that depend on others, where the configuration says nothing. */
#pragma once

#include <stdint.h>

/* Bytes that may pass at once at `rate`, in bits per second. */
uint32_t default_burst(uint64_t rate);

/* Bytes that may wait while memory is short, of a flow with a buffer of so many. */
uint32_t default_min_buffer(uint32_t buffer);
