/* SPDX-License-Identifier: BSD-3-Clause */
/* The tag of a packet whose payload was there before: it stands at the payload's end. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/ip.h"

/* Bytes of the upper header, where the tag must not be; 0 where it is malformed. */
size_t end_tag_header(const struct frame_fields *f);

/* Offset of the tag from the upper header, which has `header` bytes; an even number, 0 where there is no room. */
size_t end_tag_offset(const struct frame_fields *f, size_t header);

/*
 * Finds the tag in a frame of `size` bytes, from nothing but the frame. Returns its offset, or 0
 * where the frame cannot hold one.
 */
size_t end_tag_find(const uint8_t *frame, size_t size);
