/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the summary as JSON. Keys that other programs read never change; new keys may be added. */
#include "summary/summary_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "crypto/versions.h"
#include "follow/follow.h"
#include "summary/summary_gaps.h"
#include "summary/summary_grants.h"
#include "summary/summary_groups.h"
#include "summary/summary_impairments.h"
#include "summary/summary_qos.h"
#include "summary/summary_refused.h"

static const char *const class_names[CLASS_COUNT] = {
	[CLASS_UNMATCHED] = "unmatched",
	[CLASS_PERMIT] = "permit",
	[CLASS_CLASSIFIED] = "classified",
};

static void summary_set_count(json_t *o, const char *key, uint64_t value) {
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void set_real(json_t *o, const char *key, double value) {
	json_object_set_new(o, key, json_real(value));
}

static void set_counts(json_t *o, const char *key, const char *const *names, const uint64_t *values,
		       int n) {
	json_t *counts = json_object();

	for (int i = 0; i < n; i++)
		summary_set_count(counts, names[i], values[i]);
	json_object_set_new(o, key, counts);
}

struct common downstream_common(const struct traffic_result *r) {
	return (struct common){
		.sent = r->sent,
		.sent_bytes = r->sent_bytes,
		.proven = r->proven,
		.proven_bytes = r->proven_bytes,
		.lost = r->lost,
		.overtaken = r->overtaken,
		.duplicated = r->duplicated,
		.reordered = r->reordered,
		.corrupted = r->corrupted,
		.undecipherable = r->undecipherable,
		.unaccounted = r->unaccounted,
		.configured_bps = r->configured_bps,
		.gbps = r->gbps,
		.seconds = r->seconds,
		.sent_seconds = r->sent_seconds,
		.first_tsc = r->first_tsc,
		.last_tsc = r->last_tsc,
		.latency_us = r->latency_us,
		.latency = r->latency,
		.descheduled = r->descheduled,
		.descheduled_longest_us = r->descheduled_longest_us,
	};
}

struct common upstream_common(const struct uplink_result *r) {
	return (struct common){
		.sent = r->sent,
		.sent_bytes = r->sent_bytes,
		.proven = r->proven,
		.proven_bytes = r->proven_bytes,
		.lost = r->lost,
		.overtaken = r->overtaken,
		.duplicated = r->duplicated,
		.reordered = r->reordered,
		.corrupted = r->corrupted,
		.unaccounted = r->unaccounted,
		.configured_bps = r->counts.configured_bps,
		.gbps = r->gbps,
		.seconds = r->seconds,
		.sent_seconds = r->sent_seconds,
		.first_tsc = r->first_tsc,
		.last_tsc = r->last_tsc,
		.latency_us = r->latency_us,
		.latency = r->latency,
		.descheduled = r->descheduled,
		.descheduled_longest_us = r->descheduled_longest_us,
	};
}

static void set_descheduled(json_t *o, const struct common *c) {
	json_object_set_new(o, "descheduled",
			    json_pack("{s:I, s:f}", "count", (json_int_t)c->descheduled,
				      "longest_us", c->descheduled_longest_us));
}

static void set_common(json_t *o, const struct common *c) {
	summary_set_count(o, "sent", c->sent);
	summary_set_count(o, "proven", c->proven);
	summary_set_count(o, "lost", c->lost);
	summary_set_count(o, "overtaken", c->overtaken);
	summary_set_count(o, "duplicated", c->duplicated);
	summary_set_count(o, "reordered", c->reordered);
	summary_set_count(o, "corrupted", c->corrupted);
	summary_set_count(o, "undecipherable", c->undecipherable);
	json_object_set_new(o, "unaccounted", json_integer(c->unaccounted));
	json_object_set_new(o, "asked_gbps",
			    c->configured_bps > 0 ? json_real(c->configured_bps / 1e9)
						  : json_null());
	set_real(o, "gbps", c->gbps);
	set_real(o, "seconds", c->seconds);
	set_real(o, "sent_seconds", c->sent_seconds);
	json_object_set_new(o, "sent_tsc",
			    json_pack("[I, I]", (json_int_t)c->first_tsc, (json_int_t)c->last_tsc));
	json_object_set_new(o, "latency_us", percentiles_json(c->latency));
	summary_set_count(o, "sent_bytes", c->sent_bytes);
	summary_set_count(o, "proven_bytes", c->proven_bytes);
	set_descheduled(o, c);
}

static void set_resequencing(json_t *o, const struct traffic_result *r) {
	json_object_set_new(o, "resequencing",
			    json_pack("{s:I, s:I, s:I, s:I}", "packets", (json_int_t)r->resequenced,
				      "deepest", (json_int_t)r->resequencing_deepest, "given_up",
				      (json_int_t)r->resequencing_given_up, "skipped",
				      (json_int_t)r->skipped));
}

static void set_replay(json_t *o, const struct capture_counts *c) {
	json_t *replay = json_object();

	summary_set_count(replay, "packets", c->packets);
	summary_set_count(replay, "bytes", c->bytes);
	summary_set_count(replay, "lengthened", c->lengthened);
	summary_set_count(replay, "untagged", c->untagged);
	summary_set_count(replay, "destinations", c->destinations);
	set_counts(replay, "skipped", capture_skip_names, c->skipped, CAPTURE_SKIPS);
	json_object_set_new(o, "replay", replay);
}

json_t *summary_downstream(const struct traffic_result *r) {
	struct common common = downstream_common(r);
	json_t *o = json_object();

	if (o == NULL)
		return NULL;
	set_common(o, &common);
	summary_set_count(o, "counted", r->counted);
	summary_set_count(o, "counted_bytes", r->counted_bytes);
	set_counts(o, "sent_by_class", class_names, r->sent_by_class, CLASS_COUNT);
	json_object_set_new(o, "refused", summary_refused(&r->refused));
	set_counts(o, "corrupted_by", corruption_names, r->corrupted_by, CORRUPTIONS);
	set_counts(o, "unexpected", unexpected_names, r->unexpected, UNEXPECTEDS);
	set_counts(o, "depi_violations", violation_names, r->violations, VIOLATIONS);
	set_counts(o, "formats", format_names, r->formats, FORMATS);
	summary_set_count(o, "unexpected_frames", traffic_unexpected(r, NULL));
	summary_set_count(o, "messages", r->messages);
	summary_set_count(o, "depi_frames", r->depi_frames);
	summary_set_count(o, "depi_bytes", r->depi_bytes);
	set_resequencing(o, r);
	summary_set_count(o, "transmit_backpressure", r->transmit_backpressure);
	summary_set_count(o, "no_buffers", r->no_buffers);
	if (r->flows != 0)
		summary_set_count(o, "flows", r->flows);
	if (r->replay != NULL)
		set_replay(o, r->replay);
	if (r->qos != NULL)
		json_object_set_new(o, "qos", summary_qos(r->qos, r->shaped));
	return o;
}

json_t *summary_upstream(const struct uplink_result *r) {
	struct common common = upstream_common(r);
	json_t *o = json_object();

	if (o == NULL)
		return NULL;
	set_common(o, &common);
	summary_set_count(o, "latency_unknown", r->latency_unknown);
	json_object_set_new(o, "refused", summary_refused(&r->refused));
	set_counts(o, "corrupted_by", uplink_corruption_names, r->corrupted_by, UPLINK_CORRUPTIONS);
	set_counts(o, "unexpected", uplink_unexpected_names, r->unexpected, UPLINK_UNEXPECTEDS);
	summary_set_count(o, "unexpected_frames", traffic_unexpected(NULL, r));
	summary_set_count(o, "uepi_packets", r->counts.packets);
	summary_set_count(o, "uepi_reordered", r->counts.reordered);
	summary_set_count(o, "uepi_segments", r->counts.psp_segments);
	summary_set_count(o, "uepi_bytes", r->counts.bytes);
	summary_set_count(o, "bursts", r->counts.bursts);
	summary_set_count(o, "segments", r->counts.segments);
	summary_set_count(o, "request_records", r->counts.request_records);
	summary_set_count(o, "requests", r->counts.requests);
	summary_set_count(o, "management", r->counts.management);
	summary_set_count(o, "fragments", r->counts.fragments);
	summary_set_count(o, "concatenations", r->counts.concatenations);
	summary_set_count(o, "transmit_backpressure", r->counts.backpressure);
	summary_set_count(o, "crypto_errors", r->counts.crypto_errors);
	if (r->scheduled)
		summary_grants_set(o, &r->grants);
	if (r->impaired)
		summary_impairments_set(o, r);
	return o;
}

/* Without reception, these values are unknown and not 0. */
static void remove_received(json_t *summary) {
	static const char *const keys[] = {
		"proven",	  "proven_bytes",      "lost",
		"duplicated",	  "reordered",	       "corrupted",
		"undecipherable", "overtaken",	       "unaccounted",
		"gbps",		  "latency_us",	       "corrupted_by",
		"unexpected",	  "resequencing",      "depi_violations",
		"depi_frames",	  "depi_bytes",	       "latency_unknown",
		"astray",	  "counted",	       "counted_bytes",
		"messages",	  "unexpected_frames", "formats",
	};
	const char *name;
	json_t *direction;

	json_object_foreach(summary, name, direction) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			json_object_del(direction, keys[i]);
	}
}

static bool directions_set(json_t *o, const struct traffic_result *downstream,
			   const struct uplink_result *upstream, bool send_only) {
	if ((downstream != NULL &&
	     json_object_set_new(o, "downstream", summary_downstream(downstream)) != 0) ||
	    (upstream != NULL &&
	     json_object_set_new(o, "upstream", summary_upstream(upstream)) != 0))
		return false;
	if (send_only)
		remove_received(o);
	return true;
}

static bool groups_set(json_t *o, const struct summary *s) {
	json_t *groups = json_array();

	if (json_object_set_new(o, "groups", groups) != 0)
		return false;
	for (unsigned i = 0; i < s->group_count; i++) {
		const struct summary_group *g = &s->groups[i];
		json_t *group = json_pack("{s:I, s:s}", "id", (json_int_t)g->id, "name", g->name);

		if (json_array_append_new(groups, group) != 0 ||
		    !directions_set(group, g->downstream, g->upstream, s->send_only))
			return false;
	}
	return true;
}

static json_t *summary_json(const struct summary *s) {
	json_t *o = json_object();

	json_object_set_new(o, "version", versions_json());
	if (directions_set(o, s->downstream, s->upstream, s->send_only) && groups_set(o, s))
		return o;
	json_decref(o);
	return NULL;
}

int summary_write(const char *path, const struct summary *s) {
	json_t *summary = summary_json(s);
	bool to_stdout = strcmp(path, "-") == 0;
	FILE *out = to_stdout ? stdout : fopen(path, "w");
	int ret = -1;

	if (summary != NULL && s->measured != NULL)
		summary_gaps(summary, s->measured);
	if (summary != NULL && s->follow != NULL)
		json_object_set_new(summary, "follow", follow_json(s->follow));
	if (out == NULL) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	} else {
		ret = summary == NULL
			      ? -1
			      : json_dumpf(summary, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
		if (ret == 0)
			ret = fputc('\n', out) == EOF ? -1 : 0;
		if ((to_stdout ? fflush(out) : fclose(out)) != 0 || ret != 0) {
			fprintf(stderr, "%s: cannot be written\n", path);
			ret = -1;
		}
	}
	json_decref(summary);
	return ret;
}
