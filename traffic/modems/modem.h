/* SPDX-License-Identifier: BSD-3-Clause */
/* The cable modems: finds the modem of a DOCSIS frame and checks its header against the
 * configuration. decrypt.h decrypts. */
#pragma once

#include <stdint.h>

#include <rte_common.h>

#include "core/targets.h"
#include "model/service_group.h"
#include "modems/key_store.h"
#include "proof/account.h"
#include "rphy/receiver.h"

#define SA_KEYS 2 /* key generations of a security association */

struct modem_state {
	uint64_t mac; /* MAC address, first byte highest */
	/* SEC: a modem has two generations of the key, one with an even and one with an odd sequence
	 * number. The toggle bit of a frame selects one. */
	struct crypto_key keys[SA_KEYS];
	uint32_t since[SA_KEYS]; /* number of the change that set the key */
	uint32_t first_flow; /* index in modems.flows */
	uint16_t said;
	uint8_t valid; /* bitmap of the valid `keys` */
	uint8_t present; /* index of the key for frames without a privacy header */
	uint8_t flow_count;
	bool encrypted;
	uint64_t channels[SG_MAX_CHANNELS / 64]; /* bitmap of the channels of its flows */
} __rte_cache_aligned;

/* Expected header fields of a service flow's frames. */
struct flow_state {
	uint32_t dsid;
	uint32_t stream;
	uint8_t ds; /* enum docsis_ds_ehdr */
	uint8_t priority;
};

struct modems {
	struct modem_state *all;
	uint32_t count;
	struct flow_state *flows; /* ordered by modem */
	uint32_t *by_mac; /* hash table of `slots`: index + 1; 0: free */
	uint32_t slots; /* a power of two */
	uint32_t max_pdu;
	struct key_store *store;
	struct stored_key **keys; /* from `store`: SA_KEYS per modem */
	uint32_t since; /* number of the change that created this generation */
	const struct modems *older; /* the generation before, for frames under way; or NULL */
};

/* Creates the modems with keys from `store`. The streams are those of `targets`. `store` must outlive
 * them. Returns 0, or -1 after a message on stderr; `t` is then empty. The caller frees it with modems_free(). */
int modems_create(struct modems *t, const struct service_group *sg, const struct targets *targets,
		  struct key_store *store);

void modems_free(struct modems *t);

/* A key generation of a modem that arrives or expires. */
struct modem_rekey {
	uint32_t modem; /* index */
	uint8_t sequence;
	bool expires; /* otherwise it arrives */
	struct crypto_key key;
	struct stored_key *stored;
};

/* Gets the schedule of a key that arrives, on the thread that prepares changes. `r->sequence` must be set.
 * Returns false if memory or crypto sessions are short. */
bool modem_rekey_create(struct modem_rekey *r, struct key_store *store, enum cipher cipher,
			const uint8_t *key, const uint8_t *iv);

/* Sets the key of a modem that arrives with change `number`. It replaces the key before the
 * previous one, which moves to `r->stored` (or NULL) for the caller to return with key_store_put(). */
void modems_rekey(struct modems *t, struct modem_rekey *r, uint32_t number);

/* Removes the key that expired with change `number`, unless a later change has replaced it. */
void modems_expire(struct modems *t, const struct modem_rekey *r, uint32_t number);

/* Whether a modem has this address, or had it before a change. */
bool modems_have(const struct modems *t, const uint8_t mac[6]);

enum modem_verdict {
	MODEM_ACCEPTS,
	MODEM_IGNORES, /* a valid frame without a packet */
	MODEM_REFUSES,
};

/*
 * Checks the MAC header of a frame of `size` bytes (0: the length in the header), from HCS to DS extended
 * header, and fills in the frame's info. The mbuf must have the header and the destination address after
 * it. If the current modems refuse the frame, checks it with the generations before. With MODEM_REFUSES,
 * `why` is the first failed check.
 */
enum modem_verdict modems_check(const struct modems *t, struct rte_mbuf *frame, uint32_t size,
				enum corruption *why);

/* Prefetches the modem to which a received frame is addressed, for modems_check(). Reads only bytes that the mbuf
 * has, so the frame may be malformed. */
void modems_prefetch(const struct modems *t, const struct rte_mbuf *frame);

/*
 * For a frame that was accepted and decrypted: finds its modem and flow in `t` only, and fills in the
 * frame's info as modems_check() does, except for the key. Returns whether the modem accepts the frame; if
 * not, the info is undefined.
 */
bool modems_find(const struct modems *t, struct rte_mbuf *frame);
