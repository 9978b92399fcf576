/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes objects by the loader's tables of keys, then removes the keys that a file does not
 * need. */
#include "model/live/object_json.h"

#include <stdlib.h>
#include <string.h>

#include "model/check/check.h"
#include "model/defaults.h"
#include "model/keys/keys.h"
#include "model/live/live_kind.h"
#include "model/live/object_copy.h"
#include "model/live/value_json.h"
#include "platform/secret/secret_memory.h"

#define PROBABILITY_ONE 65536 /* of WRED; the file has the inverse */

const struct key *object_key(enum live_object object) {
	const struct key *key = service_group_keys;

	while (strcmp(key->name, live_kinds[object].list) != 0)
		key++;
	return key;
}

static uint32_t translate_id(const void *context, enum live_object object, uint32_t reference) {
	uint32_t id;

	memcpy(&id, live_item(context, object, reference), sizeof(id));
	return id;
}

struct references object_ids(const struct service_group *sg) {
	return (struct references){translate_id, sg};
}

/* The purpose of the JSON. */
enum form {
	FORM_FILE, /* as in a file, without values that follow from others */
	FORM_SECRETS, /* the same with encryption keys */
	FORM_WHOLE, /* all values that are in effect */
};

static enum form file_form(bool secrets) {
	return secrets ? FORM_SECRETS : FORM_FILE;
}

/* Removes a value that has no meaning beside other values. */
static void leave_out(json_t *map, const char *key, bool out) {
	if (out)
		json_object_del(map, key);
}

/* Removes a value that follows from other values. */
static void leave_default(json_t *map, const char *key, enum form form, bool derived) {
	leave_out(map, key, derived && form != FORM_WHOLE);
}

static bool finish_wred(json_t *map, const struct service_flow *flow, enum form form) {
	const struct wred *wred = &flow->wred;
	uint32_t max = wred->max_probability;

	leave_default(map, "min_threshold", form, wred->min_threshold == flow->buffer / 4);
	leave_default(map, "max_threshold", form,
		      wred->max_threshold == flow->buffer - flow->buffer / 4);
	return json_object_set_new(map, "max_probability_inverse",
				   json_integer((PROBABILITY_ONE + max / 2) / max)) == 0;
}

static bool finish_flow(json_t *map, const struct service_flow *flow, const struct modem *modem,
			enum form form) {
	leave_default(map, "bonding_group", form, flow->bonding_group == modem->bonding_group);
	leave_default(map, "max_traffic_burst", form,
		      flow->traffic_burst == default_burst(flow->sustained_rate));
	leave_out(map, "min_reserved_packet", flow->reserved_rate == 0);
	leave_default(map, "min_buffer", form,
		      flow->min_buffer == default_min_buffer(flow->buffer));
	leave_default(map, "max_buffer", form, flow->max_buffer == flow->buffer);
	leave_out(map, "latency_target", flow->aqm != AQM_DOCSIS_PIE);
	if (flow->aqm == AQM_WRED)
		return finish_wred(json_object_get(map, "wred"), flow, form);
	json_object_del(map, "wred");
	return true;
}

static bool all_zero(const uint8_t *bytes, size_t size) {
	while (size > 0 && bytes[size - 1] == 0)
		size--;
	return size == 0;
}

/* Truncates a value to the length for the cipher. Returns false if memory is short. */
static bool truncate_hex(json_t *map, const char *name, unsigned bytes) {
	const json_t *hex = json_object_get(map, name);

	return hex == NULL ||
	       json_object_set_new(map, name,
				   json_stringn(json_string_value(hex), (size_t)bytes * 2)) == 0;
}

/* Without a cipher, keys have the AES-128 length if all further bytes are zero, else the maximum
 * length; vectors have the maximum length. */
static bool truncate_secrets(json_t *map, const struct security_association *sa) {
	bool clear = sa->cipher == CIPHER_NONE;
	unsigned common = cipher_key_size(CIPHER_AES_128);
	unsigned clear_key =
		all_zero(sa->key + common, CIPHER_MAX_KEY - common) ? common : CIPHER_MAX_KEY;
	unsigned key = clear ? clear_key : cipher_key_size(sa->cipher);
	unsigned iv = clear ? CIPHER_MAX_IV : cipher_iv_size(sa->cipher);

	return truncate_hex(map, "key", key) && truncate_hex(map, "iv", iv) &&
	       truncate_hex(map, "next_key", key) && truncate_hex(map, "next_iv", iv);
}

/* Returns false if memory is short. */
static bool finish_security(json_t *map, const struct security_association *security,
			    enum form form) {
	bool clear = security->cipher == CIPHER_NONE, secrets = form == FORM_SECRETS;

	leave_out(map, "key", !secrets || (clear && all_zero(security->key, CIPHER_MAX_KEY)));
	leave_out(map, "iv", !secrets || (clear && all_zero(security->iv, CIPHER_MAX_IV)));
	leave_out(map, "next_key", !secrets);
	leave_default(map, "use_next_key", form, !security->use_next_key);
	leave_out(map, "next_iv", !secrets || !security->has_next_key);
	return truncate_secrets(map, security);
}

/* Removes defaults that have no meaning for the flow's scheduling service. */
static void finish_upstream_flow(json_t *map, const struct flow_grants *g) {
	bool activity = g->scheduling == SCHEDULING_UNSOLICITED_GRANT_ACTIVITY;

	leave_out(map, "grants_per_interval",
		  !activity && g->scheduling != SCHEDULING_UNSOLICITED_GRANT);
	leave_out(map, "active_timeout", !activity);
	leave_out(map, "guaranteed_grant_rate", g->scheduling != SCHEDULING_PROACTIVE_GRANT);
}

/* Removes the keys of the other channel type. */
static void finish_upstream_channel(json_t *map, const struct upstream_channel *channel) {
	static const char *const ofdma_keys[] = {"frame_symbols", "cyclic_prefix",
						 "subcarrier_spacing", "frame_minislots", "bits"};
	static const char *const sc_qam_keys[] = {"minislot_ticks", "symbol_rate", "modulation",
						  "burst_minislots"};
	bool ofdma = channel->type == UPSTREAM_OFDMA;
	json_t *physical = json_object_get(map, "physical");

	for (size_t i = 0; i < sizeof(ofdma_keys) / sizeof(ofdma_keys[0]); i++)
		leave_out(physical, ofdma_keys[i], !ofdma);
	for (size_t i = 0; i < sizeof(sc_qam_keys) / sizeof(sc_qam_keys[0]); i++)
		leave_out(physical, sc_qam_keys[i], ofdma);
}

/* Returns false if memory is short. */
static bool finish_modem(json_t *map, const struct modem *modem, enum form form) {
	json_t *flows = json_object_get(map, "service_flows");
	json_t *classifiers = json_object_get(map, "classifiers");
	json_t *upstream = json_object_get(map, "upstream_service_flows");

	leave_default(map, "cpe_limit_ipv6", form, modem->cpe_limit_ipv6 == modem->cpe_limit);
	leave_default(map, "max_aggregate_burst", form,
		      modem->aggregate_burst == default_burst(modem->aggregate_rate));
	if (!finish_security(json_object_get(map, "security"), &modem->security, form))
		return false;
	for (size_t f = 0; f < json_array_size(flows); f++) {
		if (!finish_flow(json_array_get(flows, f), &modem->service_flows[f], modem, form))
			return false;
	}
	for (size_t f = 0; f < json_array_size(upstream); f++)
		finish_upstream_flow(json_array_get(upstream, f), &modem->upstream_flows[f].grants);
	for (size_t c = 0; c < json_array_size(classifiers); c++) {
		uint32_t id = modem->service_flows[modem->classifiers[c].flow].id;

		if (json_object_set_new(json_array_get(classifiers, c), "service_flow",
					json_integer(id)) != 0)
			return false;
	}
	return true;
}

static void finish_channel(json_t *map, const struct channel *channel) {
	enum psp_extra by_default =
		channel->pseudowire == PSEUDOWIRE_PSP_DEPI ? PSP_EXTRA_COUNTER : PSP_EXTRA_NONE;

	leave_out(map, "psp_extra", channel->psp_extra == by_default);
}

void object_single_keys(struct key keys[OBJECT_SINGLE_KEYS + 1]) {
	size_t used = 0;

	for (const struct key *key = service_group_keys; key->name != NULL; key++) {
		if (key->offset == offsetof(struct service_group, rate_limit) ||
		    key->offset == offsetof(struct service_group, cpe_timeout_ns))
			keys[used++] = *key;
	}
	keys[used] = (struct key){0};
}

json_t *object_values_json(const struct service_group *sg) {
	struct key keys[OBJECT_SINGLE_KEYS + 1];

	object_single_keys(keys);
	return map_json(keys, sg);
}

static json_t *copy_json(enum live_object object, const void *copy, enum form form) {
	json_t *map = map_json(object_key(object)->item->keys, copy);

	if (map != NULL && object == LIVE_CHANNEL)
		finish_channel(map, copy);
	if (map != NULL && object == LIVE_UPSTREAM_CHANNEL)
		finish_upstream_channel(map, copy);
	if (map != NULL && object == LIVE_MODEM && !finish_modem(map, copy, form)) {
		json_decref(map);
		return NULL;
	}
	return map;
}

json_t *object_copy_json(enum live_object object, const void *copy, bool secrets) {
	return copy_json(object, copy, file_form(secrets));
}

/* The object of a slot that is not free. */
static json_t *slot_json(const struct live_group *l, enum live_object object, uint32_t slot,
			 enum form form) {
	const struct references ids = object_ids(&l->sg);
	void *copy = object_copy(object, live_item(&l->sg, object, slot), &ids);
	json_t *map;

	if (copy == NULL)
		return NULL;
	map = copy_json(object, copy, form);
	secret_free(copy);
	return map;
}

json_t *object_json(const struct live_group *l, enum live_object object, uint32_t slot,
		    bool secrets) {
	if (object == LIVE_GROUP)
		return object_values_json(&l->sg);
	return slot_json(l, object, slot, file_form(secrets));
}

json_t *object_modem_json(const struct live_group *l, const struct modem *modem) {
	return slot_json(l, LIVE_MODEM, (uint32_t)(modem - l->sg.modems), FORM_WHOLE);
}

json_t *object_security_json(const struct modem *modem, bool secrets) {
	const struct key *key = object_key(LIVE_MODEM)->item->keys;
	json_t *map;

	while (strcmp(key->name, "security") != 0)
		key++;
	map = value_json(key, modem);
	if (map == NULL || finish_security(map, &modem->security, file_form(secrets)))
		return map;
	json_decref(map);
	return NULL;
}

json_t *object_identity_json(enum live_object object, const void *item) {
	const struct key *key = object_key(object)->item->keys;
	const char *name = object == LIVE_MODEM ? "mac" : "id";

	while (strcmp(key->name, name) != 0)
		key++;
	return json_pack("{s:o}", name, value_json(key, item));
}
