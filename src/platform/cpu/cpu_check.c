/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/cpu/cpu_check.h"

#include <unistd.h>

#define LINE_MAX_BYTES 512

#if defined(__x86_64__)
#include <cpuid.h>

#define OSXSAVE (1u << 27)

/* The register states that the kernel keeps, as of XCR0. */
static uint32_t state_kept(void) {
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

void cpu_read(struct cpu_words *has) {
	unsigned a, b, c, d;

	*has = (struct cpu_words){0};
	if (__get_cpuid(1, &a, &b, &c, &d)) {
		has->word[CPU_1_ECX] = c;
		has->word[CPU_STATE] = c & OSXSAVE ? state_kept() : 0;
	}
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
		has->word[CPU_7_EBX] = b;
		has->word[CPU_7_ECX] = c;
		if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
			has->word[CPU_7_1_EAX] = a;
			has->word[CPU_7_1_EDX] = d;
		}
	}
	if (__get_cpuid(0x80000001, &a, &b, &c, &d))
		has->word[CPU_81_ECX] = c;
}
#else
void cpu_read(struct cpu_words *has) {
	*has = (struct cpu_words){0};
}
#endif

struct text {
	char *at;
	size_t length, size;
};

static void add(struct text *t, const char *more) {
	while (*more != '\0' && t->length < t->size)
		t->at[t->length++] = *more++;
}

/* A feature is also missing if the system does not save its registers. */
static bool is_missing(const struct cpu_words *needs, const struct cpu_words *has, unsigned word,
		       unsigned bit, uint32_t state) {
	return (needs->word[word] >> bit & 1) != 0 &&
	       ((has->word[word] >> bit & 1) == 0 || (has->word[CPU_STATE] & state) != state);
}

size_t cpu_missing(const struct cpu_words *needs, const struct cpu_words *has, const char *name,
		   char *line, size_t size) {
	static const struct {
		const char *name;
		uint8_t word, bit, state;
	} all[] = {
#define FEATURE(macro, name, word, bit, state) {name, word, bit, state},
#include "platform/cpu/cpu_features.def"
#undef FEATURE
	};
	struct text t = {line, 0, size};
	const char *comma = ": this build needs ";

	add(&t, name);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!is_missing(needs, has, all[i].word, all[i].bit, all[i].state))
			continue;
		add(&t, comma);
		add(&t, all[i].name);
		comma = ", ";
	}
	if (comma[0] == ':')
		return 0;
	add(&t, ", which this CPU does not have\n");
	return t.length;
}

void cpu_check(int argc, char **argv, char **environment) {
	struct cpu_words has;
	char line[LINE_MAX_BYTES];
	const char *name = argc > 0 ? argv[0] : "";
	size_t length;

	(void)environment;
	for (const char *c = name; *c != '\0'; c++)
		name = *c == '/' ? c + 1 : name;
	cpu_read(&has);
	length = cpu_missing(&cpu_needs, &has, name, line, sizeof(line));
	if (length == 0)
		return;
	for (size_t out = 0; out < length;) {
		ssize_t n = write(STDERR_FILENO, line + out, length - out);

		if (n <= 0)
			break;
		out += (size_t)n;
	}
	_exit(CPU_MISSING_STATUS);
}
