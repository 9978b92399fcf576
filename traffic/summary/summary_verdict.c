/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the verdict on a run. */
#include "summary/summary_parts.h"
#include "summary/words.h"

/* What failed, and what is allowed: both directions together. */
struct verdict {
	uint64_t sent, proven;
	uint64_t lost, corrupted; /* without those that --impair must cause */
	uint64_t impaired; /* lost or corrupted by it */
	uint64_t overtaken, duplicated, reordered, undecipherable, unexpected, violations;
};

static void verdict_add(struct verdict *v, const struct common *c, const struct expected *due) {
	uint64_t lost = due->lost < c->lost ? due->lost : c->lost;
	uint64_t corrupted = due->corrupted < c->corrupted ? due->corrupted : c->corrupted;

	v->sent += c->sent;
	v->proven += c->proven;
	v->lost += c->lost - lost;
	v->corrupted += c->corrupted - corrupted;
	v->impaired += lost + corrupted;
	v->overtaken += c->overtaken;
	v->duplicated += c->duplicated;
	v->reordered += c->reordered;
	v->undecipherable += c->undecipherable;
}

static struct verdict verdict_of(const struct summary *s) {
	static const struct expected none;
	struct verdict v = {.unexpected = traffic_unexpected(s->downstream, s->upstream)};
	struct common common;

	if (s->downstream != NULL) {
		common = downstream_common(s->downstream);
		verdict_add(&v, &common, &none);
		for (int i = 0; i < VIOLATIONS; i++)
			v.violations += s->downstream->violations[i];
	}
	if (s->upstream != NULL) {
		common = upstream_common(s->upstream);
		verdict_add(&v, &common, s->upstream->impaired ? &s->upstream->expected : &none);
	}
	return v;
}

/* Prints a count with its name, if it is not 0. */
static void print_part(FILE *out, uint64_t count, const char *name) {
	char text[WORDS_SIZE];

	if (count > 0)
		fprintf(out, "%s %s, ", words_count(count, text), name);
}

void summary_verdict(FILE *out, const struct summary *s, bool good) {
	struct verdict v = verdict_of(s);
	char proven[WORDS_SIZE], sent[WORDS_SIZE], lost[WORDS_SIZE];

	words_count(v.proven, proven);
	words_count(v.sent, sent);
	if (good)
		fprintf(out, "PASS: %s of %s packets proven, ", proven, sent);
	else
		fputs("FAIL: ", out);
	print_part(out, v.corrupted, "corrupted");
	print_part(out, v.duplicated, "duplicated");
	print_part(out, v.reordered, "reordered");
	print_part(out, v.undecipherable, "undecipherable");
	print_part(out, v.unexpected, "unexpected frames");
	print_part(out, v.violations, "violations of DEPI");
	print_part(out, v.overtaken, "overtaken by changes (allowed)");
	print_part(out, v.impaired, "lost or corrupted by --impair (allowed)");
	fprintf(out, "%s lost", words_count(v.lost, lost));
	if (good)
		fputc('\n', out);
	else
		fprintf(out, "; %s of %s packets proven\n", proven, sent);
}
