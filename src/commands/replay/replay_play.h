/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays a capture and changes into a server at their times, and records its output. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "commands/replay/replay_changes.h"
#include "commands/replay/replay_wires.h"
#include "server/server.h"

/* Zero it first, then set `wires.out`, `from`, `in`, `name` and `changes`. */
struct replay {
	struct server server;
	struct server_rounds rounds;
	struct replay_wires wires;
	struct replay_changes *changes;
	enum replay_end from; /* port that receives the capture */
	pcap_t *in;
	const char *name; /* of the capture */
	struct capture_packet packet; /* the next packet, if `more` */
	bool more; /* there is a next packet */
	bool failed; /* stopped after a message */
	uint64_t base; /* ns, time of the first packet */
	uint64_t now; /* ns since `base` */
	unsigned waiting; /* packets sent at the current time */
	uint64_t missed; /* packets dropped because the server's port was full */
	uint64_t steps; /* times that the workers ran until no packet moved */
};

/* Plays the whole capture and all changes into a running server. Returns 0, or -1 after a message if it
 * stopped early. */
int replay_play(struct replay *r);

/* Runs the server after the last packet until pending packets have left. */
void replay_play_out(struct replay *r);
