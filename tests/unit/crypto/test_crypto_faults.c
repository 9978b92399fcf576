/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device that is late, out of order, fails, takes a part, swallows and disappears: frames come back in their order,
 * each once, right or as failed, and no buffer is free as long as the device may write to it.
 */
#include "test.h"

#include <string.h>

#include "crypto/cryptodev.h"

#include "crypto_rig.h"
#include "faulty_device.h"
#include "fixture.h"

#define IN_FLIGHT 256u
#define PATIENCE_POLLS 2000u /* more than the provider has where it has no time */

static struct crypto_provider *provider;
static struct crypto_rig rig;
static const struct rig_shape any = {0, 300, RIG_ANY, RIG_ANY, RIG_ANY};
static const struct rig_shape ciphered = {60, 100, RIG_ANY, CRYPTO_CRC | CRYPTO_CIPHER, RIG_ANY};

/* No patience but for some polls: what is lost is so by their number, and not by the clock. */
static void start(const char *device, enum crypto_direction direction) {
	const struct cryptodev_options options = {
		.queues = 2, .in_flight = IN_FLIGHT, .patience_ms = 0, .socket = SOCKET_ID_ANY};

	provider = cryptodev_open(device, &options);
	assert_non_null(provider);
	faulty_attach(device);
	rig_open(&rig, provider, direction, 11);
	rig.may_fail = true;
}

static const struct rig_shape *shape_for(const struct rig_shape *s) {
	static struct rig_shape shape;

	shape = *s;
	while (s == &ciphered &&
	       (shape.cipher == RIG_ANY || !crypto_can(provider, (enum cipher)shape.cipher)))
		shape.cipher = (int)random_between(&rig.random, CIPHER_AES_128, CIPHER_DES);
	return &shape;
}

static void make(unsigned n, const struct rig_shape *s) {
	for (unsigned i = 0; i < n; i++)
		rig_make(&rig, shape_for(s));
}

static void feed(unsigned n, const struct rig_shape *s) {
	while (n-- > 0)
		rig_feed(&rig, 1, shape_for(s));
}

static void end(void) {
	rig_close(&rig);
	provider->functions->close(provider);
	faulty_detach();
	rig_end(&rig);
}

static void faults_any(void) {
	faults = (struct faults){
		.late = random_below(&rig.random, 100),
		.fails = random_below(&rig.random, 2) * random_below(&rig.random, 20),
		.any_order = random_below(&rig.random, 2),
		.takes_part = random_below(&rig.random, 2),
	};
}

/* Bursts of any number, submitted and collected as it comes. */
static void turns(unsigned n) {
	for (unsigned turn = 0; turn < n; turn++) {
		unsigned room = 600 - RTE_MIN(rig.given - rig.done, 600u);

		make(random_below(&rig.random, RTE_MIN(room, 64u) + 1), &any);
		for (unsigned i = random_below(&rig.random, 4); i > 0; i--)
			rig_submit(&rig, 1 + random_below(&rig.random, CRYPTO_BURST));
		for (unsigned i = random_below(&rig.random, 4); i > 0; i--)
			rig_collect(&rig);
	}
}

static void all_but_disappearing(const char *device, enum crypto_direction direction) {
	start(device, direction);
	for (unsigned mix = 0; mix < 40; mix++) {
		faults_any();
		turns(25);
	}
	rig_drain(&rig);
	assert_int_equal(rig.lost, 0);
	assert_true(rig.failed > 100);
	assert_int_equal(rig.failed, faulty_counts().failed);
	assert_int_equal(rig_held(&rig), 0);
	end();
}

static void late_disordered_failing(void **state) {
	(void)state;
	all_but_disappearing(RIG_DEVICE, CRYPTO_DOWNLINK);
	all_but_disappearing(RIG_DEVICE, CRYPTO_UPLINK);
	all_but_disappearing("crypto_openssl0", CRYPTO_DOWNLINK);
	all_but_disappearing("crypto_openssl0", CRYPTO_UPLINK);
}

static unsigned submit_all(void) {
	unsigned some, taken = 0;

	do
		taken += some = rig_submit(&rig, CRYPTO_BURST);
	while (some > 0);
	return taken;
}

/* Returns how many frames were given back. */
static unsigned collect(unsigned polls) {
	unsigned came = 0;

	while (polls-- > 0)
		came += rig_collect(&rig);
	return came;
}

/* What it had is lost, what comes then is at once; and all is as before when it is there again. */
static void disappears_and_comes_back(void **state) {
	(void)state;
	start(RIG_DEVICE, CRYPTO_DOWNLINK);
	feed(100, &any);
	rig_drain(&rig);
	faults.gives_nothing = true;
	make(100, &ciphered);
	assert_int_equal(submit_all(), 100);
	assert_int_equal(collect(900), 0); /* it may be late */
	assert_int_equal(collect(PATIENCE_POLLS), 100);
	assert_int_equal(rig.lost, 100);
	assert_int_equal(rig_held(&rig), 100);

	make(20, &ciphered);
	assert_int_equal(submit_all(), 20);
	assert_int_equal(collect(1), 20);
	assert_int_equal(rig.lost, 120);
	faulty_scribble();
	assert_int_equal(rig_held(&rig), 100);

	faults.gives_nothing = false;
	feed(1, &ciphered); /* lost, but the device is seen again */
	rig_drain(&rig);
	feed(300, &any);
	rig_drain(&rig);
	assert_true(rig.lost <= 121);
	assert_int_equal(rig_held(&rig), 0);
	end();
}

/* Its buffers come back when it is closed, as it is stopped by then; not when the queue is. */
static void disappears_for_good(void **state) {
	struct crypto_queue *other, *third;

	(void)state;
	start(RIG_DEVICE, CRYPTO_UPLINK);
	faults.gives_nothing = true;
	make(200, &ciphered);
	submit_all();
	collect(PATIENCE_POLLS);
	assert_int_equal(rig.done, 200);
	assert_int_equal(rig.lost, 200);
	rig_close(&rig);
	assert_int_equal(rig_held(&rig), 200);
	other = crypto_queue_open(provider, CRYPTO_UPLINK);
	assert_non_null(other);
	third = crypto_queue_open(provider, CRYPTO_UPLINK);
	assert_null(third); /* the pair of the first has frames */
	faulty_scribble();
	faults.gives_nothing = false;
	third = crypto_queue_open(provider, CRYPTO_UPLINK);
	assert_non_null(third); /* it has none now */
	assert_int_equal(rig_held(&rig), 0);
	crypto_queue_close(other);
	crypto_queue_close(third);
	provider->functions->close(provider);
	faulty_detach();
	rig_end(&rig);
}

static void closed_with_frames_in_the_device(void **state) {
	(void)state;
	start("crypto_openssl0", CRYPTO_DOWNLINK);
	faults.gives_nothing = true;
	make(200, &ciphered);
	submit_all();
	collect(PATIENCE_POLLS);
	assert_int_equal(rig.lost, 200);
	rig_close(&rig);
	assert_int_equal(rig_held(&rig), 200);
	provider->functions->close(provider);
	assert_int_equal(rig_held(&rig), 0);
	faulty_detach();
	rig_end(&rig);
}

/* A queue is given up with frames that nobody has collected; the device has them, or takes no second operation of theirs. */
static void given_up(bool flying) {
	struct crypto_queue *other, *third;

	start("crypto_openssl0", CRYPTO_DOWNLINK);
	make(100, &ciphered);
	assert_int_equal(submit_all(), 100);
	faults.gives_nothing = flying;
	faults.takes_nothing = !flying;
	collect(10);
	assert_true(rig.done < 100);
	assert_int_equal(rig_held(&rig), 100 - rig.done);
	rig.given = rig.taken = rig.done;
	rig_close(&rig);
	if (!flying)
		assert_int_equal(rig_held(&rig), 0);
	other = crypto_queue_open(provider, CRYPTO_DOWNLINK);
	assert_non_null(other);
	faults = (struct faults){0};
	third = crypto_queue_open(provider, CRYPTO_DOWNLINK);
	assert_non_null(third);
	assert_int_equal(rig_held(&rig), 0);
	crypto_queue_close(other);
	crypto_queue_close(third);
	provider->functions->close(provider);
	faulty_detach();
	rig_end(&rig);
}

static void given_up_with_frames(void **state) {
	(void)state;
	given_up(true);
	given_up(false);
}

/* A device that never takes anything has nothing to lose: frames are lost all the same, and none waits. */
static void takes_nothing(void **state) {
	unsigned taken = 0;

	(void)state;
	start(RIG_DEVICE, CRYPTO_DOWNLINK);
	faults.takes_nothing = true;
	make(64, &ciphered);
	for (unsigned i = 0; i < 900; i++)
		taken += rig_submit(&rig, CRYPTO_BURST);
	assert_int_equal(taken, 0);
	for (unsigned i = 0; i < PATIENCE_POLLS; i++)
		taken += rig_submit(&rig, CRYPTO_BURST);
	assert_int_equal(taken, 64);
	assert_int_equal(collect(1), 64);
	assert_int_equal(rig.lost, 64);
	assert_int_equal(rig_held(&rig), 0);
	make(64, &ciphered);
	assert_int_equal(submit_all(), 64);
	assert_int_equal(collect(1), 64);
	assert_int_equal(rig.lost, 128);

	faults.takes_nothing = false;
	feed(64, &ciphered);
	rig_drain(&rig);
	assert_int_equal(rig.lost, 128);
	end();
}

/* Frames that need no device are none the worse for one that is gone. */
static void clear_frames_need_no_device(void **state) {
	const struct rig_shape clear = {60, 100, CIPHER_NONE, CRYPTO_CRC, RIG_ANY};
	unsigned lost;

	(void)state;
	start(RIG_DEVICE, CRYPTO_DOWNLINK);
	faults.gives_nothing = true;
	make(10, &ciphered);
	submit_all();
	collect(PATIENCE_POLLS);
	lost = rig.lost;
	assert_int_equal(lost, 10);
	rig_feed(&rig, 100, &clear);
	rig_drain(&rig);
	assert_int_equal(rig.lost, lost);
	assert_int_equal(rig.done, 110);
	end();
}

/* A single operation that is never answered loses its frame, and not those that fly behind it. */
static void swallows_some(void **state) {
	unsigned held;

	(void)state;
	start(RIG_DEVICE, CRYPTO_DOWNLINK);
	faults = (struct faults){.swallows = 50, .late = 100, .any_order = true};
	for (unsigned turn = 0; turn < 500; turn++) {
		make(1, &ciphered);
		rig_submit(&rig, CRYPTO_BURST);
		collect(10);
	}
	faults.swallows = UINT32_MAX; /* those that it has, and no other */
	rig_drain(&rig);
	held = faulty_counts().held;
	assert_true(held > 2 && held < 50);
	assert_int_equal(rig.lost, held);
	assert_int_equal(rig_held(&rig), held);
	faults = (struct faults){0};
	feed(100, &ciphered);
	rig_drain(&rig);
	assert_int_equal(rig_held(&rig), 0);
	end();
}

/* All of it: whatever it does, each frame comes back once, and each buffer in the end. */
static void anything(void **state) {
	static const char *const devices[] = {RIG_DEVICE, "crypto_openssl0"};

	(void)state;
	for (unsigned round = 0; round < 4; round++) {
		start(devices[round % 2], (enum crypto_direction)(round / 2));
		for (unsigned mix = 0; mix < 60; mix++) {
			faults_any();
			faults.swallows = random_below(&rig.random, 4) == 0 ? 30 : 0;
			faults.gives_nothing = random_below(&rig.random, 4) == 0;
			faults.takes_nothing = random_below(&rig.random, 4) == 0;
			turns(10);
			collect(random_below(&rig.random, 2) * PATIENCE_POLLS);
			assert_true(rig_held(&rig) <= IN_FLIGHT + rig.given - rig.done);
		}
		faults = (struct faults){0};
		rig_drain(&rig);
		collect(10);
		feed(200, &ciphered);
		rig_drain(&rig);
		assert_int_equal(rig.done, rig.given);
		assert_true(rig.lost > 0);
		end();
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_disordered_failing),
		cmocka_unit_test(disappears_and_comes_back),
		cmocka_unit_test(disappears_for_good),
		cmocka_unit_test(closed_with_frames_in_the_device),
		cmocka_unit_test(given_up_with_frames),
		cmocka_unit_test(takes_nothing),
		cmocka_unit_test(clear_frames_need_no_device),
		cmocka_unit_test(swallows_some),
		cmocka_unit_test(anything),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
