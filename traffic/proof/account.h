/* SPDX-License-Identifier: BSD-3-Clause */
/* Account of the received downstream: counts each packet once, under one name. */
#pragma once

#include <stdint.h>

#include "proof/evidence.h"
#include "proof/proof.h"

enum corruption {
#define CORRUPTION(enumerator, name, meaning) CORRUPTION_##enumerator,
#include "proof/corruption.def"
#undef CORRUPTION
	CORRUPTIONS,
	CORRUPTION_NONE = CORRUPTIONS,
	/* Not a corruption: the frame is encrypted with a key generation that the modem does not have. */
	CORRUPTION_UNDECIPHERABLE,
};

enum unexpected {
#define UNEXPECTED(enumerator, name, meaning) UNEXPECTED_##enumerator,
#include "proof/unexpected.def"
#undef UNEXPECTED
	UNEXPECTEDS,
};

enum violation {
#define VIOLATION(enumerator, name, meaning) VIOLATION_##enumerator,
#include "proof/violation.def"
#undef VIOLATION
	VIOLATIONS,
};

enum format {
#define FORMAT(enumerator, name, meaning) FORMAT_##enumerator,
#include "proof/format.def"
#undef FORMAT
	FORMATS,
};

extern const char *const format_names[FORMATS];
extern const char *const corruption_names[CORRUPTIONS];
extern const char *const unexpected_names[UNEXPECTEDS];
extern const char *const violation_names[VIOLATIONS];

struct account {
	struct proof proof;
	struct evidence *evidence; /* of corrupted and unexpected frames, not owned; NULL: none */
	uint64_t counted; /* packets whose header only was checked */
	uint64_t counted_bytes; /* Ethernet frames without CRC */
	uint64_t corrupted[CORRUPTIONS];
	/* frames encrypted with a key generation that their modem does not have */
	uint64_t undecipherable;
	uint64_t unexpected[UNEXPECTEDS];
	uint64_t violations[VIOLATIONS];
	uint64_t messages; /* valid DOCSIS frames without a packet, sent by a scheduler */
	uint64_t formats[FORMATS]; /* by valid packets in any order, and by DEPI frames */
	uint64_t depi_frames;
	uint64_t depi_bytes;
};

/* Arguments and result are those of proof_create(). The caller frees it with account_free(). */
int account_create(struct account *a, uint32_t streams, uint64_t tsc_hz, bool latency);

void account_free(struct account *a);

/* Restarts: all counts are 0 and all streams begin with 0. */
void account_restart(struct account *a);

/* Counts a packet that passed every check but order, or that is only counted. Returns whether it is
 * proven. */
bool account_packet(struct account *a, const struct arrived *packet, uint64_t now);

/* Counts a DOCSIS frame as corrupted and keeps it as evidence. */
void account_corrupt(struct account *a, enum corruption why, const struct rte_mbuf *frame);

/* Counts a DOCSIS frame that is not proven for the reason `why`, which is not CORRUPTION_NONE. */
void account_refuse(struct account *a, enum corruption why, const struct rte_mbuf *frame);

/* Sum of `corrupted`. */
uint64_t account_corrupted(const struct account *a);
