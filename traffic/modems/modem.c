/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks MAC headers against the configuration of each modem (MULPI, SEC). */
#include "modems/modem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proof/prefetch.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define ETHERNET_MIN 14
#define MAC_SIZE 6
#define KEY_SEQUENCE_MASK 0x0f

static uint64_t mac_key(const uint8_t *mac) {
	return (uint64_t)load_be16(mac) << 32 | load_be32(mac + 2);
}

static uint32_t mac_hash(const struct modems *t, uint64_t mac) {
	return (uint32_t)((mac * 0x9e3779b97f4a7c15ull) >> 32) & (t->slots - 1);
}

static uint32_t mac_slot(const struct modems *t, uint64_t mac) {
	uint32_t slot = mac_hash(t, mac);

	while (t->by_mac[slot] != 0 && t->all[t->by_mac[slot] - 1].mac != mac)
		slot = (slot + 1) & (t->slots - 1);
	return slot;
}

/* MULPI: frames of a flow with a DSID have a sequence number; all frames have their priority. */
static uint8_t expected_ehdr(const struct service_flow *f) {
	return f->has_dsid ? DS_EHDR_SEQUENCE : DS_EHDR_PRIORITY;
}

static void flows_fill(struct modems *t, const struct modem *m, uint32_t first,
		       const struct targets *targets, uint32_t index) {
	for (uint32_t f = 0; f < m->service_flow_count; f++) {
		const struct service_flow *flow = &m->service_flows[f];

		t->flows[first + f] = (struct flow_state){
			.dsid = flow->dsid,
			.stream = targets_stream(targets, index, f),
			.ds = expected_ehdr(flow),
			.priority = flow->priority,
		};
	}
}

static struct crypto_key key_make(const struct stored_key *stored, enum cipher cipher,
				  const uint8_t *iv, uint8_t sequence) {
	struct crypto_key key = {
		.schedule = stored->schedule,
		.cipher = (uint8_t)cipher,
		.sequence = sequence & KEY_SEQUENCE_MASK,
	};

	memcpy(key.iv, iv, sizeof(key.iv));
	return key;
}

/* The toggle bit of a key sequence number is the index of the key. */
static unsigned key_slot(uint8_t sequence) {
	return sequence % SA_KEYS;
}

static bool modem_key_create(struct modems *t, uint32_t index, enum cipher cipher,
			     const uint8_t *key, const uint8_t *iv, uint8_t sequence) {
	struct modem_state *s = &t->all[index];
	struct stored_key *stored = key_store_get(t->store, cipher, key);
	unsigned at = key_slot(sequence);

	if (stored == NULL)
		return false;
	t->keys[SA_KEYS * index + at] = stored;
	s->keys[at] = key_make(stored, cipher, iv, sequence);
	s->valid |= (uint8_t)(1u << at);
	return true;
}

/* A modem without encryption gets a key with CIPHER_NONE: the decryptor only checks the CRC. */
static bool modem_keys_create(struct modems *t, uint32_t index,
			      const struct security_association *sa) {
	t->all[index].present = (uint8_t)key_slot(sa->key_sequence);
	if (!modem_key_create(t, index, sa->cipher, sa->key, sa->iv, sa->key_sequence))
		return false;
	return !sa->has_next_key || sa->cipher == CIPHER_NONE ||
	       modem_key_create(t, index, sa->cipher, sa->next_key, sa->next_iv,
				(uint8_t)(sa->key_sequence + 1));
}

bool modem_rekey_create(struct modem_rekey *r, struct key_store *store, enum cipher cipher,
			const uint8_t *key, const uint8_t *iv) {
	r->stored = key_store_get(store, cipher, key);
	if (r->stored == NULL)
		return false;
	r->key = key_make(r->stored, cipher, iv, r->sequence);
	return true;
}

void modems_rekey(struct modems *t, struct modem_rekey *r, uint32_t number) {
	struct modem_state *s = &t->all[r->modem];
	unsigned at = key_slot(r->sequence);
	struct stored_key **stored = &t->keys[SA_KEYS * r->modem + at];
	struct stored_key *before = *stored;

	*stored = r->stored;
	r->stored = before;
	s->keys[at] = r->key;
	s->since[at] = number;
	s->valid |= (uint8_t)(1u << at);
}

/* Whether change `since` is later than change `number`. Numbers may wrap. */
static bool is_later(uint32_t since, uint32_t number) {
	return (int32_t)(since - number) > 0;
}

void modems_expire(struct modems *t, const struct modem_rekey *r, uint32_t number) {
	unsigned at = key_slot(r->sequence);
	struct modem_state *s;

	if (is_later(t->since, number) || r->modem >= t->count)
		return;
	s = &t->all[r->modem];
	if (!is_later(s->since[at], number) && s->keys[at].sequence == r->sequence)
		s->valid &= (uint8_t)~(1u << at);
}

static void channels_add(struct modem_state *s, const struct bonding_group *group) {
	for (size_t c = 0; c < group->channel_count; c++)
		s->channels[group->channels[c] / 64] |= 1ull << group->channels[c] % 64;
}

static bool modem_create(struct modems *t, const struct service_group *sg, uint32_t index,
			 const struct targets *targets) {
	const struct modem *m = &sg->modems[index];
	struct modem_state *s = &t->all[index];

	if (m->service_flow_count == 0)
		return true; /* a free slot */
	s->mac = mac_key(m->mac);
	s->first_flow = targets->first_stream[index];
	s->flow_count = (uint8_t)m->service_flow_count;
	s->said = m->security.said;
	s->encrypted = m->security.cipher != CIPHER_NONE;
	for (size_t f = 0; f < m->service_flow_count; f++)
		channels_add(s, &sg->bonding_groups[m->service_flows[f].bonding_group]);
	flows_fill(t, m, s->first_flow, targets, index);
	t->by_mac[mac_slot(t, s->mac)] = index + 1;
	return modem_keys_create(t, index, &m->security);
}

int modems_create(struct modems *t, const struct service_group *sg, const struct targets *targets,
		  struct key_store *store) {
	bool good;

	*t = (struct modems){.store = store, .slots = 16};
	while (t->slots < 2 * sg->modem_count)
		t->slots *= 2;
	t->max_pdu = sg->max_frame;
	t->all = aligned_alloc(RTE_CACHE_LINE_SIZE, (sg->modem_count + 1) * sizeof(*t->all));
	t->flows = calloc(targets->service_flow_count + 1, sizeof(*t->flows));
	t->keys = calloc(SA_KEYS * (sg->modem_count + 1), sizeof(*t->keys));
	t->by_mac = calloc(t->slots, sizeof(*t->by_mac));
	good = t->all != NULL && t->flows != NULL && t->keys != NULL && t->by_mac != NULL;
	if (good)
		memset(t->all, 0, (sg->modem_count + 1) * sizeof(*t->all));
	for (; good && t->count < sg->modem_count; t->count++)
		good = modem_create(t, sg, t->count, targets);
	if (good)
		return 0;
	fprintf(stderr,
		"traffic: no memory or free crypto sessions for the keys of %zu "
		"modems\n",
		sg->modem_count);
	modems_free(t);
	return -1;
}

void modems_free(struct modems *t) {
	for (uint32_t i = 0; i < SA_KEYS * t->count; i++)
		key_store_put(t->store, t->keys[i]);
	free(t->all);
	free(t->flows);
	free(t->keys);
	free(t->by_mac);
	*t = (struct modems){0};
}

bool modems_have(const struct modems *t, const uint8_t mac[6]) {
	for (; t != NULL; t = t->older) {
		if (t->count > 0 && t->by_mac[mac_slot(t, mac_key(mac))] != 0)
			return true;
	}
	return false;
}

/* SEC: BP_DOWN has the SAID and the key; EN is set if the PDU is encrypted. Key sequence number and
 * toggle select one of the modem's two key generations. */
static enum corruption privacy_check(const struct modem_state *s, const struct docsis_mac *mac,
				     struct frame_info *info) {
	info->key = &s->keys[s->present];
	if (mac->privacy == PRIVACY_NONE)
		return s->encrypted ? CORRUPTION_PRIVACY : CORRUPTION_NONE;
	if (mac->privacy != PRIVACY_BP_DOWN || mac->encrypted != s->encrypted ||
	    mac->privacy_version != DOCSIS_PRIVACY_VERSION || mac->said_or_sid != s->said ||
	    mac->toggle != (mac->key_sequence & 1))
		return CORRUPTION_PRIVACY;
	info->key = &s->keys[mac->toggle];
	return (s->valid >> mac->toggle & 1) && info->key->sequence == mac->key_sequence
		       ? CORRUPTION_NONE
		       : CORRUPTION_UNDECIPHERABLE;
}

/* Finds the flow by its DSID. If the header has none, verify() finds it by the packet's tag. */
static enum corruption flow_check(const struct modems *t, const struct modem_state *s,
				  const struct docsis_mac *mac, struct frame_info *info) {
	info->stream = FRAME_NO_STREAM;
	info->ds = (uint8_t)mac->ds;
	info->priority = mac->priority;
	if (mac->ds != DS_EHDR_DSID && mac->ds != DS_EHDR_SEQUENCE)
		return CORRUPTION_NONE;
	for (uint32_t i = s->first_flow; i < s->first_flow + s->flow_count; i++) {
		const struct flow_state *f = &t->flows[i];

		if (f->ds < DS_EHDR_DSID || f->dsid != mac->dsid)
			continue;
		info->stream = f->stream;
		info->number = mac->sequence;
		return f->ds == mac->ds && f->priority == mac->priority ? CORRUPTION_NONE
									: CORRUPTION_DS_EHDR;
	}
	return CORRUPTION_DSID;
}

static enum corruption mac_check(const struct modems *t, const uint8_t *frame, uint32_t size,
				 struct docsis_mac *mac) {
	switch (docsis_mac_parse(frame, size != 0 ? size : SIZE_MAX, mac)) {
	case DOCSIS_OK: break;
	case DOCSIS_BAD_HCS: return CORRUPTION_HCS;
	case DOCSIS_TRUNCATED:
	case DOCSIS_BAD_LENGTH: return CORRUPTION_LENGTH;
	case DOCSIS_BAD_EHDR:
	case DOCSIS_RESERVED: return CORRUPTION_HEADER;
	}
	if (size != 0 && mac->frame_size != size)
		return CORRUPTION_LENGTH;
	if (mac->kind == DOCSIS_KIND_PACKET &&
	    (mac->pdu_size < ETHERNET_MIN + ETHERNET_CRC_SIZE || mac->pdu_size > t->max_pdu))
		return CORRUPTION_LENGTH;
	return CORRUPTION_NONE;
}

/*
 * Checks what the parser ignores: FC_PARM, unexpected elements, their order (SEC: privacy first),
 * reserved bits. The sequence change bit toggles when a DSID's numbers restart (MULPI); the CMTS
 * never toggles it.
 */
static enum corruption bits_check(const uint8_t *frame, const struct docsis_mac *mac) {
	static const uint8_t ds_sizes[] = {
		[DS_EHDR_NONE] = 0,
		[DS_EHDR_PRIORITY] = 2,
		[DS_EHDR_DSID] = 4,
		[DS_EHDR_SEQUENCE] = 6,
	};
	unsigned privacy = mac->privacy == PRIVACY_NONE ? 0 : DOCSIS_BP_DOWN_SIZE;
	unsigned ds = ds_sizes[mac->ds];
	const uint8_t *ehdr = frame + DOCSIS_EHDR_OFFSET;

	if (frame[0] != (privacy + ds > 0 ? DOCSIS_FC_EHDR_ON : 0) ||
	    mac->header_size != DOCSIS_MAC_HEADER + privacy + ds)
		return CORRUPTION_HEADER;
	if (privacy > 0 && (ehdr[0] != 0x44 || ehdr[4] != 0))
		return CORRUPTION_HEADER;
	if (ds > 0 && ehdr[privacy] != (0x80 | (ds - 1)))
		return CORRUPTION_HEADER;
	if (mac->ds == DS_EHDR_PRIORITY && (ehdr[privacy + 1] & ~DOCSIS_DS_PRIORITY) != 0)
		return CORRUPTION_DS_EHDR;
	return mac->sequence_change ? CORRUPTION_DS_EHDR : CORRUPTION_NONE;
}

static enum corruption modem_find(const struct modems *t, const struct docsis_mac *mac,
				  struct frame_info *info) {
	uint32_t slot = mac_slot(t, mac_key(mac->pdu));
	const struct modem_state *s;

	if (t->by_mac[slot] == 0)
		return CORRUPTION_DESTINATION;
	s = &t->all[t->by_mac[slot] - 1];
	info->modem = s;
	info->modems = t;
	return s->channels[info->channel / 64] >> info->channel % 64 & 1 ? CORRUPTION_NONE
									 : CORRUPTION_CHANNEL;
}

static enum corruption modem_check(const struct modems *t, const struct docsis_mac *mac,
				   struct frame_info *info) {
	enum corruption why = modem_find(t, mac, info);

	if (why == CORRUPTION_NONE)
		why = privacy_check(info->modem, mac, info);
	return why == CORRUPTION_NONE ? flow_check(t, info->modem, mac, info) : why;
}

enum modem_verdict modems_check(const struct modems *t, struct rte_mbuf *frame, uint32_t size,
				enum corruption *why) {
	struct frame_info *info = frame_info(frame);
	struct docsis_mac mac;
	enum corruption first;

	*why = mac_check(t, rte_pktmbuf_mtod(frame, const uint8_t *), size, &mac);
	if (*why != CORRUPTION_NONE)
		return MODEM_REFUSES;
	if (mac.kind != DOCSIS_KIND_PACKET)
		return MODEM_IGNORES;
	*why = bits_check(rte_pktmbuf_mtod(frame, const uint8_t *), &mac);
	if (*why != CORRUPTION_NONE)
		return MODEM_REFUSES;
	info->header_size = mac.header_size;
	info->stated_size = mac.frame_size;
	*why = first = modem_check(t, &mac, info);
	for (t = t->older; *why != CORRUPTION_NONE && t != NULL; t = t->older)
		*why = modem_check(t, &mac, info);
	if (*why == CORRUPTION_NONE)
		return MODEM_ACCEPTS;
	*why = first;
	return MODEM_REFUSES;
}

void modems_prefetch(const struct modems *t, const struct rte_mbuf *frame) {
	const uint8_t *header = rte_pktmbuf_mtod(frame, const uint8_t *);
	uint32_t at, found;

	if (frame->data_len < DOCSIS_MAC_HEADER || t->count == 0)
		return;
	at = DOCSIS_MAC_HEADER + (header[0] & DOCSIS_FC_EHDR_ON ? header[1] : 0u);
	if (frame->data_len < at + MAC_SIZE)
		return;
	found = t->by_mac[mac_hash(t, mac_key(header + at))];
	/* Another modem with the same hash may be in the slot, which costs a useless prefetch. */
	if (found != 0)
		prefetch_record(&t->all[found - 1], sizeof(*t->all));
}

bool modems_find(const struct modems *t, struct rte_mbuf *frame) {
	struct frame_info *info = frame_info(frame);
	struct docsis_mac mac;

	return docsis_mac_parse(rte_pktmbuf_mtod(frame, const uint8_t *), info->stated_size,
				&mac) == DOCSIS_OK &&
	       modem_find(t, &mac, info) == CORRUPTION_NONE &&
	       flow_check(t, info->modem, &mac, info) == CORRUPTION_NONE;
}
