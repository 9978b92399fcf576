/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the modem of received frames, verifies their contents, and counts the verdicts. */
#include "directions/downlink_verdict.h"

#include <rte_cycles.h>

#include "directions/downlink_change.h"
#include "directions/spent.h"
#include "modems/verifier.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"
#include "wire/ip.h"

#define ETHERTYPE_AT 12
#define AHEAD 4 /* prefetch distance in DOCSIS frames */
#define EXTENDED_MAX (RECEIVER_HEAD - DOCSIS_MAC_HEADER - 6)

/* Whether to decrypt and verify a frame. Other frames are only counted by their DSID sequence
 * numbers. Counting can start once the first packet of the stream is decrypted. */
static bool is_proven(const struct downlink *d, const struct frame_info *info) {
	return info->ds != DS_EHDR_SEQUENCE || info->number % d->prove_every == 0 ||
	       !resequencers_started(&d->resequencers, info->stream);
}

/* Returns true also if the head may end before the destination address, or if a check of the head
 * fails. The whole frame then gets its verdict. */
bool verdict_is_wanted(void *downlink, struct rte_mbuf *head) {
	struct downlink *d = downlink;
	uint8_t extended = rte_pktmbuf_mtod(head, const uint8_t *)[1];
	enum corruption why;

	return extended > EXTENDED_MAX ||
	       modems_check(&d->modems, head, 0, &why) != MODEM_ACCEPTS ||
	       is_proven(d, frame_info(head));
}

/* Whether a change that is not known yet may explain the failed check `why`. */
static bool may_resolve(const struct downlink *d, enum corruption why) {
	if (d->follow == NULL || d->follow->last)
		return false;
	switch (why) {
	case CORRUPTION_DESTINATION:
	case CORRUPTION_CHANNEL:
	case CORRUPTION_PRIVACY:
	case CORRUPTION_UNDECIPHERABLE:
	case CORRUPTION_DSID:
	case CORRUPTION_DS_EHDR:
	case CORRUPTION_STREAM:
	case CORRUPTION_IP_HEADER: return true; /* a later generation may explain its bytes */
	default: return false;
	}
}

/* An unresolved frame keeps the time of its first arrival. */
static uint64_t arrived_at(const struct downlink_follow *f) {
	return f->since != 0 ? f->since : rte_rdtsc();
}

static bool frame_is_unresolved(struct downlink *d, enum corruption why, struct rte_mbuf *frame) {
	return may_resolve(d, why) && unresolved_put(&d->follow->frames, frame,
						     arrived_at(d->follow), UNRESOLVED_NO_STREAM);
}

/* As frame_is_unresolved(), for a decrypted frame; `again`: it was unresolved before. A correct
 * frame waits behind unresolved frames of its stream. */
static bool packet_is_unresolved(struct downlink *d, enum corruption why,
				 const struct arrived *packet, struct rte_mbuf *frame, bool again) {
	struct downlink_follow *f = d->follow;
	uint32_t stream = packet->valid ? packet->stream : UNRESOLVED_NO_STREAM;

	if (f == NULL || f->last)
		return false;
	if (why == CORRUPTION_NONE
		    ? !packet->valid || !unresolved_precedes(&f->frames, stream, again)
		    : !may_resolve(d, why))
		return false;
	return unresolved_put(&f->frames, frame, arrived_at(f), stream);
}

void verdict_deliver(void *downlink, const struct arrived *packet, uint64_t now) {
	struct downlink *d = downlink;

	if (account_packet(&d->account, packet, now) && !packet->released)
		meters_packet(d->meters, packet, now);
}

/* A frame whose header is valid uses its sequence number, even if a later check failed. */
static void resequence(struct downlink *d, const struct frame_info *info,
		       const struct arrived *packet, uint64_t now) {
	if (info->ds != DS_EHDR_SEQUENCE) {
		if (packet->valid)
			verdict_deliver(d, packet, now);
		return;
	}
	switch (resequencers_put(&d->resequencers, info->stream, info->number, packet, now)) {
	case RESEQUENCER_ACCEPTED: break;
	case RESEQUENCER_EARLIER: d->account.unexpected[UNEXPECTED_EARLIER]++; break;
	case RESEQUENCER_DUPLICATE: d->account.proof.duplicated++; break;
	case RESEQUENCER_CONFLICT: d->account.corrupted[CORRUPTION_DSID]++; break;
	case RESEQUENCER_USED:
		if (packet->valid && packet->earlier && !packet->counted &&
		    !window_received(&d->account.proof.streams[packet->stream], packet->sequence))
			verdict_deliver(d, packet, now);
		else if (packet->counted ||
			 window_received(&d->account.proof.streams[packet->stream],
					 packet->sequence))
			d->account.proof.duplicated++;
		else
			d->account.corrupted[CORRUPTION_DSID]++;
		break;
	}
}

static enum corruption frame_check(struct downlink *d, struct rte_mbuf *m, struct arrived *packet) {
	const struct frame_info *info = frame_info(m);
	const uint8_t *frame = rte_pktmbuf_mtod_offset(m, const uint8_t *, info->header_size);
	uint32_t size = m->data_len - info->header_size - ETHERNET_CRC_SIZE;
	enum corruption why;

	if (info->decrypted == DECRYPTED_BAD_CRC)
		return CORRUPTION_CRC;
	if (info->decrypted != DECRYPTED_GOOD)
		return CORRUPTION_CRYPTO;
	why = verify(d->generator, info, frame, size, packet);
	if (why != CORRUPTION_TAG)
		return why;
	if (generator_is_earlier(d->generator, frame, size))
		d->account.unexpected[UNEXPECTED_EARLIER]++;
	else if (run_groups_have_made(d->run_groups, frame, size))
		d->account.unexpected[UNEXPECTED_OTHER_GROUP]++;
	else
		return why;
	return CORRUPTION_NONE;
}

/* Whether the modems of another generation may accept a frame that failed the check `why`. */
static bool may_be_another_generation(enum corruption why) {
	return why == CORRUPTION_STREAM || why == CORRUPTION_IP_HEADER;
}

/*
 * Checks a frame against every generation of the modems. A key may be the same before and after a
 * change, so decryption does not identify the generation. The generation that an unresolved frame
 * was first matched with may also have been freed since.
 */
static enum corruption frame_check_all(struct downlink *d, struct rte_mbuf *m,
				       struct arrived *packet) {
	struct frame_info first = *frame_info(m);
	enum corruption why = CORRUPTION_STREAM, found;

	for (const struct modems *t = &d->modems; t != NULL; t = t->older) {
		if (!modems_find(t, m))
			continue;
		found = frame_check(d, m, packet);
		if (found == CORRUPTION_NONE ||
		    (why == CORRUPTION_STREAM && !may_be_another_generation(found)))
			return found;
		if (why == CORRUPTION_STREAM && found == CORRUPTION_IP_HEADER) {
			first = *frame_info(m);
			why = found;
		}
	}
	/* Modems that do not know the DSID leave no stream: keep the info of the first match. */
	*frame_info(m) = first;
	return why;
}

static void frame_formats(struct downlink *d, struct rte_mbuf *m) {
	static const enum format ciphers[CIPHERS] = {
		[CIPHER_NONE] = FORMAT_CLEAR,
		[CIPHER_AES_128] = FORMAT_AES_128,
		[CIPHER_AES_256] = FORMAT_AES_256,
		[CIPHER_DES] = FORMAT_DES,
	};
	const struct frame_info *info = frame_info(m);
	uint64_t *counts = d->account.formats;

	counts[ciphers[info->key->cipher]]++;
	counts[FORMAT_CRC] += d->decryptor.verifies_crc;
	counts[FORMAT_NUMBERED] += info->ds == DS_EHDR_SEQUENCE;
	switch (load_be16(
		rte_pktmbuf_mtod_offset(m, const uint8_t *, info->header_size + ETHERTYPE_AT))) {
	case ETHERTYPE_IPV4: counts[FORMAT_IPV4]++; break;
	case ETHERTYPE_IPV6: counts[FORMAT_IPV6]++; break;
	default: break;
	}
}

/* `again`: the frame was unresolved before. Returns false if it remains unresolved. */
static bool frame_prove(struct downlink *d, struct rte_mbuf *m, uint64_t now, bool again) {
	struct arrived packet = {.valid = false};
	enum corruption why = again ? CORRUPTION_STREAM : frame_check(d, m, &packet);

	if (may_be_another_generation(why) && d->follow != NULL)
		why = frame_check_all(d, m, &packet);
	if (packet_is_unresolved(d, why, &packet, m, again))
		return false;
	if (why != CORRUPTION_NONE) {
		account_corrupt(&d->account, why, m);
		packet.valid = false;
	} else {
		frame_formats(d, m);
	}
	packet.released = again;
	resequence(d, frame_info(m), &packet, now);
	return true;
}

static void frame_count(struct downlink *d, struct rte_mbuf *m, uint64_t now) {
	const struct frame_info *info = frame_info(m);
	struct arrived packet = {
		.stream = info->stream,
		.bytes = (uint16_t)(info->size - info->header_size - ETHERNET_CRC_SIZE),
		.valid = true,
		.counted = true,
	};

	resequence(d, info, &packet, now);
}

/* A head was already checked by verdict_is_wanted(), except for the size of the whole frame. */
static enum modem_verdict frame_verdict(struct downlink *d, struct rte_mbuf *frame,
					enum corruption *why) {
	struct frame_info *info = frame_info(frame);

	if (!info->head_only)
		return modems_check(&d->modems, frame, info->size, why);
	*why = CORRUPTION_LENGTH;
	return info->size == info->stated_size ? MODEM_ACCEPTS : MODEM_REFUSES;
}

static void frame_unexpected(struct downlink *d, enum unexpected why,
			     const struct rte_mbuf *frame) {
	d->account.unexpected[why]++;
	evidence_add_mbuf(d->account.evidence, EVIDENCE_DOCSIS, unexpected_names[why], frame);
}

/* Counts a refused frame. If its destination is a modem of another group, it counts as that
 * group's. Returns false if the frame remains unresolved. */
static bool frame_refuse(struct downlink *d, struct rte_mbuf *frame, enum corruption why) {
	const uint8_t *destination =
		rte_pktmbuf_mtod_offset(frame, const uint8_t *, frame_info(frame)->header_size);

	if (frame_is_unresolved(d, why, frame))
		return false;
	if (why == CORRUPTION_DESTINATION && run_groups_have_modem(d->run_groups, destination))
		frame_unexpected(d, UNEXPECTED_OTHER_GROUP, frame);
	else
		account_refuse(&d->account, why, frame);
	return true;
}

/* Checks the header. Returns whether a modem accepts the frame; otherwise takes ownership of it. */
static bool frame_accept(struct downlink *d, struct rte_mbuf *frame) {
	struct frame_info *info = frame_info(frame);
	enum corruption why;

	info->decrypted = DECRYPTED_NOT;
	switch (frame_verdict(d, frame, &why)) {
	case MODEM_ACCEPTS:
		if (!info->head_only && is_proven(d, info))
			info->decrypted = DECRYPTED_GOOD;
		return true;
	case MODEM_IGNORES:
		if (d->messages)
			d->account.messages++;
		else
			frame_unexpected(d, UNEXPECTED_MANAGEMENT, frame);
		break;
	case MODEM_REFUSES:
		if (!frame_refuse(d, frame, why))
			return false;
		break;
	}
	rte_pktmbuf_free(frame);
	return false;
}

/* Checks all headers, and keeps the accepted frames. */
static void batch_accept(struct downlink *d) {
	unsigned n = 0;

	for (unsigned i = 0; i < d->batch_count && i < AHEAD; i++)
		modems_prefetch(&d->modems, d->batch[i]);
	for (unsigned i = 0; i < d->batch_count; i++) {
		if (i + AHEAD < d->batch_count)
			modems_prefetch(&d->modems, d->batch[i + AHEAD]);
		if (frame_accept(d, d->batch[i]))
			d->batch[n++] = d->batch[i];
	}
	d->batch_count = n;
}

static void batch_decrypt(struct downlink *d) {
	struct rte_mbuf *proven[DECRYPT_BURST];
	unsigned n = 0;

	for (unsigned i = 0; i < d->batch_count; i++) {
		if (frame_info(d->batch[i])->decrypted != DECRYPTED_NOT)
			proven[n++] = d->batch[i];
	}
	decrypt(&d->decryptor, proven, n);
}

/* Prefetches the records of a frame with an accepted header, which are in no near cache. Packets to
 * a modem are rare among those to all modems. */
static void records_prefetch(const struct downlink *d, struct rte_mbuf *m) {
	const struct frame_info *info = frame_info(m);

	if (info->decrypted == DECRYPTED_GOOD)
		verify_prefetch(d->generator, info,
				rte_pktmbuf_mtod_offset(m, const uint8_t *, info->header_size),
				m->data_len - info->header_size);
	if (info->stream == FRAME_NO_STREAM)
		return;
	resequencers_prefetch(&d->resequencers, info->stream, info->number);
	proof_prefetch(&d->account.proof, info->stream);
	meters_prefetch(d->meters, info->stream, (uint32_t)(info->modem - info->modems->all));
}

static void batch_prove(struct downlink *d, uint64_t now) {
	for (unsigned i = 0; i < d->batch_count && i < AHEAD; i++)
		records_prefetch(d, d->batch[i]);
	for (unsigned i = 0; i < d->batch_count; i++) {
		if (i + AHEAD < d->batch_count)
			records_prefetch(d, d->batch[i + AHEAD]);
		if (frame_info(d->batch[i])->decrypted == DECRYPTED_NOT)
			frame_count(d, d->batch[i], now);
		else if (!frame_prove(d, d->batch[i], now, false))
			d->batch[i] = NULL;
	}
}

void verdict_batch(struct downlink *d) {
	uint64_t now;

	batch_accept(d);
	now = rte_rdtsc();
	batch_decrypt(d);
	now = spent(&d->cycles.decrypt, now);
	batch_prove(d, now);
	rte_pktmbuf_free_bulk(d->batch, d->batch_count);
	d->batch_count = 0;
	spent(&d->cycles.verify, now);
}

static void frame_add(struct downlink *d, struct rte_mbuf *frame) {
	d->batch[d->batch_count++] = frame;
	if (d->batch_count == DECRYPT_BURST)
		verdict_batch(d);
}

bool verdict_depi(struct downlink *d, struct rte_mbuf *depi) {
	struct rte_mbuf *frames[RECEIVER_FRAMES_MAX];
	unsigned count = receiver_process(d->receiver, depi, frames);

	if (count == RECEIVER_UNKNOWN &&
	    unresolved_put(&d->follow->depi, depi, arrived_at(d->follow), UNRESOLVED_NO_STREAM))
		return false;
	if (count == RECEIVER_UNKNOWN) {
		receiver_keep_unknown(d->receiver, false);
		count = receiver_process(d->receiver, depi, frames);
		receiver_keep_unknown(d->receiver, true);
	}
	for (unsigned f = 0; f < count; f++)
		frame_add(d, frames[f]);
	return true;
}

/* Frames are decrypted in place, so a decrypted frame is only verified again. */
static void frame_retry(struct downlink *d, struct rte_mbuf *frame) {
	if (frame_info(frame)->decrypted == DECRYPTED_NOT)
		frame_add(d, frame);
	else if (frame_prove(d, frame, rte_rdtsc(), true))
		rte_pktmbuf_free(frame);
}

void verdict_retry(struct downlink *d, uint64_t before, bool again) {
	struct downlink_follow *f = d->follow;
	struct rte_mbuf *m;

	f->last = !again;
	receiver_keep_unknown(d->receiver, again);
	for (uint32_t n = f->depi.count; n > 0; n--) {
		m = unresolved_get(&f->depi, before, &f->since);
		if (m != NULL && verdict_depi(d, m))
			rte_pktmbuf_free(m);
		verdict_batch(d);
	}
	unresolved_pass(&f->frames);
	for (uint32_t n = f->frames.count; n > 0; n--) {
		m = unresolved_get(&f->frames, before, &f->since);
		if (m != NULL)
			frame_retry(d, m);
		verdict_batch(d);
	}
	f->since = 0;
	f->last = false;
	receiver_keep_unknown(d->receiver, true);
}
