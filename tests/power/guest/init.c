/* SPDX-License-Identifier: BSD-3-Clause */
/* The init process of the virtual machine: mounts file systems, loads modules, runs all cases and powers off. */
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/module.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* I/O ports of the virtual machine; devtools/power-test passes them to QEMU. */
#define PRINT_PORT 0xe9
#define OFF_PORT 0x501
#define PSTATE_PORT 0x1600 /* plus the number of the CPU, as in pstates.asl */
#define MARK 0x80 /* plus the number of a case; no P-state uses such a byte */
#define MARK_END 0xff

static uint32_t failed;
static int ready[2];

static void print(const char *format, va_list arguments) {
	char line[512];
	int length = vsnprintf(line, sizeof(line), format, arguments);

	for (int i = 0; i < length && i < (int)sizeof(line) - 1; i++)
		outb((unsigned char)line[i], PRINT_PORT);
}

void guest_print(const char *format, ...) {
	va_list arguments;

	va_start(arguments, format);
	print(format, arguments);
	va_end(arguments);
	outb('\n', PRINT_PORT);
}

bool guest_check(bool passed, const char *format, ...) {
	va_list arguments;

	va_start(arguments, format);
	for (const char *c = passed ? "ok: " : "FAILED: "; *c; c++)
		outb((unsigned char)*c, PRINT_PORT);
	print(format, arguments);
	va_end(arguments);
	outb('\n', PRINT_PORT);
	failed += !passed;
	return passed;
}

static void cpu_path(char *path, size_t size, uint32_t cpu, const char *file) {
	snprintf(path, size, "/sys/devices/system/cpu/cpu%u/%s", cpu, file);
}

const char *guest_read(uint32_t cpu, const char *file) {
	static char text[4096];
	char path[256];

	cpu_path(path, sizeof(path), cpu, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	return text;
}

int guest_write(uint32_t cpu, const char *file, const char *text) {
	char path[256];

	cpu_path(path, sizeof(path), cpu, file);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int error = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return error;
}

bool guest_check_file(uint32_t cpu, const char *file, const char *text) {
	const char *now = guest_read(cpu, file);

	return guest_check(strcmp(now, text) == 0, "CPU %u: %s is %s (%s)", cpu, file, text, now);
}

void guest_await_kill(void) {
	if (write(ready[1], "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

pid_t guest_start(void (*function)(void)) {
	pid_t child = fork();

	if (child == 0) {
		function();
		_exit(0);
	}
	return child;
}

int guest_stop(pid_t process, int signal) {
	int status = -1;

	if (signal)
		kill(process, signal);
	waitpid(process, &status, 0);
	return status;
}

void guest_run_and_kill(void (*function)(void)) {
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		return;
	pid_t child = guest_start(function);
	close(ready[1]);
	guest_check(read(ready[0], &byte, 1) == 1, "the process waits to be killed");
	guest_stop(child, SIGKILL);
	close(ready[0]);
}

bool guest_wait_for_file(uint32_t cpu, const char *file, const char *text) {
	for (int ms = 0; ms < 20000 && strcmp(guest_read(cpu, file), text) != 0; ms++)
		usleep(1000);
	return guest_check_file(cpu, file, text);
}

/* Restores the initial state. A kernel thread applies the limits asynchronously, so reset() waits for them. */
static void reset(uint32_t cpu) {
	guest_write(cpu, "online", "1");
	guest_write(cpu, "cpufreq/scaling_governor", "performance");
	guest_write(cpu, "cpufreq/scaling_max_freq", "1800000");
	guest_write(cpu, "cpufreq/scaling_min_freq", "800000");
	guest_wait_for_file(cpu, "cpufreq/scaling_max_freq", "1800000");
	guest_wait_for_file(cpu, "cpufreq/scaling_min_freq", "800000");
	guest_wait_for_file(cpu, "cpufreq/scaling_cur_freq", "1800000");
}

/* Writes a marker to the logs of all CPUs. */
static void mark(uint8_t byte) {
	for (uint32_t cpu = 0; cpu < GUEST_CPUS; cpu++)
		outb(byte, (unsigned short)(PSTATE_PORT + cpu));
}

static void run_case(uint32_t number) {
	const struct guest_case *c = &guest_cases[number];

	unlink(GUEST_STATE);
	for (uint32_t cpu = 0; cpu < GUEST_CPUS; cpu++)
		reset(cpu);
	mark((uint8_t)(MARK + number));
	guest_print("case %u: %s", number, c->name);
	for (uint32_t cpu = 0; cpu < GUEST_CPUS; cpu++)
		guest_print("expected %u %u: %s", number, cpu, c->transitions[cpu]);
	c->run();
	mark(MARK_END);
}

static void load(const char *folder, const char *file) {
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long error = syscall(SYS_finit_module, fd, "", MODULE_INIT_COMPRESSED_FILE);
	guest_check(error == 0, "%s (%s)", path, error ? strerror(errno) : "loaded");
	close(fd);
}

void guest_load_module(const char *module) {
	char file[128];

	snprintf(file, sizeof(file), "%s.ko.xz", module);
	load("/later", file);
}

static int is_module(const struct dirent *entry) {
	return entry->d_name[0] != '.';
}

static void set_up(void) {
	static const struct {
		const char *type, *path;
	} mounts[] = {
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/run"}};
	struct dirent **names = NULL;

	for (uint32_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].path, 0755);
		mount(mounts[i].type, mounts[i].path, mounts[i].type, 0, NULL);
	}
	int console = open("/dev/console", O_RDWR); /* for log messages */
	for (int fd = 0; console >= 0 && fd <= 2; fd++)
		dup2(console, fd);
	int count = scandir("/modules", &names, is_module, alphasort);
	for (int i = 0; i < count; i++)
		load("/modules", names[i]->d_name);
	guest_check(count > 0, "modules are in the initrd");
}

int main(void) {
	if (iopl(3))
		return 1;
	set_up();
	guest_print("driver %s", guest_read(0, "cpufreq/scaling_driver"));
	for (uint32_t i = 0; i < guest_cases_count; i++)
		run_case(i);
	guest_print("end: %u cases, %u failed", guest_cases_count, failed);
	outb(0, OFF_PORT);
	for (;;)
		pause();
}
