/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/server/load_cache.h"

#include <string.h>

#define MAX_NODES 1000000 /* nodes that a digest covers, at most */
#define STATES 4

static uint64_t mix(uint64_t state, uint64_t word) {
	static const uint64_t odd = UINT64_C(0x9fb21c651e98df25);

	state = (state ^ word) * odd;
	return state ^ state >> 29 ^ state << 37;
}

/* Includes the length, so that two texts differ from their concatenation. */
void digest_text(struct digest *digest, const char *text, size_t size) {
	uint64_t state[STATES], word[STATES];

	for (unsigned i = 0; i < STATES; i++)
		state[i] = mix(digest->state[i] + i, size ^ digest->state[(i + 1) % STATES]);
	for (; size >= sizeof(word); size -= sizeof(word), text += sizeof(word)) {
		memcpy(word, text, sizeof(word));
		for (unsigned i = 0; i < STATES; i++)
			state[i] = mix(state[i], word[i]);
	}
	memset(word, 0, sizeof(word));
	memcpy(word, text, size);
	for (unsigned i = 0; i < STATES; i++)
		state[i] = mix(state[i], word[i]);
	/* make each state depend on the others */
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < STATES; i++)
			state[i] = mix(state[i], state[(i + 1) % STATES]);
	}
	memcpy(digest->state, state, sizeof(state));
}

/* Adds a node and its children to the digest. Returns false for more than `left` nodes. */
static bool walk(struct digest *digest, struct node *node, uint32_t *left) {
	struct node *value = node_resolve(node);
	const char about[2] = {(char)value->type, 0};

	if ((*left)-- == 0) {
		*left = 0;
		return false;
	}
	digest_text(digest, about, sizeof(about));
	if (value->type == NODE_SCALAR) {
		digest_text(digest, value->text, value->length);
		return true;
	}
	digest_text(digest, (const char *)&value->length, sizeof(value->length));
	for (struct node *child = value->first; child != NULL; child = child->next) {
		if (!walk(digest, child, left))
			return false;
	}
	return true;
}

bool digest_node(struct digest *digest, struct node *node) {
	uint32_t left = MAX_NODES;

	return walk(digest, node, &left);
}

static void digest_name(struct digest *digest, const char *name) {
	digest_text(digest, name != NULL ? name : "\n", name != NULL ? strlen(name) : 1);
}

void digest_devices(struct digest *digest, const struct server_devices *devices, size_t groups) {
	const struct server_devices none = {0};

	if (devices == NULL)
		devices = &none;
	digest_name(digest, devices->network);
	digest_name(digest, devices->rphy);
	digest_name(digest, devices->control);
	digest_text(digest, (const char *)&groups, sizeof(groups));
}

bool digest_same(const struct digest *a, const struct digest *b) {
	return memcmp(a, b, sizeof(*a)) == 0;
}

bool load_cache_group_same(const struct load_cache_group *before,
			   const struct load_cache_group *now) {
	return before->own_file && now->own_file && digest_same(&before->digest, &now->digest);
}

void load_cache_record_threads(struct load_cache_group *kept, const struct placed_group *placed,
			       uint32_t own_line) {
	kept->threads = placed->sg->threads;
	kept->own_layout = placed->layout_line >= own_line;
	kept->own_cores = placed->cores_line >= own_line;
	kept->own_main_core = placed->main_core_line >= own_line;
}

void load_cache_set_lines(const struct load_cache_group *kept, struct placed_group *placed,
			  uint32_t own_line) {
	if (kept->own_layout)
		placed->layout_line = own_line;
	if (kept->own_cores)
		placed->cores_line = own_line;
	if (kept->own_main_core)
		placed->main_core_line = own_line;
}
