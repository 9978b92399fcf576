/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verifies a decrypted packet: rebuilds the frame that the generator made for its tag, applies the
 * rewrites of its service flow (proof/expected_rewrite.h) and compares all bytes after the
 * destination address.
 */
#pragma once

#include <stdint.h>

#include "core/generator.h"
#include "modems/modem.h"
#include "proof/account.h"
#include "rphy/receiver.h"

/* Prefetches what verify() needs for a decrypted packet of `size` bytes at `frame`, with or without CRC. Reads
 * nothing but the frame and its tag's flow, so the packet may be malformed. */
void verify_prefetch(const struct generator *g, const struct frame_info *info, const uint8_t *frame,
		     uint32_t size);

/* Checks the packet of `size` bytes without CRC at `frame`, received by a modem with `info`. On
 * CORRUPTION_NONE, `out` is complete. */
enum corruption verify(const struct generator *g, const struct frame_info *info,
		       const uint8_t *frame, uint32_t size, struct arrived *out);
