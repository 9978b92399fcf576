/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/log/log_line.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TAIL 2 /* reserved bytes: the end of an object, and of the line */
#define FIELDS_SIZE 1024 /* bytes reserved for the fields */
#define HIGHEST_PRIORITY 3 /* syslog priority of an error */

static const char *const names[LEVELS] = {"error", "warning", "notice", "info", "debug"};

/* The output position and limit. */
struct writer {
	char *at, *end;
	bool full; /* something did not fit */
};

static void put(struct writer *w, const char *bytes, size_t size) {
	if (w->full || size > (size_t)(w->end - w->at)) {
		w->full = true;
		return;
	}
	memcpy(w->at, bytes, size);
	w->at += size;
}

static void put_text(struct writer *w, const char *text) {
	put(w, text, strlen(text));
}

static void put_number(struct writer *w, uint64_t number) {
	char text[24];

	put(w, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, number));
}

static void put_byte_as(struct writer *w, const char *format, unsigned char byte) {
	char text[8];

	put(w, text, (size_t)snprintf(text, sizeof(text), format, byte));
}

static bool is_control(unsigned char byte) {
	return byte < 0x20 || byte == 0x7f;
}

/* Ranges of UTF-8 first bytes: upper bound, length, and allowed second bytes. Excludes overlong forms,
 * surrogates and values above the last code point (RFC 3629). */
static const struct {
	unsigned char first, size, low, high;
} characters[] = {
	{0x7f, 1, 0, 0},       {0xc1, 0, 0, 0},	      {0xdf, 2, 0x80, 0xbf}, {0xe0, 3, 0xa0, 0xbf},
	{0xec, 3, 0x80, 0xbf}, {0xed, 3, 0x80, 0x9f}, {0xef, 3, 0x80, 0xbf}, {0xf0, 4, 0x90, 0xbf},
	{0xf3, 4, 0x80, 0xbf}, {0xf4, 4, 0x80, 0x8f}, {0xff, 0, 0, 0},
};

/* Length of a valid UTF-8 character in bytes; 0: invalid. */
static size_t utf8_size(const char *text) {
	const unsigned char *c = (const unsigned char *)text;
	size_t size, k = 0;

	while (c[0] > characters[k].first)
		k++;
	size = characters[k].size;
	if (size > 1 && (c[1] < characters[k].low || c[1] > characters[k].high))
		return 0;
	for (size_t i = 2; i < size; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	}
	return size;
}

/* Writes text with escaped control characters, so that it cannot end the line or control a terminal. */
static void put_shown(struct writer *w, const char *text, bool quoted) {
	for (; *text != '\0' && !w->full; text++) {
		unsigned char byte = (unsigned char)*text;

		if (is_control(byte))
			put_byte_as(w, "\\x%02x", byte);
		else if (quoted && (byte == '"' || byte == '\\'))
			put(w, byte == '"' ? "\\\"" : "\\\\", 2);
		else
			put(w, text, 1);
	}
}

static void put_json_text(struct writer *w, const char *text) {
	while (*text != '\0' && !w->full) {
		size_t size = utf8_size(text);

		if (size == 0)
			put_text(w, "\\ufffd");
		else if (*text == '"' || *text == '\\')
			put(w, *text == '"' ? "\\\"" : "\\\\", 2);
		else if (is_control((unsigned char)*text))
			put_byte_as(w, "\\u%04x", (unsigned char)*text);
		else
			put(w, text, size);
		text += size == 0 ? 1 : size;
	}
}

static void put_time(struct writer *w, const struct timespec *time) {
	char text[40];
	struct tm utc;
	size_t used;

	gmtime_r(&time->tv_sec, &utc);
	used = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text + used, sizeof(text) - used, ".%06ldZ", time->tv_nsec / 1000);
	put_text(w, text);
}

/* Cuts the message if necessary; bytes for the fields remain. */
static void put_message(struct writer *w, const char *message, bool json) {
	char *end = w->end;

	w->end -= FIELDS_SIZE;
	if (json)
		put_json_text(w, message);
	else
		put_shown(w, message, false);
	w->end = end;
	w->full = false;
}

static bool needs_quotes(const char *text) {
	if (*text == '\0')
		return true;
	for (; *text != '\0'; text++) {
		if (!isgraph((unsigned char)*text) || strchr("\"=\\", *text) != NULL)
			return true;
	}
	return false;
}

static void put_field(struct writer *w, const struct log_field *f) {
	put_text(w, " ");
	put_text(w, f->key);
	put_text(w, "=");
	if (f->text == NULL) {
		put_number(w, f->number);
	} else if (needs_quotes(f->text)) {
		put_text(w, "\"");
		put_shown(w, f->text, true);
		put_text(w, "\"");
	} else {
		put_text(w, f->text);
	}
}

static void put_json_member(struct writer *w, const char *key, const char *text) {
	put_text(w, ",\"");
	put_text(w, key);
	put_text(w, "\":\"");
	put_json_text(w, text);
	put_text(w, "\"");
}

static void put_json_field(struct writer *w, const struct log_field *f) {
	if (f->text != NULL) {
		put_json_member(w, f->key, f->text);
		return;
	}
	put_text(w, ",\"");
	put_text(w, f->key);
	put_text(w, "\":");
	put_number(w, f->number);
}

static void put_fields(struct writer *w, const struct log_line *l) {
	for (const struct log_field *f = l->fields; f != NULL && f->key != NULL; f++) {
		struct writer before = *w;

		if (l->format == LOG_JSON)
			put_json_field(w, f);
		else
			put_field(w, f);
		if (w->full) { /* each field is complete or omitted */
			*w = before;
			return;
		}
	}
}

static void write_json(struct writer *w, const struct log_line *l) {
	put_text(w, "{\"time\":\"");
	put_time(w, &l->time);
	put_text(w, "\"");
	put_json_member(w, "level", names[l->level]);
	put_json_member(w, "area", l->area);
	put_text(w, ",\"message\":\"");
	put_message(w, l->message, true);
	put_text(w, "\"");
	put_fields(w, l);
}

static void write_text(struct writer *w, const struct log_line *l) {
	if (!l->journal) {
		put_time(w, &l->time);
		put_text(w, " ");
		put_text(w, names[l->level]);
		put_text(w, " ");
	}
	put_text(w, l->area);
	put_text(w, ": ");
	put_message(w, l->message, false);
	put_fields(w, l);
}

static void write_plain(struct writer *w, const struct log_line *l) {
	if (!l->foreign) {
		put_text(w, l->program);
		put_text(w, ": ");
	}
	put_message(w, l->message, false);
}

size_t log_line_write(const struct log_line *line, char out[LOG_LINE]) {
	struct writer w = {out, out + LOG_LINE - TAIL, false};

	if (line->journal) {
		put_text(&w, "<");
		put_number(&w, HIGHEST_PRIORITY + (uint64_t)line->level);
		put_text(&w, ">");
	}
	if (line->format == LOG_JSON)
		write_json(&w, line);
	else if (line->format == LOG_TEXT)
		write_text(&w, line);
	else
		write_plain(&w, line);
	if (line->format == LOG_JSON)
		*w.at++ = '}';
	*w.at++ = '\n';
	return (size_t)(w.at - out);
}

const char *log_level_name(enum log_level level) {
	return names[level];
}
