/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/server/plain_lines.h"

#include <string.h>

/* Outside of quotes, these characters may begin an anchor, alias, tag, block scalar, directive or
 * complex key, or are reserved. */
static const char doubtful[] = "&*!|>%@`?\\";

/* Where a character is, as decided by those before it. */
enum state {
	BEFORE_VALUE, /* a value may begin */
	IN_PLAIN, /* in an unquoted text: a quote is doubtful; a bracket has no meaning unless another is open */
	AFTER_VALUE, /* after a closing quote or bracket */
};

struct line {
	const char *begin, *at, *end;
	enum state state;
	unsigned depth; /* number of open brackets */
};

/* The position after the quoted text that begins here. NULL if no value may begin here, if the text does not end
 * on the line, or if a character follows that cannot follow a value. */
static const char *after_quotes(const struct line *l) {
	char quote = *l->at;
	const char *c = l->at + 1;

	if (l->state != BEFORE_VALUE)
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

static bool is_comment(const struct line *l) {
	return *l->at == '#' && (l->at == l->begin || l->at[-1] == ' ');
}

static bool space_follows(const struct line *l) {
	return l->at + 1 == l->end || l->at[1] == ' ';
}

/* Steps over a bracket. Returns false for a closing one without an opening one, and for an opening one where
 * no value may begin. */
static bool bracket(struct line *l) {
	bool opens = *l->at == '[' || *l->at == '{';

	if (l->state == IN_PLAIN && l->depth == 0)
		return true;
	if (opens ? l->state != BEFORE_VALUE : l->depth == 0)
		return false;
	if (opens)
		l->depth++;
	else
		l->depth--;
	l->state = opens ? BEFORE_VALUE : AFTER_VALUE;
	return true;
}

/* Steps over a colon: the end of a key, or a character of an unquoted text. Returns false for one in
 * brackets without a key before it, as in `[:a]`: some parsers take it for the end of an empty key. */
static bool colon(struct line *l) {
	if (l->depth > 0 && l->state == BEFORE_VALUE && !space_follows(l))
		return false;
	l->state = space_follows(l) || (l->depth > 0 && l->state == AFTER_VALUE) ? BEFORE_VALUE
										 : IN_PLAIN;
	return true;
}

/* Steps over a character that is no quote and begins no comment. Returns false if the line may not be plain. */
static bool step(struct line *l) {
	switch (*l->at) {
	case ' ': return true;
	case '[':
	case '{':
	case ']':
	case '}': return bracket(l);
	case ':': return colon(l);
	case ',': l->state = l->depth > 0 ? BEFORE_VALUE : IN_PLAIN; return true;
	case '-':
		if (l->state != BEFORE_VALUE || l->depth > 0 || !space_follows(l))
			l->state = IN_PLAIN;
		return true;
	case '#': /* a comment unless in an unquoted text */ return l->state == IN_PLAIN;
	default: l->state = IN_PLAIN; return strchr(doubtful, *l->at) == NULL;
	}
}

static bool line_is_plain(const char *begin, const char *end) {
	struct line l = {.begin = begin, .at = begin, .end = end, .state = BEFORE_VALUE};

	if (end - begin >= 3 && (memcmp(begin, "---", 3) == 0 || memcmp(begin, "...", 3) == 0))
		return false;
	while (l.at < end && !is_comment(&l)) {
		if (*l.at == '"' || *l.at == '\'') {
			l.at = after_quotes(&l);
			if (l.at == NULL)
				return false;
			l.state = AFTER_VALUE;
			continue;
		}
		if (!step(&l))
			return false;
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
