/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How large grants are: 2 kB, and less where the rate is so low that what a modem begins in one grant
 * would not be complete, some turns later, before the CMTS gives it up.
 *
 *     turn     | flow 1 | flow 2 | flow 3 | .. | flow n | flow 1 | ..
 *     frame         ####                                  ###        begun, and complete a turn later
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mix.h"
#include "model/service_group.h"

#define UPLINK_GRANT 2048 /* bytes of burst payload */
#define UPLINK_GRANT_MIN 256
#define UPLINK_GRANT_MAX 4096

/*
 * The bytes that all modems together are granted at most between the first byte and the last one of a
 * frame or fragmented unit, when grants have `grant` bytes.
 */
uint64_t uplink_grant_span(const struct service_group *sg, const struct mix *mix, uint32_t grant);

/*
 * The largest grant, UPLINK_GRANT_MIN..UPLINK_GRANT bytes, with which that takes no more than three
 * quarters of upstream.frame_timeout. `rate` is in bits of Ethernet frames without CRC per second; 0 =
 * max. Returns 0 where there is none, and then sets `smallest` to the lowest rate that has one.
 */
uint32_t uplink_grant_size(const struct service_group *sg, const struct mix *mix, uint64_t rate,
			   uint64_t *smallest);

/* The same; where there is none it prints that, with the lowest rate, on stderr. */
uint32_t uplink_grant_choose(const struct service_group *sg, const struct mix *mix, uint64_t rate);
