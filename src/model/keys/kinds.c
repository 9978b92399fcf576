/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the values of each kind: in words for people, and as a pattern for machines. */
#include "model/keys/keys.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/errors.h"
#include "model/units.h"
#include "platform/secret/secret_text.h"

#define MAX_DISTANCE 3 /* edits between a mistyped name and the suggested key, at most */
#define LONGEST_NAME 32
#define IPV4_PATTERN "[0-9]{1,3}(\\.[0-9]{1,3}){3}"
#define IPV6_PATTERN "[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*"
#define PORT_PATTERN "(0x[0-9A-Fa-f]{1,4}|[0-9]{1,5})"
#define RATE_PATTERN "[0-9]+(\\.[0-9]+)? ?[kMGT]?bps"

struct words {
	const char *phrase; /* NULL: derived from the key */
	const char *pattern; /* NULL: the value is no text */
};

static const struct words words[] = {
	[KIND_BOOL] = {"true or false", NULL},
	[KIND_INTEGER] = {"a number", NULL},
	[KIND_SIZE] = {"a size such as \"512 kB\"", "^[0-9]+(\\.[0-9]+)? ?([kMG]i?)?B?$"},
	[KIND_RATE] = {"a rate such as \"1.89 Gbps\"", "^" RATE_PATTERN "$"},
	[KIND_RATE_OR_NONE] = {"none, or a rate such as \"1.89 Gbps\"",
			       "^(none|" RATE_PATTERN ")$"},
	[KIND_DURATION] = {"a time such as \"50 us\"", "^[0-9]+(\\.[0-9]+)? ?(ns|us|ms|s|min|h)$"},
	[KIND_NAME] = {"up to 64 of the characters A-Z a-z 0-9 . _ -",
		       "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"},
	[KIND_DEVICE] = {"a PCI address or virtual device of up to 255 characters without spaces",
			 "^[!-~]{1,255}$"},
	[KIND_MAC] = {"a unicast MAC address such as \"02:00:00:00:00:01\"",
		      "^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$"},
	[KIND_ADDRESS] = {"a unicast IP address such as \"192.0.2.1\" or \"2001:db8::1\"",
			  "^(" IPV4_PATTERN "|" IPV6_PATTERN ")$"},
	[KIND_PREFIX] = {"an IP prefix without host bits such as \"192.0.2.0/24\" or "
			 "\"2001:db8::/32\"",
			 "^(" IPV4_PATTERN "|" IPV6_PATTERN ")(/[0-9]{1,3})?$"},
	[KIND_PORTS] = {"a port such as 80 or a range such as \"135-139\"",
			"^" PORT_PATTERN "(-" PORT_PATTERN ")?$"},
	[KIND_HOURS] = {"hours of the day such as \"7-23\" or \"22-6\", 0 to 24",
			"^[0-9]{1,2}-[0-9]{1,2}$"},
	[KIND_ENDPOINT] = {"an address with a port such as 127.0.0.1:9464 or \"[::1]:9464\"",
			   "^[0-9A-Fa-f.:\\[\\]]*:[0-9]{1,5}$"},
	[KIND_PROTOCOL] = {"tcp, udp, icmp, icmpv6, igmp, gre, esp or a number, 0 to 255",
			   "^(tcp|udp|icmp|icmpv6|igmp|gre|esp|0x[0-9A-Fa-f]{1,2}|[0-9]{1,3})$"},
	[KIND_TOS] = {"value and mask such as \"0xb8/0xfc\", no value bits outside the mask",
		      "^(0x[0-9A-Fa-f]{1,2}|[0-9]{1,3})(/(0x[0-9A-Fa-f]{1,2}|[0-9]{1,3}))?$"},
	[KIND_HEX] = {NULL, "^([0-9A-Fa-f]{2})*$"},
	[KIND_PATH] = {"the path of a file, of up to 1023 characters",
		       "^[^\\u0000-\\u001f]{1,1023}$"},
	[KIND_JSON] = {"a map", NULL},
	[KIND_REAL] = {"a number", NULL},
	[KIND_TEXT] = {"a line of text", "^[^\\u0000-\\u001f]*$"},
	[KIND_CORES] = {"cores such as 3, \"1-15,17\" or a list of these, each core once",
			"^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$"},
	[KIND_MAP] = {"a map of keys", NULL},
};

const char *kind_pattern(enum kind kind) {
	return kind < sizeof(words) / sizeof(words[0]) ? words[kind].pattern : NULL;
}

/* Appends to a text like snprintf(). */
static void __attribute__((format(printf, 3, 4))) append(char *text, size_t size,
							 const char *format, ...) {
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, size - used, format, arguments);
	va_end(arguments);
}

/* Whether a number is easier to read in hexadecimal: 0xffffffff, but not 0xf4240. */
static bool is_hexadecimal(uint64_t value) {
	return value > 0xffff && ((value & (value - 1)) == 0 || (value & (value + 1)) == 0);
}

static void format_bound(enum kind kind, uint64_t value, char text[UNITS_TEXT_SIZE]) {
	if (kind == KIND_SIZE)
		units_format_size(value, text);
	else if (kind == KIND_DURATION)
		units_format_duration(value, text);
	else if (kind == KIND_RATE || kind == KIND_RATE_OR_NONE)
		units_format_rate(value, text);
	else
		snprintf(text, UNITS_TEXT_SIZE, is_hexadecimal(value) ? "0x%" PRIx64 : "%" PRIu64,
			 value);
}

const char *choice_name(const struct choice *choice, unsigned value) {
	while (choice->name != NULL && choice->value != value)
		choice++;
	return choice->name;
}

static void describe_choices(const struct choice *choice, char *text, size_t size) {
	for (; choice->name != NULL; choice++) {
		const char *separator = choice[1].name == NULL ? "" : ", ";

		if (choice[1].name != NULL && choice[2].name == NULL)
			separator = " or ";
		append(text, size, "%s%s", choice->name, separator);
	}
}

static void describe_list(const struct key *key, char *text, size_t size) {
	const char *of = key->item->kind == KIND_MAP ? "maps" : "values";

	append(text, size, "a list of %" PRIu64 " to %" PRIu64 " %s", key->min, key->max, of);
}

void key_describe(const struct key *key, char *text, size_t size) {
	char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];

	text[0] = '\0';
	if (key->kind == KIND_ENUM) {
		describe_choices(key->choices, text, size);
	} else if (key->kind == KIND_LIST) {
		describe_list(key, text, size);
	} else if (key->kind == KIND_HEX) {
		if (key->choices != NULL)
			describe_choices(key->choices, text, size);
		else
			append(text, size, "%zu", 2 * key->size);
		append(text, size, " hexadecimal digits");
	} else {
		append(text, size, "%s", words[key->kind].phrase);
	}
	if (key->max == 0 || key->kind == KIND_LIST)
		return;
	format_bound(key->kind, key->min, low);
	format_bound(key->kind, key->max, high);
	append(text, size, ", %s to %s", low, high);
}

bool keys_have_secrets(const struct key *keys) {
	while (keys->name != NULL && !keys->secret)
		keys++;
	return keys->name != NULL;
}

void key_describe_found(const struct key *key, const char *text, size_t length, char *found,
			size_t size) {
	if (key->secret || length == 0)
		secret_describe(text, length, found, size);
	else if (key->keys != NULL && keys_have_secrets(key->keys))
		snprintf(found, size, "a text of %zu characters", length);
	else
		errors_quote(text, length, found, size);
}

void keys_list(const struct key *keys, char *text, size_t size) {
	text[0] = '\0';
	for (; keys->name != NULL; keys++)
		append(text, size, "%s%s", keys->name, keys[1].name != NULL ? ", " : "");
}

static size_t kind_min(size_t a, size_t b) {
	return a < b ? a : b;
}

/* The edit distance of two short words: letters to change, insert, delete or swap with the next
 * one. */
static size_t kind_distance(const char *a, const char *b) {
	size_t table[LONGEST_NAME + 1][LONGEST_NAME + 1];
	size_t a_size = strlen(a), b_size = strlen(b);

	for (size_t i = 0; i <= a_size; i++) {
		for (size_t j = 0; j <= b_size; j++) {
			if (i == 0 || j == 0) {
				table[i][j] = i + j;
				continue;
			}
			table[i][j] = kind_min(table[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
					       kind_min(table[i - 1][j], table[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				table[i][j] = kind_min(table[i][j], table[i - 2][j - 2] + 1);
		}
	}
	return table[a_size][b_size];
}

const char *keys_nearest(const struct key *keys, const char *name) {
	size_t best = MAX_DISTANCE + 1, length = strlen(name);
	const char *nearest = NULL;

	if (length > LONGEST_NAME)
		return NULL;
	for (; keys->name != NULL; keys++) {
		size_t far = kind_distance(name, keys->name);

		/* if less than half of the letters match, the user means another word */
		if (far < best && 2 * far <= strlen(keys->name)) {
			best = far;
			nearest = keys->name;
		}
	}
	return nearest;
}
