/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MAC management messages (MULPI 3.1, 6.4.1): what is before the body of each, and the DOCSIS
 * frame around it.
 *
 *     +----------+----------+--------+------+------+---------+---------+------+-----------+------
 *     | DA (6)   | SA (6)   | length | DSAP | SSAP | control | version | type | multipart | body
 *     |          |          | (2)    | 0    | 0    | 3       |         |      |           |
 *     +----------+----------+--------+------+------+---------+---------+------+-----------+------
 *      length counts from DSAP to the end of the body
 *
 * A message stands so in a segment of a MAP pseudowire. The downstream session of a channel has
 * it as a frame: a MAC header of 6 bytes before it, and the Ethernet CRC behind it.
 *
 *     C200 0038 BA43  01E02F000001 AC1F6B1BAAC1 0026 0000 03 01 03 00  .. a MAP ..  1AC697BB
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define MANAGEMENT_HEADER 20 /* bytes of a message before its body */
#define MANAGEMENT_LENGTH_FROM 14 /* DA, SA and length itself, which the length does not count */
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

/* Where MAPs and UCDs go to: all modems' multicast address. */
extern const uint8_t management_all_modems[6];

enum management_verdict {
	MANAGEMENT_OK,
	MANAGEMENT_TRUNCATED, /* shorter than a header, or than the lengths in it say */
	MANAGEMENT_TRAILING, /* longer than they say */
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
	uint8_t multipart; /* fragments(4) | number of this one(4), both less one; 0 with MAP and UCD */
	const uint8_t *body;
	size_t body_size;
};

/*
 * These take apart what begins at the DA and ends with the body, and a whole DOCSIS frame. On
 * MANAGEMENT_OK `out` is complete, its body lies inside the bytes given, and the functions below
 * write the same bytes of it; otherwise it is not to be used. `size` is exactly that of the
 * message, as a PSP segment has it.
 */
enum management_verdict management_read(const uint8_t *message, size_t size,
					struct management *out);
enum management_verdict management_frame_read(const uint8_t *frame, size_t size,
					      struct management *out);

/*
 * These write a message, and a message in a DOCSIS frame with HCS and CRC, into the `size` bytes
 * at `out`, and return how many that took. The body may lie anywhere, in `out` too: what is behind
 * MANAGEMENT_HEADER, in a frame behind that and DOCSIS_MAC_HEADER, stands in its place. They return
 * 0, with nothing written, where `size` does not suffice or the body has more than
 * MANAGEMENT_BODY_MAX bytes.
 */
size_t management_write(const struct management *m, uint8_t *out, size_t size);
size_t management_frame_write(const struct management *m, uint8_t *out, size_t size);

/*
 * Makes the frame of a message that stands in it already: `frame` has room for
 * MANAGEMENT_FRAME_EXTRA more bytes than `message_size`, and the message begins behind
 * DOCSIS_MAC_HEADER. Returns the bytes of the frame. So one copy of a MAP serves both
 * pseudowires. `message_size` is at most MANAGEMENT_MESSAGE_MAX.
 */
size_t management_frame_close(uint8_t *frame, size_t message_size);
