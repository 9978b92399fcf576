/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/secret/secret_text.h"

#include <ctype.h>
#include <stdio.h>

#define OTHERS_MAX 2 /* characters that are not digits, among SECRET_MIN_LENGTH in a row */

static bool is_digit(char c) {
	return isxdigit((unsigned char)c) != 0;
}

bool secret_like(const char *text, size_t length) {
	size_t others = 0;

	for (size_t i = 0; i < length; i++) {
		others += !is_digit(text[i]);
		if (i >= SECRET_MIN_LENGTH)
			others -= !is_digit(text[i - SECRET_MIN_LENGTH]);
		if (i + 1 >= SECRET_MIN_LENGTH && others <= OTHERS_MAX)
			return true;
	}
	return false;
}

void secret_describe(const char *text, size_t length, char *found, size_t size) {
	size_t good = 0;

	while (good < length && is_digit(text[good]))
		good++;
	if (length == 0)
		snprintf(found, size, "nothing");
	else if (good == length)
		snprintf(found, size, "%zu hexadecimal digits", length);
	else
		snprintf(found, size, "%zu characters, of which number %zu is no hexadecimal digit",
			 length, good + 1);
}
