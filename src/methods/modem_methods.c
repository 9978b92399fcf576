/* SPDX-License-Identifier: BSD-3-Clause */
#include "methods/modem_methods.h"

#include <arpa/inet.h>

#include "model/live/live_group.h"
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
	size_t place = p->first;

	if (g == NULL)
		return NULL;
	sg = subject_config(g);
	list = json_array();
	for (; place < sg->modem_count && json_array_size(list) < p->count; place++) {
		if (modem_is_there(&sg->modems[place]))
			json_array_append_new(list, listed_modem(&sg->modems[place]));
	}
	while (place < sg->modem_count && !modem_is_there(&sg->modems[place]))
		place++;
	answer = json_pack("{s:I, s:o}", "group", (json_int_t)sg->id, "modems", list);
	if (place < sg->modem_count)
		json_object_set_new(answer, "next", json_integer((json_int_t)place));
	return answer;
}

static json_t *told_addresses(const struct modem *m) {
	json_t *list = json_array();

	for (size_t a = 0; a < m->address_count; a++) {
		const struct ip_address *address = &m->addresses[a];
		char text[INET6_ADDRSTRLEN];

		inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, text,
			  sizeof(text));
		json_array_append_new(list, json_string(text));
	}
	return list;
}

static json_t *told_filter_groups(const struct service_group *sg, const struct modem *m) {
	json_t *list = json_array();

	for (size_t f = 0; f < m->filter_group_count; f++)
		json_array_append_new(list,
				      json_integer(sg->filter_groups[m->filter_groups[f]].id));
	return list;
}

static json_t *told_flow(const struct service_group *sg, const struct service_flow *f) {
	json_t *json =
		json_pack("{s:I, s:s, s:I, s:i, s:i, s:I, s:I, s:I}", "id", (json_int_t)f->id,
			  "state", f->active ? "active" : "provisioned", "bonding_group",
			  (json_int_t)sg->bonding_groups[f->bonding_group].id, "priority",
			  f->priority, "weight", f->weight, "max_sustained_rate",
			  (json_int_t)f->sustained_rate, "peak_rate", (json_int_t)f->peak_rate,
			  "min_reserved_rate", (json_int_t)f->reserved_rate);

	if (f->has_dsid)
		json_object_set_new(json, "dsid", json_integer(f->dsid));
	return json;
}

static json_t *told_flows(const struct service_group *sg, const struct modem *m) {
	json_t *list = json_array();

	for (size_t f = 0; f < m->service_flow_count; f++)
		json_array_append_new(list, told_flow(sg, &m->service_flows[f]));
	return list;
}

static json_t *told_upstream_flows(const struct modem *m) {
	json_t *list = json_array();

	for (size_t f = 0; f < m->upstream_flow_count; f++) {
		const struct upstream_service_flow *flow = &m->upstream_flows[f];

		json_array_append_new(list, json_pack("{s:I, s:b, s:I}", "id", (json_int_t)flow->id,
						      "segment_header", flow->segment_header,
						      "clusters", (json_int_t)flow->cluster_count));
	}
	return list;
}

static void put_security(json_t *json, const struct security_association *s) {
	json_object_set_new(json, "said", json_integer(s->said));
	json_object_set_new(json, "cipher", json_string(cipher_name(s->cipher)));
	json_object_set_new(json, "key_sequence", json_integer(s->key_sequence));
	json_object_set_new(json, "has_next_key", json_boolean(s->has_next_key));
}

json_t *modem_get(struct rpc_call *call) {
	const struct modem_get_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);
	const struct modem *m = g != NULL ? subject_modem(call, g, p->mac) : NULL;
	const struct service_group *sg;
	json_t *json;

	if (m == NULL)
		return NULL;
	sg = subject_config(g);
	json = json_pack("{s:o, s:I, s:o, s:I, s:I, s:I, s:o, s:I, s:I}", "mac", mac_json(m->mac),
			 "group", (json_int_t)sg->id, "addresses", told_addresses(m), "cpe_limit",
			 (json_int_t)m->cpe_limit, "cpe_limit_ipv6", (json_int_t)m->cpe_limit_ipv6,
			 "bonding_group", (json_int_t)sg->bonding_groups[m->bonding_group].id,
			 "filter_groups", told_filter_groups(sg, m), "classifiers",
			 (json_int_t)m->classifier_count, "max_aggregate_rate",
			 (json_int_t)m->aggregate_rate);
	put_security(json, &m->security);
	json_object_set_new(json, "service_flows", told_flows(sg, m));
	json_object_set_new(json, "upstream_service_flows", told_upstream_flows(m));
	return json;
}
