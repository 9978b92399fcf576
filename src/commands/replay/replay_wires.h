/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wires of a replay: a pair of ports joined by rings for each port of the server. What is sent
 * at our end comes in there; what the server sends is written as a capture.
 */
#pragma once

#include "capture/capture.h"
#include "server/server.h"

enum replay_end {
	REPLAY_NETWORK,
	REPLAY_RPHY,
	REPLAY_CONTROL, /* there only when its capture is wanted */
	REPLAY_ENDS,
};

/* Zeroed, `out` filled in. */
struct replay_wires {
	const char *out[REPLAY_ENDS]; /* captures to be written; NULL: none; they must live on */
	struct capture_writer writers[REPLAY_ENDS];
	uint16_t ports[REPLAY_ENDS]; /* our ends */
	uint8_t frame[CAPTURE_FRAME_MAX]; /* an outgoing one, gathered */
};

/* Begins the captures. Returns 0, or -1 after a message. */
int replay_wires_create(struct replay_wires *w);

/* Makes the ports, and the zeroed server on their other ends. Returns 0, or -1 after a message: then only
 * the server has ports, if any. */
int replay_wires_open(struct replay_wires *w, struct server *s, const struct server_config *config);

enum replay_sent {
	REPLAY_SENT,
	REPLAY_WIRE_FULL, /* as nobody takes what was sent before */
	REPLAY_NO_BUFFER,
};

/* Puts a packet on the wire, in buffers of `pool`. */
enum replay_sent replay_wires_send(struct replay_wires *w, enum replay_end end,
				   struct rte_mempool *pool, const struct capture_packet *p);

/* Writes all that the server has sent, as of `time` in ns. */
void replay_wires_record(struct replay_wires *w, uint64_t time);

/* Closes our ends of what replay_wires_open() made; the others are the server's. */
void replay_wires_close(struct replay_wires *w);

/* Ends the captures; harmless when none was begun. Returns 0, or -1 after a message. */
int replay_wires_finish(struct replay_wires *w);
