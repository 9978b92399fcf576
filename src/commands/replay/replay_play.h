/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture played into a server: its packets and the changes at their times, and what comes out. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "commands/replay/replay_changes.h"
#include "commands/replay/replay_wires.h"
#include "server/server.h"

/* Zeroed, but for `wires.out`, `from`, `in`, its name, and the changes. */
struct replay {
	struct server server;
	struct server_rounds rounds;
	struct replay_wires wires;
	struct replay_changes *changes;
	enum replay_end from; /* where the capture comes in */
	pcap_t *in;
	const char *name; /* of the capture */
	struct capture_packet packet; /* the next one, where there is one */
	bool more; /* there is one */
	bool failed; /* broken off after a message */
	uint64_t base; /* ns, of the capture's first packet */
	uint64_t now; /* ns since then */
	unsigned waiting; /* packets put on the wire at this time */
	uint64_t missed; /* packets that found no room on it, as nobody received */
	uint64_t steps; /* times that the workers had rounds until nothing moved */
};

/* All of the capture and all changes, on a server in service. Returns 0, or -1 after a message when it broke
 * off. */
int replay_play(struct replay *r);

/* What is held after the last packet comes out in its own time. */
void replay_play_out(struct replay *r);
