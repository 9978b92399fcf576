/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `receive`: bursts from the R-PHY port. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct us_receive {
	bool closed; /* nothing more is received */
	uint32_t most_queued; /* buffers in the queues, from where on nothing is received */
	uint64_t empty_at; /* ns: what had come to the port by then was received */
	/* of a ring: when it was asked, and how often the port behind it had been found empty by then */
	uint64_t asked_at;
	uint64_t asked;
	uint64_t passed_until; /* ns: what came before has come as far as what waits for it */
};
