/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cable modems: which of them a DOCSIS frame is for, and whether its header is what the
 * configuration says. Decryption is in decrypt.h.
 */
#pragma once

#include <stdint.h>

#include <rte_common.h>

#include "core/targets.h"
#include "model/service_group.h"
#include "modems/key_store.h"
#include "proof/account.h"
#include "rphy/receiver.h"

#define SA_KEYS 2 /* generations of a security association's key */

struct modem_state {
	uint64_t mac; /* the six bytes, first one highest */
	/* SEC: a modem holds two generations of the key, one with an even and one with an odd sequence number. The
	 * toggle of a frame says which of the two decrypts it. */
	struct crypto_key keys[SA_KEYS];
	uint32_t since[SA_KEYS]; /* number of the change that brought the key */
	uint32_t first_flow;
	uint16_t said;
	uint8_t held; /* a bit for each of `keys` that is there */
	uint8_t present; /* the key of frames without a privacy header */
	uint8_t flow_count;
	bool encrypted;
	uint64_t channels[SG_MAX_CHANNELS / 64]; /* bits of the channels of its flows */
} __rte_cache_aligned;

/* What the header of a service flow's frames says. */
struct flow_state {
	uint32_t dsid;
	uint32_t stream;
	uint8_t ds; /* enum docsis_ds_ehdr */
	uint8_t priority;
};

struct modems {
	struct modem_state *all;
	uint32_t count;
	struct flow_state *flows; /* modem by modem */
	uint32_t *by_mac; /* index + 1 in a table of `slots`, 0 = free */
	uint32_t slots; /* a power of two */
	uint32_t max_pdu;
	struct key_store *store;
	struct stored_key **keys; /* taken there: SA_KEYS per modem */
	uint32_t since; /* number of the change that brought all of this */
	const struct modems
		*older; /* as they were before a change, for what is under way; or NULL */
};

/*
 * Makes the modems and their keys, which `store` has. The streams are those of `targets`. Returns
 * 0, or -1 after a message on stderr. To be freed by modems_free().
 */
int modems_create(struct modems *t, const struct service_group *sg, const struct targets *targets,
		  struct key_store *store);

void modems_free(struct modems *t);

/* A generation of a modem's key that arrives or expires. */
struct modem_rekey {
	uint32_t modem; /* index */
	uint8_t sequence;
	bool expires; /* else it arrives */
	struct crypto_key key;
	struct stored_key *stored;
};

/* Gets the schedule of a key that arrives, on the thread that makes changes. Returns whether there was memory. */
bool modem_rekey_create(struct modem_rekey *r, struct key_store *store, enum cipher cipher,
			const uint8_t *key, const uint8_t *iv);

/* Gives a modem the key that arrives with change `number`. It replaces the generation before the last, which `r` has
 * then, and its maker frees. */
void modems_rekey(struct modems *t, struct modem_rekey *r, uint32_t number);

/* Drops the key that expired with change `number`, unless a later one has taken its place. */
void modems_expire(struct modems *t, const struct modem_rekey *r, uint32_t number);

/* Whether one of them has this address, or had it before a change. */
bool modems_have(const struct modems *t, const uint8_t mac[6]);

enum modem_verdict {
	MODEM_TAKES,
	MODEM_IGNORES, /* a good frame that holds no packet */
	MODEM_REFUSES,
};

/*
 * Checks the MAC header of a frame of `size` bytes (0: as many as the header says), from HCS to DS
 * extended header, and fills in the frame's info. The mbuf has the header and the destination behind it
 * at least. What the modems do not take now may be good by what they were before a change. With
 * MODEM_REFUSES `why` is the first check that failed.
 */
enum modem_verdict modems_check(const struct modems *t, struct rte_mbuf *frame, uint32_t size,
				enum corruption *why);

/*
 * Of a frame that was taken and decrypted: finds its modem and flow among those of `t` alone, and fills in the frame's info as
 * modems_check() does, but for the key. Returns whether they would take it; if not, the info is undefined.
 */
bool modems_find(const struct modems *t, struct rte_mbuf *frame);
