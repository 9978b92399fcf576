/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/modem_methods.h"

#include "model/live/live_group.h"
#include "model/live/object_json.h"
#include "model/units.h"

static json_t *mac_json(const uint8_t mac[6]) {
	char text[UNITS_TEXT_SIZE];

	units_format_mac(mac, text);
	return json_string(text);
}

static json_t *listed_modem(const struct modem *m) {
	return json_pack("{s:o, s:I, s:I, s:I}", "mac", mac_json(m->mac), "addresses",
			 (json_int_t)m->address_count, "service_flows",
			 (json_int_t)m->service_flow_count, "upstream_service_flows",
			 (json_int_t)m->upstream_flow_count);
}

json_t *modem_list(struct rpc_call *call) {
	const struct modem_list_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);
	const struct service_group *sg;
	json_t *list, *answer;
	size_t slot = p->first;

	if (g == NULL)
		return NULL;
	sg = subject_config(g);
	list = json_array();
	for (; slot < sg->modem_count && json_array_size(list) < p->count; slot++) {
		if (modem_exists(&sg->modems[slot]))
			json_array_append_new(list, listed_modem(&sg->modems[slot]));
	}
	while (slot < sg->modem_count && !modem_exists(&sg->modems[slot]))
		slot++;
	answer = json_pack("{s:I, s:o}", "group", (json_int_t)sg->id, "modems", list);
	if (slot < sg->modem_count)
		json_object_set_new(answer, "next", json_integer((json_int_t)slot));
	return answer;
}

/* Adds the number of SID clusters of each flow. Returns 0, or -1 without memory. */
static int put_clusters(json_t *flows, const struct modem *m) {
	for (size_t f = 0; f < m->upstream_flow_count; f++) {
		json_t *count = json_integer((json_int_t)m->upstream_flows[f].cluster_count);

		if (json_object_set_new(json_array_get(flows, f), "clusters", count) != 0)
			return -1;
	}
	return 0;
}

/* Copies keys that a file has in `security` to the top level of the result. Returns 0, or -1
 * without memory. */
static int put_security(json_t *json, const struct modem *m) {
	static const char *const names[] = {"said", "cipher", "key_sequence"};
	const json_t *security = json_object_get(json, "security");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (json_object_set(json, names[i], json_object_get(security, names[i])) != 0)
			return -1;
	}
	return json_object_set_new(json, "has_next_key", json_boolean(m->security.has_next_key));
}

/* All keys of the modem, and the members of modem_get_result. Returns NULL without memory. */
static json_t *reported_modem(const struct live_group *l, const struct modem *m) {
	json_t *keys = object_modem_json(l, m), *json = object_identity_json(LIVE_MODEM, m);
	bool good = json_object_set_new(json, "group", json_integer(l->sg.id)) == 0 &&
		    json_object_update(json, keys) == 0 && put_security(json, m) == 0 &&
		    put_clusters(json_object_get(json, "upstream_service_flows"), m) == 0;

	json_decref(keys);
	if (good)
		return json;
	json_decref(json);
	return NULL;
}

json_t *modem_get(struct rpc_call *call) {
	const struct modem_get_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);
	const struct modem *m = g != NULL ? subject_modem(call, g, p->mac) : NULL;
	json_t *json = m != NULL ? reported_modem(&g->live, m) : NULL;

	if (m != NULL && json == NULL)
		rpc_refuse(call, RPC_INTERNAL, "no memory left");
	return json;
}
