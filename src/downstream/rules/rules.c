/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/rules/rules.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>

#include "platform/large_pages.h"
#include "platform/log/log.h"
#include "wire/bytes.h"
#include "wire/ip.h"

/* A match has the rule's position above its result. */
#define POSITION_SHIFT 16
_Static_assert(SG_MAX_RULES <= 1 << (32 - POSITION_SHIFT), "positions of a list");
_Static_assert(RULE_RESULT_MAX < 1 << POSITION_SHIFT && SG_MAX_MODEM_FLOWS < RULE_RESULT_MAX,
	       "results of a list");

enum {
	FIELD_PROTOCOL,
	FIELD_SET_TOS,
	FIELD_ADDRESSES, /* 2 words for IPv4, 8 for IPv6, the EtherType for LLC */
};

#define FIELDS_IPV4 6
#define FIELDS_IPV6 12
#define FIELDS_LLC 3
#define FIELDS_MAX FIELDS_IPV6

RTE_ACL_RULE_DEF(acl_rule, FIELDS_MAX);

static const uint32_t field_counts[RULE_FAMILIES] = {
	[RULE_IPV4] = FIELDS_IPV4,
	[RULE_IPV6] = FIELDS_IPV6,
	[RULE_LLC] = FIELDS_LLC,
};

static const uint32_t address_words[RULE_FAMILIES] = {
	[RULE_IPV4] = 1,
	[RULE_IPV6] = 4,
};

static struct rte_acl_field_def acl_field(uint8_t type, uint8_t size, uint32_t index,
					  uint32_t input, size_t offset) {
	return (struct rte_acl_field_def){
		.type = type,
		.size = size,
		.field_index = (uint8_t)index,
		.input_index = (uint8_t)input,
		.offset = (uint32_t)offset,
	};
}

/* Fields are words. The two ports share the last one. */
static void acl_layout(enum rule_family family, struct rte_acl_config *c) {
	uint32_t words = 2 * address_words[family], f = FIELD_ADDRESSES;
	size_t at = offsetof(struct rule_key, flow.words),
	       ports = offsetof(struct rule_key, flow.source_port);

	memset(c, 0, sizeof(*c));
	c->num_categories = 1;
	c->num_fields = field_counts[family];
	c->defs[FIELD_PROTOCOL] = acl_field(RTE_ACL_FIELD_TYPE_BITMASK, 1, FIELD_PROTOCOL, 0,
					    offsetof(struct rule_key, flow.protocol));
	c->defs[FIELD_SET_TOS] = acl_field(RTE_ACL_FIELD_TYPE_BITMASK, 4, FIELD_SET_TOS, 1,
					   offsetof(struct rule_key, set_tos));
	if (family == RULE_LLC) {
		c->defs[f] = acl_field(RTE_ACL_FIELD_TYPE_BITMASK, 4, f, f, at);
		return;
	}
	for (uint32_t w = 0; w < words; w++, f++, at += 4)
		c->defs[f] = acl_field(RTE_ACL_FIELD_TYPE_MASK, 4, f, f, at);
	c->defs[f] = acl_field(RTE_ACL_FIELD_TYPE_RANGE, 2, f, f, ports);
	c->defs[f + 1] = acl_field(RTE_ACL_FIELD_TYPE_RANGE, 2, f + 1, f, ports + 2);
}

static void acl_fill_prefix(struct rte_acl_field *f, const struct ip_prefix *p, uint32_t words) {
	for (uint32_t w = 0; w < words; w++) {
		uint32_t bits = p->length > 32 * w ? p->length - 32 * w : 0;

		f[w].value.u32 = load_be32(p->address.bytes + 4 * w);
		f[w].mask_range.u32 = RTE_MIN(bits, 32U);
	}
}

static bool has_port_criterion(const struct match *m) {
	return m->family != RULE_LLC &&
	       (m->source_ports.low > 0 || m->source_ports.high < UINT16_MAX ||
		m->destination_ports.low > 0 || m->destination_ports.high < UINT16_MAX);
}

static void acl_fill_rule(struct acl_rule *a, const struct rule *r, int32_t priority) {
	const struct match *m = r->match;
	uint32_t words = address_words[m->family];
	struct rte_acl_field *f = &a->field[FIELD_ADDRESSES];

	memset(a, 0, sizeof(*a));
	a->data.category_mask = 1;
	a->data.priority = priority;
	a->data.userdata = r->position << POSITION_SHIFT | r->result;
	a->field[FIELD_PROTOCOL].value.u8 = m->protocol;
	a->field[FIELD_PROTOCOL].mask_range.u8 = m->has_protocol ? 0xff : 0;
	a->field[FIELD_SET_TOS].value.u32 = r->set << 9 | (m->tos & m->tos_mask);
	a->field[FIELD_SET_TOS].mask_range.u32 = 0xfffffe00U | m->tos_mask;
	if (has_port_criterion(m))
		a->field[FIELD_SET_TOS].mask_range.u32 |= FLOW_NO_PORTS << 8;
	if (m->family == RULE_LLC) {
		f->value.u32 = m->ethertype;
		f->mask_range.u32 = m->has_ethertype ? UINT32_MAX : 0;
		return;
	}
	acl_fill_prefix(f, &m->source, words);
	acl_fill_prefix(f + words, &m->destination, words);
	f += 2 * words;
	f[0].value.u16 = m->source_ports.low;
	f[0].mask_range.u16 = m->source_ports.high;
	f[1].value.u16 = m->destination_ports.low;
	f[1].mask_range.u16 = m->destination_ports.high;
}

static int acl_add_rules(struct rte_acl_ctx *acl, enum rule_family family, const struct rule *list,
			 size_t count) {
	for (size_t i = 0; i < count; i++) {
		struct acl_rule a;
		int ret;

		if (list[i].match->family != family)
			continue;
		acl_fill_rule(&a, &list[i], (int32_t)(RTE_ACL_MAX_PRIORITY - i));
		ret = rte_acl_add_rules(acl, (struct rte_acl_rule *)&a, 1);
		if (ret != 0)
			return ret;
	}
	return 0;
}

static int acl_create(struct rte_acl_ctx **acl, const char *name, enum rule_family family,
		      const struct rule *list, size_t count) {
	char text[RTE_ACL_NAMESIZE];
	struct rte_acl_param param = {
		.name = text,
		.socket_id = large_pages_socket(),
		.rule_size = sizeof(struct acl_rule),
	};
	struct rte_acl_config config;
	int ret;

	for (size_t i = 0; i < count; i++)
		param.max_rule_num += list[i].match->family == family;
	if (param.max_rule_num == 0)
		return 0;
	snprintf(text, sizeof(text), "%s_%d", name, family);
	*acl = rte_acl_create(&param);
	if (*acl == NULL)
		return -rte_errno;
	ret = acl_add_rules(*acl, family, list, count);
	if (ret != 0)
		return ret;
	acl_layout(family, &config);
	return rte_acl_build(*acl, &config);
}

int rules_acl_create(struct rte_acl_ctx *acl[RULE_FAMILIES], const char *name,
		     const struct rule *list, size_t count) {
	for (int family = 0; family < RULE_FAMILIES; family++)
		acl[family] = NULL;
	for (int family = 0; family < RULE_FAMILIES; family++) {
		int ret = acl_create(&acl[family], name, (enum rule_family)family, list, count);

		if (ret != 0) {
			log_error("downstream", LOG_NO_FIELDS,
				  "downstream: %zu %s rules cannot be built: %s", count, name,
				  rte_strerror(-ret));
			rules_acl_free(acl);
			return -1;
		}
	}
	return 0;
}

void rules_acl_free(struct rte_acl_ctx *acl[RULE_FAMILIES]) {
	for (int family = 0; family < RULE_FAMILIES; family++) {
		rte_acl_free(acl[family]);
		acl[family] = NULL;
	}
}

/* Finds the position and result of the first match of each key, or 0. */
static void rules_find(const struct rules *r, enum rule_family family, const uint8_t **keys,
		       uint32_t *results, uint32_t n) {
	const struct rule_table *large = r->tables[RULES_LARGE], *small = r->tables[RULES_SMALL];
	uint32_t more[RULES_MATCH_MAX];

	if (n == 0)
		return;
	if (large == NULL || large->acl[family] == NULL)
		memset(results, 0, n * sizeof(*results));
	else
		rte_acl_classify(large->acl[family], keys, results, n, 1);
	if (small == NULL || small->acl[family] == NULL)
		return;
	rte_acl_classify(small->acl[family], keys, more, n, 1);
	for (uint32_t i = 0; i < n; i++)
		results[i] |= more[i]; /* one of them is 0 */
}

void rules_match(const struct rules *r, enum rule_family family, const uint8_t **keys,
		 uint32_t *results, uint32_t n) {
	rules_find(r, family, keys, results, n);
	for (uint32_t i = 0; i < n; i++)
		results[i] &= RULE_RESULT_MAX;
}

uint32_t rules_match_chain(const struct rules *r, const struct rule_key *key, uint16_t extensions) {
	struct rule_key keys[1 + IPV6_EXTENSION_KINDS];
	const uint8_t *pointers[RTE_DIM(keys)];
	uint32_t results[RTE_DIM(keys)], n = 0, first = 0;

	keys[n++] = *key;
	for (unsigned bit = 0; bit < IPV6_EXTENSION_KINDS; bit++) {
		if ((extensions >> bit & 1) == 0)
			continue;
		keys[n] = *key;
		keys[n++].flow.protocol = ipv6_extension(bit);
	}
	for (uint32_t i = 0; i < n; i++)
		pointers[i] = (const uint8_t *)&keys[i];
	rules_find(r, RULE_IPV6, pointers, results, n);
	for (uint32_t i = 0; i < n; i++) {
		if (results[i] != 0 && (first == 0 || results[i] < first))
			first = results[i];
	}
	return first & RULE_RESULT_MAX;
}
