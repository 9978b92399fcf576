/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How large grants are: 2 kB, and less where the rate is so low that what a modem begins in one grant
 * would not be complete, some turns later, before the CMTS gives it up. At the lowest rates each grant
 * holds one packet, whole.
 *
 *     turn     | flow 1 | flow 2 | flow 3 | .. | flow n | flow 1 | ..
 *     frame         ####                                  ###        begun, and complete a turn later
 */
#pragma once

#include <stdint.h>

#include "core/mix.h"
#include "model/service_group.h"

#define UPLINK_GRANT 2048 /* bytes of burst payload */
#define UPLINK_GRANT_MIN 256
#define UPLINK_GRANT_MAX 4096
/* Where modems wait for their grants: bytes in one burst. The CMTS grants no more (US_GRANT_BYTES). */
#define UPLINK_GRANT_LONGEST 60000

/*
 * The bytes that all modems together are granted at most between the first byte and the last one of a
 * frame or fragmented unit, when grants have `grant` bytes.
 */
uint64_t uplink_grant_span(const struct service_group *sg, const struct mix *mix, uint32_t grant);

/*
 * The lowest rate, bits of Ethernet frames without CRC per second, at which that takes no more than half
 * of upstream.frame_timeout. Below it, grants must hold whole packets.
 */
uint64_t uplink_grant_lowest(const struct service_group *sg, const struct mix *mix, uint32_t grant);

/*
 * The largest grant, UPLINK_GRANT_MIN..UPLINK_GRANT bytes, for which `rate` is high enough; where there is
 * none, the smallest. 0 = max.
 */
uint32_t uplink_grant_size(const struct service_group *sg, const struct mix *mix, uint64_t rate);
