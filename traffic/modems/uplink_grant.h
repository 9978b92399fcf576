/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The size of grants: 2 kB, or less at rates so low that the CMTS' reassembly timer would expire before a
 * modem's later grants complete a frame. At the lowest rates each grant holds one whole packet.
 *
 *     round    | flow 1 | flow 2 | flow 3 | .. | flow n | flow 1 | ..
 *     frame         ####                                  ###        begins, and is complete a round later
 */
#pragma once

#include <stdint.h>

#include "core/mix.h"
#include "model/service_group.h"

#define UPLINK_GRANT 2048 /* bytes of burst payload */
#define UPLINK_GRANT_MIN 256
#define UPLINK_GRANT_MAX 4096
/* Maximum bytes per burst of scheduled modems. The CMTS does not grant more (US_GRANT_BYTES). */
#define UPLINK_GRANT_LONGEST 60000

/* Maximum bytes granted to all modems between the first and the last byte of a frame or fragmented
 * unit, with grants of `grant` bytes. */
uint64_t uplink_grant_span(const struct service_group *sg, const struct mix *mix, uint32_t grant);

/* The lowest rate, in bits per second of Ethernet frames without CRC, at which this takes at most
 * half of upstream.frame_timeout. Below it, grants must hold whole packets. */
uint64_t uplink_grant_lowest(const struct service_group *sg, const struct mix *mix, uint32_t grant);

/* The largest grant, UPLINK_GRANT_MIN..UPLINK_GRANT bytes, for which `rate` is high enough; the
 * smallest if none is. Rate 0: max. */
uint32_t uplink_grant_size(const struct service_group *sg, const struct mix *mix, uint64_t rate);
