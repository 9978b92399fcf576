/* SPDX-License-Identifier: BSD-3-Clause */
/* The tag at the end of a captured packet's payload. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/ip.h"

/* Bytes of the upper-layer header, which the tag must not overwrite; 0 if the header is malformed. */
size_t end_tag_header(const struct frame_fields *f);

/* Even offset of the tag from the upper-layer header of `header` bytes; 0 if the packet is too
 * short for a tag. */
size_t end_tag_offset(const struct frame_fields *f, size_t header);

/* Finds the tag in a frame of `size` bytes; reads nothing but the frame. Returns its offset, or 0
 * if the frame cannot hold a tag. */
size_t end_tag_find(const uint8_t *frame, size_t size);
