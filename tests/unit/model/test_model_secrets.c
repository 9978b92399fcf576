/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that no message of the loader contains a part of a mistyped, truncated or misplaced key. */
#include "test_main.h"

#include "model_kit.h"
#include "platform/secret/secret_text.h"

#define KEY "5ec4e7b01dface9f8a7d3b6c2e1f4058"
#define PART 6 /* length of a part of the key that no message contains by chance */
#define IV "00000000000000000000000000000000"

static void assert_no_key_part(const char *messages, const char *text) {
	for (size_t i = 0; i + PART <= strlen(KEY); i++) {
		char part[PART + 1];

		snprintf(part, sizeof(part), "%s", &KEY[i]);
		if (strstr(messages, part) != NULL)
			fail_msg("a message contains \"%s\" of the key, for %s:\n%s", part, text,
				 messages);
	}
}

/* Asserts that a group with this `security` is invalid (`wrong`) or not, and that no message contains the key. */
static void assert_key_hidden(const char *security, bool wrong) {
	static const char group[] = SMALL, line[] = " security: {said: 1, cipher: none}\n";
	const char *position = strstr(group, line), *end = position + strlen(line);
	struct loaded loaded;
	char text[1024];

	snprintf(text, sizeof(text), "%.*s security: %s\n%s", (int)(position - group), group,
		 security, end);
	loaded = load_text(text);
	assert_int_equal(loaded.mistakes > 0, wrong);
	assert_no_key_part(loaded.messages, text);
	unload(&loaded);
}

TEST(key_with_wrong_digit_is_hidden) {
	static const char *const forms[] = {
		"{said: 1, key: \"%s\", iv: \"" IV "\"}",
		"{said: 1, iv: \"%s\", key: \"" IV "\"}",
		"{said: 1, iv: \"" IV "\", key: \"" IV "\", next_key: \"%s\", next_iv: \"" IV "\"}",
		"{said: 1, iv: \"" IV "\", key: \"" IV "\", next_key: \"" IV "\", next_iv: \"%s\"}",
	};

	for (size_t f = 0; f < ARRAY_COUNT(forms); f++) {
		for (size_t i = 0; i < strlen(KEY); i++) {
			char key[] = KEY, security[256];

			key[i] = 'g';
			snprintf(security, sizeof(security), forms[f], key);
			assert_key_hidden(security, true);
		}
	}
}

TEST(key_of_wrong_length_is_hidden) {
	for (size_t length = 1; length < strlen(KEY); length++) {
		char security[256];

		snprintf(security, sizeof(security), "{said: 1, key: \"%.*s\", iv: \"" IV "\"}",
			 (int)length, KEY);
		assert_key_hidden(security, true);
	}
	assert_key_hidden("{said: 1, key: \"" KEY "\", iv: \"" IV "\"}", false);
}

TEST(malformed_or_misplaced_key_is_hidden) {
	static const char *const forms[] = {
		"{said: 1, key: \"" KEY "0\", iv: \"" IV "\"}",
		"{said: 1, key: \"" KEY KEY "\", iv: \"" IV "\"}",
		"{said: 1, key: [\"" KEY "\"], iv: \"" IV "\"}",
		"{said: 1, key: {\"" KEY "\": 1}, iv: \"" IV "\"}",
		"{said: 1, key: \"0x" KEY "\", iv: \"" IV "\"}",
		"{said: 1, key: \" " KEY "\", iv: \"" IV "\"}",
		"{said: 1, key: \"5ec4e7b01dface9f 8a7d3b6c2e1f4058\", iv: \"" IV "\"}",
		"{said: 1, key: \"5ec4e7b01dface9f\\0008a7d3b6c2e1f4058\", iv: \"" IV "\"}",
		"{said: 1, key: &" KEY " \"\", iv: \"" IV "\"}",
		"{said: 1, key: *" KEY ", iv: \"" IV "\"}",
		"{said: 1, key: !" KEY " 1, iv: \"" IV "\"}",
		"{said: 1, key: \"" KEY "\\x\", iv: \"" IV "\"}",
		"{said: 1, key: \"" KEY ", iv: " IV "}",
		"{said: 1, key: '" KEY "'" KEY "', iv: \"" IV "\"}",
		"{said: 1, key: @" KEY ", iv: \"" IV "\"}",
		"{said: 1, key: %%" KEY "\t, iv: \"" IV "\"}",
		"{said: 1, key: `" KEY ", iv: \"" IV "\"}",
		"{said: 1, key: |\n  " KEY "\n, iv: \"" IV "\"}",
		/* missing colons, and lines in the wrong place */
		KEY,
		"\"key: " KEY "\"",
		"[1, \"" KEY "\"]",
		"{said: 1, key " KEY ", iv: \"" IV "\"}",
		"{said: 1, key=" KEY ", iv: \"" IV "\"}",
		"{said: 1, \"" KEY "\": key, iv: \"" IV "\"}",
		"{said: 1, \"5ec4e7b01dface9f\": key, iv: \"" IV "\"}",
		"{said: 1, key: \"" IV "\", iv: \"" IV "\", 5ec4e7b01dface9g}",
		"{said: 1, cipher: none, \"5ec4e7::b01dfa::ce9f8a\": key}",
		"\"5ec4e7::b01dfa::ce9f8a\"",
		"{said: \"" KEY "\", cipher: none}",
		"{said: 1, cipher: \"" KEY "\"}",
		"{said: 1, cipher: none, key_sequence: \"" KEY "\"}",
		"{said: 1, cipher: none, use_next_key: \"" KEY "\"}",
		"{said: 1, cipher: none}\n    mac: \"" KEY "\"",
		"{said: 1, cipher: none}\n    " KEY ": 1",
		"{said: 1, cipher: none}\n    key: " KEY "\n    cpe_limit: " KEY,
		"{said: 1, cipher: none}\n    filter_groups: [" KEY "]",
		"{said: 1, cipher: none}\n" KEY ": 1",
		"{said: 1, cipher: none}\n? [" KEY "]\n: 1",
	};

	for (size_t f = 0; f < ARRAY_COUNT(forms); f++)
		assert_key_hidden(forms[f], true);
}

TEST(secret_like_recognizes_keys) {
	static const struct {
		const char *text;
		bool like; /* resembles a key */
	} all[] = {
		{KEY, true},
		{"5ec4e7b01dface9f", true},
		{"5ec4e7b01dface9", false}, /* 15 */
		{"key 5ec4e7b01dface9f", true},
		{"5ec4e7g01dface9f", true},
		{"5ec4e7g01dgace9f", true},
		{"5ec4g7g01dgace9f", false},
		{"02:01:00:00:00:01", false},
		{"2001:0db8:85a3:0000:0000:8a2e:0370:7334", false},
		{"0000:3b:02.0", false},
		{"net_memif0,role=server,id=0,socket-abstract=no", false},
		{"18446744073709551", true},
		{"", false},
	};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		assert_int_equal(secret_like(all[i].text, strlen(all[i].text)), all[i].like);
}
