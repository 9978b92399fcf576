/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the counters, and counts received frames by outcome. */
#include "proof/account.h"

const char *const corruption_names[CORRUPTIONS] = {
#define CORRUPTION(enumerator, name, meaning) name,
#include "proof/corruption.def"
#undef CORRUPTION
};

const char *const unexpected_names[UNEXPECTEDS] = {
#define UNEXPECTED(enumerator, name, meaning) name,
#include "proof/unexpected.def"
#undef UNEXPECTED
};

const char *const violation_names[VIOLATIONS] = {
#define VIOLATION(enumerator, name, meaning) name,
#include "proof/violation.def"
#undef VIOLATION
};

const char *const format_names[FORMATS] = {
#define FORMAT(enumerator, name, meaning) name,
#include "proof/format.def"
#undef FORMAT
};

int account_create(struct account *a, uint32_t streams, uint64_t tsc_hz, bool latency) {
	*a = (struct account){0};
	return proof_create(&a->proof, streams, tsc_hz, latency);
}

void account_restart(struct account *a) {
	struct proof proof = a->proof;

	*a = (struct account){.proof = proof, .evidence = a->evidence};
	proof_restart(&a->proof);
}

void account_free(struct account *a) {
	proof_free(&a->proof);
}

bool account_packet(struct account *a, const struct arrived *packet, uint64_t now) {
	if (packet->counted) {
		a->counted++;
		a->counted_bytes += packet->bytes;
		a->proof.last_tsc = now;
		return false;
	}
	switch (proof_arrive(&a->proof, packet, now)) {
	case ARRIVAL_TOO_OLD: a->unexpected[UNEXPECTED_TOO_OLD]++; return false;
	case ARRIVAL_DUPLICATE: return false;
	default: return true;
	}
}

void account_corrupt(struct account *a, enum corruption why, const struct rte_mbuf *frame) {
	a->corrupted[why]++;
	evidence_add_mbuf(a->evidence, EVIDENCE_DOCSIS, corruption_names[why], frame);
}

void account_refuse(struct account *a, enum corruption why, const struct rte_mbuf *frame) {
	if (why == CORRUPTION_UNDECIPHERABLE)
		a->undecipherable++;
	else
		account_corrupt(a, why, frame);
}

uint64_t account_corrupted(const struct account *a) {
	uint64_t sum = 0;

	for (int i = 0; i < CORRUPTIONS; i++)
		sum += a->corrupted[i];
	return sum;
}
