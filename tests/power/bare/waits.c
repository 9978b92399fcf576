/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The instructions that wait, executed: src/power/idle/instructions.c on an emulated CPU, with nothing else around.
 * Time is that of the emulator, where an instruction is a tick of the TSC: it is the same in each run.
 */
#include "bare.h"

#include "power/idle/instructions.h"

#define WAITPKG (1u << 5)  /* CPUID 7, ECX */
#define MWAITX (1u << 29)  /* CPUID 0x80000001, ECX */
#define MSR_TSC 0x10
#define MSR_UMWAIT_CONTROL 0xe1
#define NO_C02 1u   /* its first bit: C0.2 is C0.1 */
#define NEARLY_NO_LIMIT 0xfffffffcu
#define LATE 600u   /* ticks between the deadline and the next look at the TSC */

void run_bare(void);

/* Whether `wait` from `before` on took what it was to, and no more than a few instructions longer. */
static void took(const char *what, uint64_t before, uint64_t ticks) {
	uint64_t passed = power_tsc() - before;

	check(what, passed >= ticks && passed < ticks + LATE, passed);
}

static void tpause_of(const char *what, enum tpause_state state, uint64_t ticks) {
	uint64_t before = power_tsc();
	bool limited = power_tpause(before + ticks, state);

	took(what, before, ticks);
	check("its deadline ended it", !limited, limited);
}

static void deadlines(const char *name, enum tpause_state state) {
	static const uint32_t ticks[] = {1000, 20000, 100000, 3000000};

	say(name);
	say("\n");
	for (uint32_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
		tpause_of("a deadline ahead is waited for", state, ticks[i]);
	write_msr(MSR_TSC, 0x1ffffff00);
	tpause_of("a deadline behind the carry of the lower half", state, 100000);
	uint64_t before = power_tsc();
	power_tpause(before - 1, state);
	took("a deadline of the past is not waited for", before, 0);
	before = power_tsc();
	power_tpause(0, state);
	took("nor is zero", before, 0);
}

static void states(void) {
	uint32_t refused = faults.protection;
	uint64_t before = power_tsc();

	power_tpause(before + 100000, TPAUSE_C01);
	power_tpause(before + 200000, TPAUSE_C02);
	check("both states are none that the CPU refuses", faults.protection == refused, 0);
	before = power_tsc();
	power_tpause(before + 100000, (enum tpause_state)2);
	took("a reserved bit of the state is not waited with", before, 0);
	check("but refused", faults.protection == refused + 1, faults.protection);
	check("at this state", faults.state == 2, faults.state);
	check("and this deadline", faults.deadline == before + 100000, faults.deadline - before);
}

/* The emulator ends a wait at the system's limit but leaves the flag clear; played_flag() has the flag. */
static void limits(void) {
	uint64_t before;

	say("limits of the system\n");
	write_msr(MSR_UMWAIT_CONTROL, 20000);
	for (int state = TPAUSE_C02; state <= TPAUSE_C01; state++) {
		before = power_tsc();
		power_tpause(before + 3000000, (enum tpause_state)state);
		took("a longer wait ends at the limit", before, 20000);
		tpause_of("a shorter one does not", (enum tpause_state)state, 10000);
	}
	write_msr(MSR_UMWAIT_CONTROL, NEARLY_NO_LIMIT | NO_C02);
	tpause_of("C0.2 waits where it is not allowed", TPAUSE_C02, 100000);
	write_msr(MSR_UMWAIT_CONTROL, NEARLY_NO_LIMIT);
}

static void tpause(void) {
	say("TPAUSE\n");
	write_msr(MSR_UMWAIT_CONTROL, NEARLY_NO_LIMIT);
	deadlines("C0.1", TPAUSE_C01);
	deadlines("C0.2", TPAUSE_C02);
	states();
	limits();
}

/* On a CPU that does not know it: what it is given, and what becomes of its flag. */
static void played(void) {
	static const uint64_t deadline = 0x123456789abcdef0;

	say("TPAUSE, played by the fault's handler\n");
	for (int state = TPAUSE_C02; state <= TPAUSE_C01; state++) {
		for (int limited = 0; limited <= 1; limited++) {
			uint32_t invalid = faults.invalid;

			play_limited = limited;
			bool told = power_tpause(deadline, (enum tpause_state)state);
			check("it is a TPAUSE", faults.invalid == invalid + 1, faults.invalid);
			check("its state is a bit: 1 is C0.1", faults.state == (uint32_t)state,
			      faults.state);
			check("its deadline stands in EDX and EAX", faults.deadline == deadline,
			      faults.deadline);
			check("its flag is what is returned", told == limited, told);
		}
	}
}

static void mwaitx(void) {
	static volatile uint64_t watched[8] __attribute__((aligned(64)));
	static const uint32_t ticks[] = {1000, 20000, 100000, 3000000};

	say("MWAITX\n");
	for (uint32_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		uint64_t before = power_tsc();

		power_mwaitx(watched, ticks[i]);
		took("it ends by its timer", before, ticks[i]);
	}
}

static void clock_and_spin(void) {
	static const uint32_t ticks[] = {1000, 20000, 100000};
	uint64_t before;

	say("clock, spin\n");
	write_msr(MSR_TSC, 0x500000000);
	check("both halves of the TSC are read", power_tsc() - 0x500000000 < LATE, power_tsc());
	for (uint32_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		before = power_tsc();
		power_spin(before + ticks[i]);
		took("a spin lasts until its deadline", before, ticks[i]);
	}
	before = power_tsc();
	power_spin(before - 1);
	took("and no time where that has passed", before, 0);
	before = power_tsc();
	power_spin(before - 3000000000);
	took("however long ago", before, 0);
}

void run_bare(void) {
	bool waitpkg = cpuid(7, 0).ecx & WAITPKG;
	bool amd = cpuid(0x80000001, 0).ecx & MWAITX;

	say("\n");
	check("the CPU is one of both that are asked for", waitpkg != amd, waitpkg);
	clock_and_spin();
	if (waitpkg) {
		tpause();
	} else {
		played();
		mwaitx();
	}
	say("end: ");
	say(waitpkg ? "WAITPKG, " : "MWAITX, ");
	say_number(checks_failed());
	say(" failed\n");
	power_off();
}
