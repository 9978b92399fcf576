/* SPDX-License-Identifier: BSD-3-Clause */
#include "bare.h"

#define PRINTER_PORT 0x378 /* a file of the emulator */
#define PRINTER_CONTROL 0x37a
#define PRINTER_ON 0x0c
#define PRINTER_STROBE 0x0d
#define SHUTDOWN_PORT 0x8900
#define FLAG_CARRY 1u
#define FLAGS_ARITHMETIC 0x8d5u /* what TPAUSE clears: OF, SF, ZF, AF, PF, CF */
#define INVALID_OPCODE 6
#define TPAUSE_BYTES 4

volatile struct faults faults;
volatile bool play_limited;
static uint32_t failed;

/* As start.S pushes them; the first ones are numbered as in instructions. */
struct registers {
	uint64_t general[16];
	uint64_t vector, code;
	uint64_t rip, cs, flags, rsp, ss;
};

enum general { RAX, RCX, RDX };

void trap(struct registers *at);
void run_bare(void);

static void out(uint16_t port, char byte) {
	__asm__ volatile("outb %0, %1" : : "a"(byte), "d"(port));
}

void say(const char *text) {
	for (; *text; text++) {
		out(PRINTER_PORT, *text);
		out(PRINTER_CONTROL, PRINTER_STROBE);
		out(PRINTER_CONTROL, PRINTER_ON);
	}
}

void say_number(uint64_t number) {
	char digits[21], *at = digits + sizeof(digits) - 1;

	*at = 0;
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	say(at);
}

void check(const char *what, bool held, uint64_t seen) {
	say(held ? "ok: " : "FAILED: ");
	say(what);
	say(" (");
	say_number(seen);
	say(")\n");
	failed += !held;
}

uint32_t checks_failed(void) {
	return failed;
}

uint64_t read_msr(uint32_t number) {
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(number));
	return (uint64_t)high << 32 | low;
}

void write_msr(uint32_t number, uint64_t value) {
	__asm__ volatile("wrmsr"
			 :
			 : "c"(number), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

struct cpuid cpuid(uint32_t leaf, uint32_t subleaf) {
	struct cpuid is;

	__asm__ volatile("cpuid"
			 : "=a"(is.eax), "=b"(is.ebx), "=c"(is.ecx), "=d"(is.edx)
			 : "a"(leaf), "c"(subleaf));
	return is;
}

void power_off(void) {
	for (const char *word = "Shutdown"; *word; word++)
		out(SHUTDOWN_PORT, *word);
	for (;;)
		__asm__ volatile("hlt");
}

/* 66 0f ae /6 with a register; the bytes of the SDM, and not those of the code that is tried. */
static bool is_tpause(const uint8_t *code) {
	return code[0] == 0x66 && code[1] == 0x0f && code[2] == 0xae && code[3] >> 3 == 0x1e;
}

/* What the CPU does not know is played: its operands are kept, and the flag is as the test wants it. */
void trap(struct registers *at) {
	const uint8_t *code = (const uint8_t *)at->rip;

	if (!is_tpause(code)) {
		say("FAILED: a fault at ");
		say_number(at->rip);
		say(", vector ");
		say_number(at->vector);
		say("\n");
		power_off();
	}
	faults.state = (uint32_t)at->general[code[3] & 7];
	faults.deadline = at->general[RDX] << 32 | (uint32_t)at->general[RAX];
	at->flags &= ~(uint64_t)FLAGS_ARITHMETIC;
	if (at->vector == INVALID_OPCODE) {
		faults.invalid++;
		at->flags |= play_limited ? FLAG_CARRY : 0;
	} else {
		faults.protection++;
	}
	at->rip += TPAUSE_BYTES;
}
