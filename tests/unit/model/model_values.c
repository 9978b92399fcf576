/* SPDX-License-Identifier: BSD-3-Clause */
#include "model_values.h"

#include <arpa/inet.h>
#include <inttypes.h>

#include "model/devices.h"
#include "model/grants_times.h"
#include "test.h"

static const char *yes_no(bool yes) {
	return yes ? "yes" : "no";
}

static void put_hex(FILE *out, const char *name, const uint8_t *bytes, size_t size) {
	fprintf(out, "%s=", name);
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%02x", bytes[i]);
	fputc(' ', out);
}

/* Omits the zeros after a shorter key. */
static void put_key(FILE *out, const char *name, const uint8_t *bytes, size_t size) {
	while (size > 0 && bytes[size - 1] == 0)
		size--;
	put_hex(out, name, bytes, size);
}

static void put_address(FILE *out, const struct ip_address *address) {
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, text, sizeof(text));
	fprintf(out, "%s", text);
}

static void put_prefix(FILE *out, const char *name, const struct ip_prefix *prefix) {
	fprintf(out, "%s=", name);
	put_address(out, &prefix->address);
	fprintf(out, "/%u ", prefix->length);
}

static void put_indices(FILE *out, const char *name, const uint32_t *list, size_t count) {
	fprintf(out, "%s=", name);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%u", i > 0 ? "," : "", list[i]);
	fputc(' ', out);
}

static void put_port(FILE *out, const char *prefix, const char *name, const struct port_config *p) {
	fprintf(out, "%s%s: device=%s queue=%u vlan=%u ", prefix, name,
		p->device != NULL ? p->device : "none", p->queue_size, p->vlan);
	put_hex(out, "mac", p->mac, sizeof(p->mac));
	fputc('\n', out);
}

static void put_group_settings(FILE *out, const char *prefix, const struct service_group *sg) {
	const struct rphy_config *r = &sg->rphy;
	const struct thread_config *t = &sg->threads;

	fprintf(out, "%sgroup: name=%s id=%u max_frame=%u rate_limit=%" PRIu64, prefix, sg->name,
		sg->id, sg->max_frame, sg->rate_limit);
	fprintf(out, " cpe_timeout=%" PRIu64 " filter_default=%s max_queued=%u", sg->cpe_timeout_ns,
		sg->filter_default == FILTER_DENY ? "deny" : "permit", sg->max_queued);
	fprintf(out, " channels=%zu upstream_channels=%zu bonding_groups=%zu", sg->channel_count,
		sg->upstream_channel_count, sg->bonding_group_count);
	fprintf(out, " filter_groups=%zu modems=%zu \n", sg->filter_group_count, sg->modem_count);
	put_port(out, prefix, "network", &sg->network);
	put_port(out, prefix, "rphy_port", &sg->rphy_port);
	put_port(out, prefix, "control", &sg->control_port);
	fprintf(out, "%sthreads: downstream=%s main=%u upper=%u lower=%u upstream=%u \n", prefix,
		t->downstream == LAYOUT_1DS2T ? "1ds2t" : "1ds1t", t->main_core, t->upper_mac_core,
		t->lower_mac_core, t->upstream_core);
	fprintf(out, "%srphy: ", prefix);
	put_hex(out, "core_mac", r->core_mac, sizeof(r->core_mac));
	put_hex(out, "rpd_mac", r->rpd_mac, sizeof(r->rpd_mac));
	fprintf(out, "core_ip=");
	put_address(out, &r->core_ip);
	fprintf(out, " rpd_ip=");
	put_address(out, &r->rpd_ip);
	fprintf(out, " mtu=%u dscp=%u ttl=%u flush=%" PRIu64 " max_segments=%u \n", r->mtu, r->dscp,
		r->ttl, r->flush_ns, r->max_segments);
	fprintf(out, "%scrypto: provider=%s device=%s serves=%s generate_crc=%s \n", prefix,
		sg->crypto.provider == CRYPTO_CRYPTODEV ? "cryptodev" : "ipsec-mb",
		sg->crypto.device != NULL ? sg->crypto.device : "none",
		crypto_provider_name(&sg->crypto), yes_no(sg->crypto.generate_crc));
}

static void put_upstream(FILE *out, const char *prefix, const struct upstream_config *u) {
	fprintf(out, "%supstream: verify_source=%s verify_crc=%s psp_numbering=%s", prefix,
		yes_no(u->verify_source), yes_no(u->verify_crc),
		u->psp_numbering == PSP_NUMBERING_SESSION ? "session" : "flow");
	fprintf(out, " reorder_timeout=%" PRIu64 " frame_timeout=%" PRIu64, u->reorder_timeout_ns,
		u->frame_timeout_ns);
	fprintf(out, " held_by_modem=%u held=%u limit_given=%s scheduled=%s",
		u->modem_pending_limit, u->pending, yes_no(u->pending_given), yes_no(u->scheduled));
	fprintf(out, " map_interval=%" PRIu64 " psp_flow=%u \n", u->scheduler.map_interval,
		u->scheduler.psp_flow);
}

static void put_channels(FILE *out, const char *prefix, const struct service_group *sg) {
	static const char *const extras[] = {[PSP_EXTRA_NONE] = "none",
					     [PSP_EXTRA_COUNTER] = "counter",
					     [PSP_EXTRA_STATIC] = "static"};

	for (size_t i = 0; i < sg->channel_count; i++) {
		const struct channel *c = &sg->channels[i];

		fprintf(out, "%schannel %zu: id=%u type=%s rate=%" PRIu64 " session=%#x", prefix, i,
			c->id, c->type == CHANNEL_OFDM ? "ofdm" : "sc-qam", c->rate, c->session);
		fprintf(out, " pseudowire=%s psp_extra=%s profile=%u \n",
			c->pseudowire == PSEUDOWIRE_PSP_DEPI ? "psp" : "psp-legacy",
			extras[c->psp_extra], c->profile);
	}
	for (size_t i = 0; i < sg->bonding_group_count; i++) {
		const struct bonding_group *b = &sg->bonding_groups[i];

		fprintf(out, "%sbonding_group %zu: id=%u ", prefix, i, b->id);
		put_indices(out, "channels", b->channels, b->channel_count);
		fputc('\n', out);
	}
}

static void put_upstream_channels(FILE *out, const char *prefix, const struct service_group *sg) {
	for (size_t i = 0; i < sg->upstream_channel_count; i++) {
		const struct upstream_channel *c = &sg->upstream_channels[i];
		struct grants_times t = {0};

		if (sg->upstream.scheduled)
			t = grants_times_of(&sg->upstream.scheduler, c);
		fprintf(out, "%supstream_channel %zu: id=%u type=%s rate=%" PRIu64, prefix, i,
			c->id, c->type == UPSTREAM_OFDMA ? "ofdma" : "sc-qam", c->rate);
		fprintf(out, " session=%#x request_session=%#x ranging_session=%#x", c->session,
			c->request_session, c->ranging_session);
		fprintf(out, " map_session=%#x map_channels=%u,%u frame=%u frame_minislots=%u",
			grants_map_session(c), grants_map_channel(sg, c, 0),
			grants_map_channel(sg, c, 1), t.frame, t.frame_minislots);
		fprintf(out, " minislot_bytes=%u interval=%u minislots=%u lead=%u ack_delay=%u",
			t.minislot_bytes, t.interval, t.minislots, t.lead, t.ack_delay);
		fprintf(out, " initial_minislots=%u station_minislots=%u \n", t.initial_minislots,
			t.station_minislots);
	}
}

static void put_match(FILE *out, const struct match *m) {
	static const char *const families[] = {
		[RULE_IPV4] = "ipv4", [RULE_IPV6] = "ipv6", [RULE_LLC] = "llc"};

	fprintf(out, "family=%s ", families[m->family]);
	put_prefix(out, "source", &m->source);
	put_prefix(out, "destination", &m->destination);
	fprintf(out, "protocol=%d tos=%#x/%#x source_ports=%u-%u destination_ports=%u-%u",
		m->has_protocol ? m->protocol : -1, m->tos, m->tos_mask, m->source_ports.low,
		m->source_ports.high, m->destination_ports.low, m->destination_ports.high);
	fprintf(out, " ethertype=%d \n", m->has_ethertype ? m->ethertype : -1);
}

static void put_filters(FILE *out, const char *prefix, const struct service_group *sg) {
	for (size_t i = 0; i < sg->filter_group_count; i++) {
		const struct filter_group *f = &sg->filter_groups[i];

		fprintf(out, "%sfilter_group %zu: id=%u rules=%zu \n", prefix, i, f->id,
			f->rule_count);
		for (size_t k = 0; k < f->rule_count; k++) {
			fprintf(out, "%srule %zu.%zu: action=%s ", prefix, i, k,
				f->rules[k].action == FILTER_DENY ? "deny" : "permit");
			put_match(out, &f->rules[k].match);
		}
	}
}

static void put_flow(FILE *out, const struct service_flow *f) {
	static const char *const aqms[] = {
		[AQM_TAIL_DROP] = "tail-drop", [AQM_WRED] = "wred", [AQM_DOCSIS_PIE] = "pie"};

	fprintf(out, "id=%u active=%s bonding_group=%u dsid=%d priority=%u weight=%u", f->id,
		yes_no(f->active), f->bonding_group, f->has_dsid ? (int)f->dsid : -1, f->priority,
		f->weight);
	fprintf(out, " sustained_rate=%" PRIu64 " traffic_burst=%u peak_rate=%" PRIu64,
		f->sustained_rate, f->traffic_burst, f->peak_rate);
	fprintf(out, " reserved_rate=%" PRIu64 " reserved_packet=%u buffers=%u,%u,%u aqm=%s",
		f->reserved_rate, f->reserved_packet, f->min_buffer, f->buffer, f->max_buffer,
		aqms[f->aqm]);
	fprintf(out, " wred=%u-%u,%u,%u latency_target=%" PRIu64 " \n", f->wred.min_threshold,
		f->wred.max_threshold, f->wred.max_probability, f->wred.weight,
		f->latency_target_ns);
}

static void put_security(FILE *out, const struct security_association *s) {
	static const char *const ciphers[] = {[CIPHER_NONE] = "none",
					      [CIPHER_AES_128] = "aes-128",
					      [CIPHER_AES_256] = "aes-256",
					      [CIPHER_DES] = "des"};

	fprintf(out, "said=%#x cipher=%s sizes=%u,%u key_sequence=%u has_next_key=%s ", s->said,
		ciphers[s->cipher], cipher_key_size(s->cipher), cipher_iv_size(s->cipher),
		s->key_sequence, yes_no(s->has_next_key));
	put_key(out, "key", s->key, sizeof(s->key));
	put_key(out, "iv", s->iv, sizeof(s->iv));
	put_key(out, "next_key", s->next_key, sizeof(s->next_key));
	put_key(out, "next_iv", s->next_iv, sizeof(s->next_iv));
	fputc('\n', out);
}

static void put_upstream_flows(FILE *out, const char *prefix, size_t modem, const struct modem *m) {
	for (size_t i = 0; i < m->upstream_flow_count; i++) {
		const struct upstream_service_flow *f = &m->upstream_flows[i];

		fprintf(out,
			"%supstream_flow %zu.%zu: id=%u segment_header=%s request_multiplier=%u",
			prefix, modem, i, f->id, yes_no(f->segment_header),
			f->grants.request_multiplier);
		for (size_t k = 0; k < f->cluster_count; k++) {
			fprintf(out, " cluster_%u=", f->clusters[k].id);
			for (size_t n = 0; n < f->clusters[k].sid_count; n++)
				fprintf(out, "%s%u:%#x", n > 0 ? "," : "",
					f->clusters[k].sids[n].channel, f->clusters[k].sids[n].sid);
		}
		fprintf(out, " clusters=%zu \n", f->cluster_count);
	}
}

static void put_modem(FILE *out, const char *prefix, size_t number, const struct modem *m) {
	fprintf(out, "%smodem %zu: ", prefix, number);
	put_hex(out, "mac", m->mac, sizeof(m->mac));
	fprintf(out, "addresses=");
	for (size_t i = 0; i < m->address_count; i++) {
		fprintf(out, "%s", i > 0 ? "," : "");
		put_address(out, &m->addresses[i]);
	}
	fprintf(out, " cpe_limits=%u,%u bonding_group=%u aggregate=%" PRIu64 ",%u ", m->cpe_limit,
		m->cpe_limit_ipv6, m->bonding_group, m->aggregate_rate, m->aggregate_burst);
	put_indices(out, "filter_groups", m->filter_groups, m->filter_group_count);
	fprintf(out, "flows=%zu classifiers=%zu upstream_flows=%zu \n", m->service_flow_count,
		m->classifier_count, m->upstream_flow_count);
	fprintf(out, "%ssecurity %zu: ", prefix, number);
	put_security(out, &m->security);
	for (size_t i = 0; i < m->service_flow_count; i++) {
		fprintf(out, "%sflow %zu.%zu: ", prefix, number, i);
		put_flow(out, &m->service_flows[i]);
	}
	for (size_t i = 0; i < m->classifier_count; i++) {
		fprintf(out, "%sclassifier %zu.%zu: flow=%u ", prefix, number, i,
			m->classifiers[i].flow);
		put_match(out, &m->classifiers[i].match);
	}
	put_upstream_flows(out, prefix, number, m);
}

static void put_group(FILE *out, const char *prefix, const struct service_group *sg) {
	put_group_settings(out, prefix, sg);
	put_upstream(out, prefix, &sg->upstream);
	put_channels(out, prefix, sg);
	put_upstream_channels(out, prefix, sg);
	put_filters(out, prefix, sg);
	for (size_t i = 0; i < sg->modem_count; i++)
		put_modem(out, prefix, i, &sg->modems[i]);
}

char *group_values(const struct service_group *sg) {
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	put_group(out, "", sg);
	fclose(out);
	return text;
}

char *server_values(const struct server_config *config) {
	static const char *const policies[] = {[POWER_NONE] = "none",
					       [POWER_PERFORMANCE] = "performance",
					       [POWER_BALANCED] = "balanced",
					       [POWER_SAVING] = "saving"};
	static const char *const idles[] = {"poll",   "spin",	"tpause-c0.1", "tpause-c0.2",
					    "mwaitx", "umwait", "sleep",       "auto"};
	const struct power_config *p = &config->power;
	char *text, prefix[24];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "server: name=%s groups=%zu max=%zu main_core=%u metrics=%s \n", config->name,
		config->group_count, server_config_max_groups(config), config->main_core,
		config->metrics != NULL ? config->metrics : "none");
	fprintf(out, "power: idle=%s empty_rounds=%u longest_pause=%" PRIu64 " coalesce=%" PRIu64,
		idles[p->idle], p->empty_rounds, p->longest_pause, p->coalesce);
	fprintf(out, " policy=%s", policies[p->policy]);
	fprintf(out, " driver=%s latency=%" PRIu64 " busy_hours=%s%u-%u \n",
		p->driver == POWER_DRIVER_SIMULATED ? "simulated" : "other", p->latency,
		p->has_busy_hours ? "" : "none,", p->busy_hours.from, p->busy_hours.to);
	for (size_t g = 0; g < config->group_count; g++) {
		snprintf(prefix, sizeof(prefix), "%zu/", g);
		put_group(out, prefix, &config->groups[g]);
	}
	fclose(out);
	return text;
}

/* The line of `values` for the object that `line` names before its colon; NULL if there is none. */
static const char *find_line(const char *values, const char *line) {
	size_t size = strcspn(line, ":") + 1;

	while (*values != '\0' && strncmp(values, line, size) != 0)
		values += strcspn(values, "\n") + 1;
	return *values != '\0' ? values : NULL;
}

static void expect_line(const char *values, char *line) {
	const char *match = find_line(values, line);
	char *rest = strchr(line, ':'), *actual, *name;

	if (match == NULL || rest == NULL)
		fail_msg("no object of \"%s\" in:\n%s", line, values);
	actual = strndup(match, strcspn(match, "\n"));
	assert_non_null(actual);
	rest += 2;
	while ((name = strsep(&rest, " ")) != NULL) {
		char value[512];

		snprintf(value, sizeof(value), " %s ", name);
		if (strstr(actual, value) == NULL)
			fail_msg("expected %s in: %s", name, actual);
	}
	free(actual);
}

void expect_values(const char *values, const char *expected) {
	char *lines = strdup(expected), *rest = lines, *line;

	assert_non_null(lines);
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line != '\0')
			expect_line(values, line);
	}
	free(lines);
}
