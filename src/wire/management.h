/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MAC management messages (MULPI 3.1, 6.4.1): the header before the body, and the DOCSIS frame
 * around the message.
 *
 *     +----------+----------+--------+------+------+---------+---------+------+-----------+------
 *     | DA (6)   | SA (6)   | length | DSAP | SSAP | control | version | type | multipart | body
 *     |          |          | (2)    | 0    | 0    | 3       |         |      |           |
 *     +----------+----------+--------+------+------+---------+---------+------+-----------+------
 *      the length is from DSAP to the end of the body
 *
 * A segment of a MAP pseudowire contains the message alone. The downstream session of a channel
 * carries it as a frame: a MAC header of 6 bytes before it, and the Ethernet CRC behind it.
 *
 *     C200 0038 BA43  01E02F000001 AC1F6B1BAAC1 0026 0000 03 01 03 00  .. a MAP ..  1AC697BB
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define MANAGEMENT_HEADER 20 /* bytes of a message before its body */
/* DA, SA and the length field, which the length does not include */
#define MANAGEMENT_LENGTH_FROM 14
#define MANAGEMENT_FRAME_EXTRA (DOCSIS_MAC_HEADER + ETHERNET_CRC_SIZE)
#define MANAGEMENT_BODY_MAX (DOCSIS_PDU_MAX - MANAGEMENT_HEADER - ETHERNET_CRC_SIZE)
#define MANAGEMENT_MESSAGE_MAX (MANAGEMENT_HEADER + MANAGEMENT_BODY_MAX)
#define MANAGEMENT_FRAME_MAX (MANAGEMENT_MESSAGE_MAX + MANAGEMENT_FRAME_EXTRA)

#define MANAGEMENT_SYNC 1
#define MANAGEMENT_UCD 2
#define MANAGEMENT_MAP 3
#define MANAGEMENT_UCD_TYPE_29 29
#define MANAGEMENT_UCD_TYPE_35 35
#define MANAGEMENT_UCD_TYPE_51 51

/* The destination of MAPs and UCDs: the multicast address of all modems. */
extern const uint8_t management_all_modems[6];

enum management_verdict {
	MANAGEMENT_OK,
	MANAGEMENT_TRUNCATED, /* shorter than a header, or than its length fields */
	MANAGEMENT_TRAILING, /* longer than its length fields */
	MANAGEMENT_TOO_LONG, /* a body of more than MANAGEMENT_BODY_MAX bytes */
	MANAGEMENT_BAD_LLC, /* DSAP, SSAP and control are not 0, 0 and 3 */
	MANAGEMENT_NO_FRAME, /* another kind of DOCSIS frame, or one with an extended header */
	MANAGEMENT_BAD_HCS,
	MANAGEMENT_BAD_CRC,
	MANAGEMENT_VERDICTS,
};

struct management {
	uint8_t da[6], sa[6];
	uint8_t version;
	uint8_t type; /* MANAGEMENT_MAP and the others */
	/* fragments(4) | number of this fragment(4), both less one; 0 with MAP and UCD */
	uint8_t multipart;
	const uint8_t *body;
	size_t body_size;
};

/*
 * management_read() parses a message from the DA to the end of its body, management_frame_read() a
 * whole DOCSIS frame.
 *
 * On MANAGEMENT_OK `out` is complete, its body points into the input, and the functions below write
 * the same bytes; otherwise `out` is invalid. `size` is exactly that of the message, as in a PSP
 * segment.
 */
enum management_verdict management_read(const uint8_t *message, size_t size,
					struct management *out);
enum management_verdict management_frame_read(const uint8_t *frame, size_t size,
					      struct management *out);

/*
 * management_write() writes a message, management_frame_write() a message in a DOCSIS frame with
 * HCS and CRC. They write up to `size` bytes at `out` and return how many.
 *
 * The body may be anywhere, also in its final position in `out`: behind MANAGEMENT_HEADER, in a
 * frame behind DOCSIS_MAC_HEADER and MANAGEMENT_HEADER. Return 0 and write nothing if `size` is too
 * small or the body has more than MANAGEMENT_BODY_MAX bytes.
 */
size_t management_write(const struct management *m, uint8_t *out, size_t size);
size_t management_frame_write(const struct management *m, uint8_t *out, size_t size);

/*
 * Completes the frame of a message that is already in it, behind DOCSIS_MAC_HEADER, so that one
 * copy of a MAP serves both pseudowires.
 *
 * `frame` has MANAGEMENT_FRAME_EXTRA bytes more than `message_size`, which is at most
 * MANAGEMENT_MESSAGE_MAX. Returns the size of the frame.
 */
size_t management_frame_close(uint8_t *frame, size_t message_size);
