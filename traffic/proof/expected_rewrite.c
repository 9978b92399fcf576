/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts the bytes that the data plane rewrites, in each generation that may apply. */
#include "proof/expected_rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/ip.h"

#define IPV4_TOS 1

struct rewrite rewrite_of(bool overwrites_tos, const struct tos_masks *tos) {
	struct rewrite r = {.overwrites_tos = overwrites_tos};

	if (overwrites_tos)
		r.tos = *tos;
	return r;
}

bool rewrite_same(const struct rewrite *a, const struct rewrite *b) {
	return a->overwrites_tos == b->overwrites_tos && a->tos.and_mask == b->tos.and_mask &&
	       a->tos.or_mask == b->tos.or_mask;
}

bool rewrites_create(struct rewrites *r, uint32_t streams, uint32_t magic) {
	*r = (struct rewrites){.of = calloc(streams + 1, sizeof(*r->of)), .magic = magic};
	return r->of != NULL;
}

void rewrites_free(struct rewrites *r) {
	free(r->of);
	free(r->between);
	*r = (struct rewrites){0};
}

bool rewrites_add_between(struct rewrites *r, const struct rewrite_between *between,
			  uint32_t count) {
	r->between = calloc(count + 1, sizeof(*between));
	if (r->between == NULL)
		return false;
	if (count > 0)
		memcpy(r->between, between, count * sizeof(*between));
	r->between_count = count;
	return true;
}

void rewrites_apply(struct rewrites *newest, struct rewrites *next, uint32_t magic) {
	struct rewrites before = *newest;

	*newest = *next;
	newest->magic = magic;
	newest->older = next;
	*next = before;
}

static uint8_t tos_masked(const struct tos_masks *masks, uint8_t tos) {
	return (uint8_t)((tos & masks->and_mask) | masks->or_mask);
}

/* Computes the whole checksum; the data plane updates it instead. */
static void tos_apply(const struct tos_masks *tos, uint8_t *ip) {
	if (ip[0] >> 4 == 4) {
		ip[IPV4_TOS] = tos_masked(tos, ip[IPV4_TOS]);
		store_be16(ip + IPV4_CHECKSUM, ipv4_checksum(ip, 4 * (size_t)(ip[0] & 0x0f)));
	} else {
		uint16_t word = load_be16(ip);

		store_be16(ip, (uint16_t)((word & 0xf00f) | tos_masked(tos, (uint8_t)(word >> 4))
								    << 4));
	}
}

static void rewrite_apply(const struct rewrite *r, uint8_t *frame) {
	if (r->overwrites_tos)
		tos_apply(&r->tos, frame + ETHERNET_HEADER);
}

/* Compares the bytes `from` to `size` of `frame` with those sent. */
struct comparison {
	const uint8_t *sent;
	const uint8_t *frame;
	size_t from;
	size_t size;
};

static bool makes(const struct rewrite *r, const struct comparison *c) {
	uint8_t ip[ETHERNET_HEADER + 60]; /* up to the end of the longest IPv4 header */
	size_t rewritten = c->size < sizeof(ip) ? c->size : sizeof(ip);

	if (!r->overwrites_tos)
		return memcmp(c->frame + c->from, c->sent + c->from, c->size - c->from) == 0;
	memcpy(ip, c->sent, rewritten);
	rewrite_apply(r, ip);
	return memcmp(c->frame + c->from, ip + c->from, rewritten - c->from) == 0 &&
	       memcmp(c->frame + rewritten, c->sent + rewritten, c->size - rewritten) == 0;
}

static bool between_makes(const struct rewrites *r, uint32_t stream, const struct comparison *c) {
	for (uint32_t i = 0; i < r->between_count; i++) {
		if (r->between[i].stream == stream && makes(&r->between[i].rewrite, c))
			return true;
	}
	return false;
}

bool expected_rewrite(const struct rewrites *newest, uint32_t magic, uint32_t stream,
		      const uint8_t *sent, const uint8_t *frame, size_t from, size_t size) {
	const struct comparison c = {sent, frame, from, size};

	for (const struct rewrites *r = newest; r != NULL; r = r->older) {
		if (makes(&r->of[stream], &c))
			return true;
		if ((int32_t)(magic - r->magic) >= 0)
			return false; /* made in this generation; older ones do not apply */
		if (between_makes(r, stream, &c))
			return true;
	}
	return false;
}
