/* SPDX-License-Identifier: BSD-3-Clause */
/* Defaults of service flow values that depend on other values. */
#pragma once

#include <stdint.h>

/* The default burst in bytes at `rate`, in bits per second. */
uint32_t default_burst(uint64_t rate);

/* The default minimum buffer in bytes of a flow with a buffer of `buffer` bytes. */
uint32_t default_min_buffer(uint32_t buffer);
