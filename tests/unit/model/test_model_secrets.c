/* SPDX-License-Identifier: BSD-3-Clause */
/* A key that is mistyped, cut, or in the wrong place: no message of the loader has a piece of it. */
#include "test_main.h"

#include "model_kit.h"
#include "platform/secret/secret_text.h"

#define PLANTED "5ec4e7b01dface9f8a7d3b6c2e1f4058"
#define PIECE 6 /* characters in a row that no message has by chance */
#define IV "00000000000000000000000000000000"

static void has_no_piece(const char *said, const char *text) {
	for (size_t i = 0; i + PIECE <= strlen(PLANTED); i++) {
		char piece[PIECE + 1];

		snprintf(piece, sizeof(piece), "%s", &PLANTED[i]);
		if (strstr(said, piece) != NULL)
			fail_msg("\"%s\" of the key is told of %s:\n%s", piece, text, said);
	}
}

/* The mistakes of a group whose modem has this `security`. */
static void security_is_not_told(const char *security, bool wrong) {
	static const char group[] = SMALL, line[] = " security: {said: 1, cipher: none}\n";
	const char *place = strstr(group, line), *behind = place + strlen(line);
	struct loaded loaded;
	char text[1024];

	snprintf(text, sizeof(text), "%.*s security: %s\n%s", (int)(place - group), group, security,
		 behind);
	loaded = load_text(text);
	assert_int_equal(loaded.mistakes > 0, wrong);
	has_no_piece(loaded.said, text);
	unload(&loaded);
}

TEST(one_digit_is_wrong) {
	static const char *const forms[] = {
		"{said: 1, key: \"%s\", iv: \"" IV "\"}",
		"{said: 1, iv: \"%s\", key: \"" IV "\"}",
		"{said: 1, iv: \"" IV "\", key: \"" IV "\", next_key: \"%s\", next_iv: \"" IV "\"}",
		"{said: 1, iv: \"" IV "\", key: \"" IV "\", next_key: \"" IV "\", next_iv: \"%s\"}",
	};

	for (size_t f = 0; f < ARRAY_COUNT(forms); f++) {
		for (size_t i = 0; i < strlen(PLANTED); i++) {
			char key[] = PLANTED, security[256];

			key[i] = 'g';
			snprintf(security, sizeof(security), forms[f], key);
			security_is_not_told(security, true);
		}
	}
}

TEST(it_has_another_length) {
	for (size_t length = 1; length < strlen(PLANTED); length++) {
		char security[256];

		snprintf(security, sizeof(security), "{said: 1, key: \"%.*s\", iv: \"" IV "\"}",
			 (int)length, PLANTED);
		security_is_not_told(security, true);
	}
	security_is_not_told("{said: 1, key: \"" PLANTED "\", iv: \"" IV "\"}", false);
}

TEST(it_is_no_text_of_digits_or_in_another_place) {
	static const char *const forms[] = {
		"{said: 1, key: \"" PLANTED "0\", iv: \"" IV "\"}",
		"{said: 1, key: \"" PLANTED PLANTED "\", iv: \"" IV "\"}",
		"{said: 1, key: [\"" PLANTED "\"], iv: \"" IV "\"}",
		"{said: 1, key: {\"" PLANTED "\": 1}, iv: \"" IV "\"}",
		"{said: 1, key: \"0x" PLANTED "\", iv: \"" IV "\"}",
		"{said: 1, key: \" " PLANTED "\", iv: \"" IV "\"}",
		"{said: 1, key: \"5ec4e7b01dface9f 8a7d3b6c2e1f4058\", iv: \"" IV "\"}",
		"{said: 1, key: \"5ec4e7b01dface9f\\0008a7d3b6c2e1f4058\", iv: \"" IV "\"}",
		"{said: 1, key: &" PLANTED " \"\", iv: \"" IV "\"}",
		"{said: 1, key: *" PLANTED ", iv: \"" IV "\"}",
		"{said: 1, key: !" PLANTED " 1, iv: \"" IV "\"}",
		"{said: 1, key: \"" PLANTED "\\x\", iv: \"" IV "\"}",
		"{said: 1, key: \"" PLANTED ", iv: " IV "}",
		"{said: 1, key: '" PLANTED "'" PLANTED "', iv: \"" IV "\"}",
		"{said: 1, key: @" PLANTED ", iv: \"" IV "\"}",
		"{said: 1, key: %%" PLANTED "\t, iv: \"" IV "\"}",
		"{said: 1, key: `" PLANTED ", iv: \"" IV "\"}",
		"{said: 1, key: |\n  " PLANTED "\n, iv: \"" IV "\"}",
		/* a colon is missing, or a line stands where another one belongs */
		PLANTED,
		"\"key: " PLANTED "\"",
		"[1, \"" PLANTED "\"]",
		"{said: 1, key " PLANTED ", iv: \"" IV "\"}",
		"{said: 1, key=" PLANTED ", iv: \"" IV "\"}",
		"{said: 1, \"" PLANTED "\": key, iv: \"" IV "\"}",
		"{said: 1, \"5ec4e7b01dface9f\": key, iv: \"" IV "\"}",
		"{said: 1, key: \"" IV "\", iv: \"" IV "\", 5ec4e7b01dface9g}",
		"{said: 1, cipher: none, \"5ec4e7::b01dfa::ce9f8a\": key}",
		"\"5ec4e7::b01dfa::ce9f8a\"",
		"{said: \"" PLANTED "\", cipher: none}",
		"{said: 1, cipher: \"" PLANTED "\"}",
		"{said: 1, cipher: none, key_sequence: \"" PLANTED "\"}",
		"{said: 1, cipher: none, use_next_key: \"" PLANTED "\"}",
		"{said: 1, cipher: none}\n    mac: \"" PLANTED "\"",
		"{said: 1, cipher: none}\n    " PLANTED ": 1",
		"{said: 1, cipher: none}\n    key: " PLANTED "\n    cpe_limit: " PLANTED,
		"{said: 1, cipher: none}\n    filter_groups: [" PLANTED "]",
		"{said: 1, cipher: none}\n" PLANTED ": 1",
		"{said: 1, cipher: none}\n? [" PLANTED "]\n: 1",
	};

	for (size_t f = 0; f < ARRAY_COUNT(forms); f++)
		security_is_not_told(forms[f], true);
}

TEST(what_looks_like_a_key) {
	static const struct {
		const char *text;
		bool like;
	} all[] = {
		{PLANTED, true},
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
