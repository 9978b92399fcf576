/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects each port of the server to a port of the replay by a pair of rings. Packets sent on our
 * port arrive at the server; packets that the server sends are written to a capture. */
#pragma once

#include "capture/capture.h"
#include "server/server.h"

enum replay_end {
	REPLAY_NETWORK,
	REPLAY_RPHY,
	REPLAY_CONTROL, /* only if its capture is requested */
	REPLAY_ENDS,
};

/* Zero it first, then set `out`. */
struct replay_wires {
	const char *out[REPLAY_ENDS]; /* captures to write; NULL: none. They must stay valid */
	struct capture_writer writers[REPLAY_ENDS];
	uint16_t ports[REPLAY_ENDS]; /* our ports */
	uint8_t frame[CAPTURE_FRAME_MAX]; /* a linear copy of a sent frame */
};

/* Creates the captures. Returns 0, or -1 after a message. */
int replay_wires_create(struct replay_wires *w);

/* Opens the ports, and creates the server (zeroed) on their other ends. Returns 0, or -1 after a message;
 * then at most the server's ports remain. */
int replay_wires_open(struct replay_wires *w, struct server *s, const struct server_config *config);

enum replay_sent {
	REPLAY_SENT,
	REPLAY_WIRE_FULL, /* the server did not receive earlier packets */
	REPLAY_NO_BUFFER,
};

/* Sends a packet in buffers of `pool`. */
enum replay_sent replay_wires_send(struct replay_wires *w, enum replay_end end,
				   struct rte_mempool *pool, const struct capture_packet *p);

/* Writes all packets that the server sent, with the time `time` in ns. */
void replay_wires_record(struct replay_wires *w, uint64_t time);

/* Closes our ports; the server closes its own. */
void replay_wires_close(struct replay_wires *w);

/* Closes the captures; does nothing for those not created. Returns 0, or -1 after a message. */
int replay_wires_finish(struct replay_wires *w);
