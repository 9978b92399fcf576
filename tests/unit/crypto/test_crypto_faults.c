/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the provider for DPDK crypto devices with the faults of fake_device.h. Each frame must be collected once and in
 * order, as good, failed or lost. No buffer may be freed while the device may write to it. */
#include "test_main.h"

#include "crypto/cryptodev.h"

#include "crypto_kit.h"
#include "fake_device.h"
#include "fixture.h"

#define IN_FLIGHT 256u
#define TIMEOUT_POLLS 2000u /* more polls than the provider waits for a device with timeout_ms 0 */

static struct crypto_provider *provider;
static struct crypto_kit kit;
static const struct kit_shape any = {0, 300, KIT_ANY, KIT_ANY, KIT_ANY};
static const struct kit_shape ciphered = {60, 100, KIT_CIPHERED, CRYPTO_CRC | CRYPTO_CIPHER,
					  KIT_ANY};

/* The timeout is 0 ms, so that the number of polls decides which frames are lost, not the clock. */
static void open_kit(const char *device, enum crypto_direction direction) {
	const struct cryptodev_options options = {
		.queues = 2, .in_flight = IN_FLIGHT, .timeout_ms = 0, .socket = SOCKET_ID_ANY};

	provider = cryptodev_open(device, &options);
	assert_non_null(provider);
	faulty_attach(device);
	kit_open(&kit, provider, direction, 11);
	kit.may_fail = true;
}

static void make_frames(unsigned n, const struct kit_shape *s) {
	while (n-- > 0)
		kit_make_frame(&kit, s);
}

static void process_frames(unsigned n, const struct kit_shape *s) {
	kit_feed(&kit, n, s);
	kit_drain(&kit);
}

static void close_kit(void) {
	kit_close(&kit);
	provider->functions->close(provider);
	faulty_detach();
	kit_free_pool(&kit);
}

/* Submits and collects bursts of random sizes, `n` times. */
static void run_random_bursts(unsigned n) {
	for (unsigned burst = 0; burst < n; burst++) {
		unsigned capacity = 600 - RTE_MIN(kit.made - kit.collected, 600u);

		make_frames(random_below(&kit.random, RTE_MIN(capacity, 64u) + 1), &any);
		for (unsigned i = random_below(&kit.random, 4); i > 0; i--)
			kit_submit(&kit, 1 + random_below(&kit.random, CRYPTO_BURST));
		for (unsigned i = random_below(&kit.random, 4); i > 0; i--)
			kit_collect(&kit);
	}
}

static unsigned submit_all(void) {
	unsigned burst, submitted = 0;

	do
		submitted += burst = kit_submit(&kit, CRYPTO_BURST);
	while (burst > 0);
	return submitted;
}

/* Returns the number of frames collected in that many polls. */
static unsigned collect(unsigned polls) {
	unsigned frames = 0;

	while (polls-- > 0)
		frames += kit_collect(&kit);
	return frames;
}

static void assert_lost(unsigned lost, unsigned buffers_in_use) {
	assert_int_equal(kit.lost, lost);
	assert_int_equal(kit_buffers_in_use(&kit), buffers_in_use);
}

/* Frames in the device are lost after the timeout. Later frames are lost at once, except those without a cipher. When
 * the device answers, all frames are good. */
TEST(frames_are_lost_until_device_answers) {
	const struct kit_shape clear = {60, 100, CIPHER_NONE, CRYPTO_CRC, KIT_ANY};

	open_kit(KIT_DEVICE, CRYPTO_DOWNLINK);
	process_frames(100, &any);
	faults.returns_none = true;
	make_frames(100, &ciphered);
	assert_int_equal(submit_all(), 100);
	assert_int_equal(collect(900), 0); /* the timeout has not expired */
	assert_int_equal(collect(TIMEOUT_POLLS), 100);
	assert_lost(100, 100);

	make_frames(20, &ciphered);
	assert_int_equal(submit_all(), 20);
	assert_int_equal(collect(1), 20);
	faulty_overwrite_pending();
	assert_lost(120, 100);
	process_frames(100, &clear);
	assert_lost(120, 100);

	faults.returns_none = false;
	process_frames(1, &ciphered); /* possibly lost; shows that the device answers */
	process_frames(300, &any);
	assert_true(kit.lost <= 121);
	assert_int_equal(kit_buffers_in_use(&kit), 0);
	close_kit();
}

TEST(frames_are_lost_if_device_accepts_none) {
	unsigned submitted = 0;

	open_kit(KIT_DEVICE, CRYPTO_DOWNLINK);
	faults.accepts_none = true;
	make_frames(64, &ciphered);
	for (unsigned i = 0; i < 900; i++)
		submitted += kit_submit(&kit, CRYPTO_BURST);
	assert_int_equal(submitted, 0);
	for (unsigned i = 0; i < TIMEOUT_POLLS; i++)
		submitted += kit_submit(&kit, CRYPTO_BURST);
	assert_int_equal(submitted, 64);
	assert_int_equal(collect(1), 64);
	assert_lost(64, 0);
	make_frames(64, &ciphered);
	assert_int_equal(submit_all(), 64);
	assert_int_equal(collect(1), 64);

	faults.accepts_none = false;
	process_frames(64, &ciphered);
	assert_lost(128, 0);
	close_kit();
}

/* Queues are closed while the device has frames of theirs: after the timeout, or before they are collected. Their
 * buffers are not freed with the queue. They are freed when the device has returned them and another queue uses the
 * queue pair, or when the provider is closed and the device is stopped. */
static const struct close_case {
	const char *device;
	enum crypto_direction direction;
	struct faults faults;
	bool timed_out, reopened; /* the timeout has expired; another queue uses the queue pair */
} cases[] = {
	{KIT_DEVICE, CRYPTO_UPLINK, {.returns_none = true}, true, true},
	{"crypto_openssl0", CRYPTO_DOWNLINK, {.returns_none = true}, true, false},
	{"crypto_openssl0", CRYPTO_DOWNLINK, {.returns_none = true}, false, true},
	{"crypto_openssl0", CRYPTO_DOWNLINK, {.accepts_none = true}, false, true},
};

static void reopen_queues(const struct close_case *c) {
	struct crypto_queue *queues[2];

	queues[0] = crypto_queue_open(provider, c->direction);
	assert_non_null(queues[0]);
	if (c->faults.returns_none) /* the first queue pair has frames */
		assert_null(crypto_queue_open(provider, c->direction));
	faulty_overwrite_pending();
	faults = (struct faults){0};
	queues[1] = crypto_queue_open(provider, c->direction);
	assert_non_null(queues[1]); /* now it has none */
	assert_int_equal(kit_buffers_in_use(&kit), 0);
	crypto_queue_close(queues[0]);
	crypto_queue_close(queues[1]);
}

TEST(buffers_outlive_queue_until_device_returns_them) {
	for (const struct close_case *c = cases; c < cases + ARRAY_COUNT(cases); c++) {
		unsigned pending;

		open_kit(c->device, c->direction);
		make_frames(100, &ciphered);
		assert_int_equal(submit_all(), 100);
		faults = c->faults;
		collect(c->timed_out ? TIMEOUT_POLLS : 10);
		assert_true(kit.collected < 100 || c->timed_out);
		pending = c->timed_out ? 100 : 100 - kit.collected;
		assert_lost(c->timed_out ? 100 : 0, pending);
		kit.made = kit.submitted = kit.collected;
		kit_close(&kit);
		assert_int_equal(kit_buffers_in_use(&kit), c->faults.accepts_none ? 0 : pending);
		if (c->reopened)
			reopen_queues(c);
		provider->functions->close(provider);
		assert_int_equal(kit_buffers_in_use(&kit), 0);
		faulty_detach();
		kit_free_pool(&kit);
	}
}

TEST(lost_operations_are_reported_after_timeout) {
	unsigned pending;

	open_kit(KIT_DEVICE, CRYPTO_DOWNLINK);
	faults = (struct faults){.lose_one_in = 50, .max_delay = 100, .reorders = true};
	for (unsigned i = 0; i < 500; i++) {
		make_frames(1, &ciphered);
		kit_submit(&kit, CRYPTO_BURST);
		collect(10);
	}
	faults.lose_one_in = UINT32_MAX; /* loses no more operations */
	kit_drain(&kit);
	pending = faulty_counts().pending;
	assert_true(pending > 2 && pending < 50);
	assert_lost(pending, pending);
	faults = (struct faults){0};
	for (unsigned i = 0; i < 100; i++) /* the longest delay passes */
		process_frames(1, &ciphered);
	assert_int_equal(kit_buffers_in_use(&kit), 0);
	close_kit();
}

/* Random faults: delays, reordering, failures, bursts accepted in part; with `stops` also lost operations and no
 * answers. Each frame is collected once, and in the end all buffers are free. */
static void run_random_faults(const char *device, enum crypto_direction direction, bool stops) {
	open_kit(device, direction);
	for (unsigned mix = 0; mix < 60; mix++) {
		faults = (struct faults){
			.max_delay = random_below(&kit.random, 100),
			.fail_one_in = random_below(&kit.random, 2) * random_below(&kit.random, 20),
			.reorders = random_below(&kit.random, 2),
			.accepts_part = random_below(&kit.random, 2),
		};
		if (stops) {
			faults.lose_one_in = random_below(&kit.random, 4) == 0 ? 30 : 0;
			faults.returns_none = random_below(&kit.random, 4) == 0;
			faults.accepts_none = random_below(&kit.random, 4) == 0;
		}
		run_random_bursts(stops ? 10 : 20);
		collect(stops * random_below(&kit.random, 2) * TIMEOUT_POLLS);
		assert_true(kit_buffers_in_use(&kit) <= IN_FLIGHT + kit.made - kit.collected);
	}
	if (stops)
		faults = (struct faults){0};
	kit_drain(&kit);
	assert_int_equal(kit.lost > 0, stops);
	if (stops) {
		collect(10);
		process_frames(200, &ciphered);
	} else {
		assert_true(kit.failed > 100);
		assert_int_equal(kit.failed, faulty_counts().failed);
	}
	assert_int_equal(kit.collected, kit.made);
	assert_int_equal(kit_buffers_in_use(&kit), 0);
	close_kit();
}

TEST(random_faults_lose_no_frame) {
	static const char *const devices[] = {KIT_DEVICE, "crypto_openssl0"};

	for (unsigned i = 0; i < 8; i++)
		run_random_faults(devices[i % 2], (enum crypto_direction)(i / 2 % 2), i / 4);
}

ALL_TESTS(fixture_start, fixture_stop)
