/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests src/power/idle/instructions.c on an emulated CPU without an operating system. The emulator counts one TSC
 * tick per instruction, so each run gives the same times.
 */
#include "bare.h"

#include "power/idle/instructions.h"

#define WAITPKG (1u << 5)  /* CPUID 7, ECX */
#define MWAITX (1u << 29)  /* CPUID 0x80000001, ECX */
#define MSR_TSC 0x10
#define MSR_UMWAIT_CONTROL 0xe1
#define NO_C02 1u   /* bit 0: C0.2 is disabled, C0.1 is used */
#define NEARLY_NO_LIMIT 0xfffffffcu
#define LATE 600u   /* limit in ticks, from the deadline to the next read of the TSC */

void run_bare(void);

/* Checks that a wait since `before` lasted `ticks`, and at most LATE ticks longer. */
static void check_duration(const char *what, uint64_t before, uint64_t ticks) {
	uint64_t passed = power_tsc() - before;

	check(what, passed >= ticks && passed < ticks + LATE, passed);
}

static void check_tpause(const char *what, enum tpause_state state, uint64_t ticks) {
	uint64_t before = power_tsc();
	bool limited = power_tpause(before + ticks, state);

	check_duration(what, before, ticks);
	check("the deadline ended it, not the limit", !limited, limited);
}

static void check_deadlines(const char *name, enum tpause_state state) {
	static const uint32_t ticks[] = {1000, 20000, 100000, 3000000};

	print(name);
	print("\n");
	for (uint32_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
		check_tpause("it waits until a future deadline", state, ticks[i]);
	write_msr(MSR_TSC, 0x1ffffff00);
	check_tpause("it waits across the carry of the TSC's lower half", state, 100000);
	uint64_t before = power_tsc();
	power_tpause(before - 1, state);
	check_duration("it does not wait for a past deadline", before, 0);
	before = power_tsc();
	power_tpause(0, state);
	check_duration("it does not wait for deadline 0", before, 0);
}

static void check_states(void) {
	uint32_t refused = faults.protection;
	uint64_t before = power_tsc();

	power_tpause(before + 100000, TPAUSE_C01);
	power_tpause(before + 200000, TPAUSE_C02);
	check("the CPU accepts both states", faults.protection == refused, 0);
	before = power_tsc();
	power_tpause(before + 100000, (enum tpause_state)2);
	check_duration("it does not wait with a reserved bit of the state", before, 0);
	check("#GP reports the reserved bit", faults.protection == refused + 1, faults.protection);
	check("#GP has this state", faults.state == 2, faults.state);
	check("#GP has this deadline", faults.deadline == before + 100000,
	      faults.deadline - before);
}

/* Bochs ends a wait at the system's limit but does not set the carry flag; emulated_tpause() checks the flag. */
static void check_limits(void) {
	uint64_t before;

	print("system's limit\n");
	write_msr(MSR_UMWAIT_CONTROL, 20000);
	for (int state = TPAUSE_C02; state <= TPAUSE_C01; state++) {
		before = power_tsc();
		power_tpause(before + 3000000, (enum tpause_state)state);
		check_duration("a longer wait ends at the limit", before, 20000);
		check_tpause("a shorter wait ends at its deadline", (enum tpause_state)state,
			     10000);
	}
	write_msr(MSR_UMWAIT_CONTROL, NEARLY_NO_LIMIT | NO_C02);
	check_tpause("C0.2 waits although it is disabled", TPAUSE_C02, 100000);
	write_msr(MSR_UMWAIT_CONTROL, NEARLY_NO_LIMIT);
}

static void check_waitpkg(void) {
	print("TPAUSE\n");
	write_msr(MSR_UMWAIT_CONTROL, NEARLY_NO_LIMIT);
	check_deadlines("C0.1", TPAUSE_C01);
	check_deadlines("C0.2", TPAUSE_C02);
	check_states();
	check_limits();
}

/* On a CPU without TPAUSE: checks its operands, and that the result is the carry flag. */
static void emulated_tpause(void) {
	static const uint64_t deadline = 0x123456789abcdef0;

	print("TPAUSE, emulated by the fault handler\n");
	for (int state = TPAUSE_C02; state <= TPAUSE_C01; state++) {
		for (int limited = 0; limited <= 1; limited++) {
			uint32_t invalid = faults.invalid;

			emulated_limited = limited;
			bool result = power_tpause(deadline, (enum tpause_state)state);
			check("it is a TPAUSE", faults.invalid == invalid + 1, faults.invalid);
			check("bit 0 of its operand is the state: 1 is C0.1",
			      faults.state == (uint32_t)state, faults.state);
			check("EDX:EAX has its deadline", faults.deadline == deadline,
			      faults.deadline);
			check("the carry flag is returned", result == limited, result);
		}
	}
}

static void check_mwaitx(void) {
	static volatile uint64_t watched[8] __attribute__((aligned(64)));
	static const uint32_t ticks[] = {1000, 20000, 100000, 3000000};

	print("MWAITX\n");
	for (uint32_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		uint64_t before = power_tsc();

		power_mwaitx(watched, ticks[i]);
		check_duration("it ends by its timer", before, ticks[i]);
	}
}

static void check_clock_and_spin(void) {
	static const uint32_t ticks[] = {1000, 20000, 100000};
	uint64_t before;

	print("clock, spin\n");
	write_msr(MSR_TSC, 0x500000000);
	check("both halves of the TSC are read", power_tsc() - 0x500000000 < LATE, power_tsc());
	for (uint32_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		before = power_tsc();
		power_spin(before + ticks[i]);
		check_duration("it spins until the deadline", before, ticks[i]);
	}
	before = power_tsc();
	power_spin(before - 1);
	check_duration("it does not spin for a past deadline", before, 0);
	before = power_tsc();
	power_spin(before - 3000000000);
	check_duration("it does not spin for a deadline long ago", before, 0);
}

void run_bare(void) {
	bool waitpkg = cpuid(7, 0).ecx & WAITPKG;
	bool amd = cpuid(0x80000001, 0).ecx & MWAITX;

	print("\n");
	check("the CPU has either WAITPKG or MWAITX", waitpkg != amd, waitpkg);
	check_clock_and_spin();
	if (waitpkg) {
		check_waitpkg();
	} else {
		emulated_tpause();
		check_mwaitx();
	}
	print("end: ");
	print(waitpkg ? "WAITPKG, " : "MWAITX, ");
	print_number(checks_failed());
	print(" failed\n");
	power_off();
}
