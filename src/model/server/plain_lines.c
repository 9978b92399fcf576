/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/server/plain_lines.h"

#include <string.h>

/* Outside of quotes, these characters may continue a value on other lines or refer to other
 * nodes. */
static const char doubtful[] = "&*!|>%@`?\\";

struct line {
	const char *at, *end;
	char before; /* last character that is not a space; 0: none */
	unsigned depth; /* number of open brackets */
};

/* Whether a value may begin here. */
static bool is_at_value(const struct line *l) {
	return l->before == 0 || strchr("[{,:-", l->before) != NULL;
}

/* The position after the quoted text that begins here; NULL if it does not end, or begins no
 * value. */
static const char *after_quotes(const struct line *l) {
	char quote = *l->at;
	const char *c = l->at + 1;

	if (!is_at_value(l))
		return NULL;
	for (; c < l->end && *c != quote; c++) {
		if (quote == '"' && *c == '\\')
			c++;
	}
	if (c >= l->end)
		return NULL;
	c++;
	return c == l->end || strchr(" ,:]}", *c) != NULL ? c : NULL;
}

static bool is_comment(const struct line *l, const char *begin) {
	return *l->at == '#' && (l->at == begin || l->at[-1] == ' ');
}

/* Counts brackets. Returns false for a closing one without an opening one. */
static bool brackets(struct line *l) {
	if (*l->at == '[' || *l->at == '{')
		l->depth++;
	else if (*l->at == ']' || *l->at == '}')
		return l->depth-- > 0;
	return true;
}

static bool line_is_plain(const char *begin, const char *end) {
	struct line l = {.at = begin, .end = end};

	if (end - begin >= 3 && (memcmp(begin, "---", 3) == 0 || memcmp(begin, "...", 3) == 0))
		return false;
	while (l.at < end && !is_comment(&l, begin)) {
		if (*l.at == '"' || *l.at == '\'') {
			l.at = after_quotes(&l);
			if (l.at == NULL)
				return false;
			l.before = '"';
			continue;
		}
		if (strchr(doubtful, *l.at) != NULL || !brackets(&l))
			return false;
		if (*l.at != ' ')
			l.before = *l.at;
		l.at++;
	}
	return l.depth == 0;
}

static bool is_ascii(const char *text, size_t size) {
	bool good = true;

	for (size_t i = 0; i < size; i++)
		good &= (text[i] >= ' ' && text[i] < 0x7f) || text[i] == '\n';
	return good;
}

bool plain_lines(const char *text, size_t size) {
	const char *end = text + size;

	if (!is_ascii(text, size))
		return false;
	while (text < end) {
		const char *line = memchr(text, '\n', (size_t)(end - text));

		if (line == NULL)
			line = end;
		if (!line_is_plain(text, line))
			return false;
		text = line + 1;
	}
	return true;
}
