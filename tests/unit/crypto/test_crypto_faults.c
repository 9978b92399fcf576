/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device that is late, out of order, fails, takes a part, swallows and disappears: frames come back in their order,
 * each once, right or as failed, and no buffer is free as long as the device may write to it.
 */
#include "test_main.h"

#include "crypto/cryptodev.h"

#include "crypto_kit.h"
#include "fake_device.h"
#include "fixture.h"

#define IN_FLIGHT 256u
#define PATIENCE_POLLS 2000u /* more than the provider has where it has no time */

static struct crypto_provider *provider;
static struct crypto_kit kit;
static const struct kit_shape any = {0, 300, KIT_ANY, KIT_ANY, KIT_ANY};
static const struct kit_shape ciphered = {60, 100, KIT_CIPHERED, CRYPTO_CRC | CRYPTO_CIPHER,
					  KIT_ANY};

/* No patience but for some polls: what is lost is so by their number, and not by the clock. */
static void start(const char *device, enum crypto_direction direction) {
	const struct cryptodev_options options = {
		.queues = 2, .in_flight = IN_FLIGHT, .timeout_ms = 0, .socket = SOCKET_ID_ANY};

	provider = cryptodev_open(device, &options);
	assert_non_null(provider);
	faulty_attach(device);
	kit_open(&kit, provider, direction, 11);
	kit.may_fail = true;
}

static void make(unsigned n, const struct kit_shape *s) {
	while (n-- > 0)
		kit_make(&kit, s);
}

static void feed(unsigned n, const struct kit_shape *s) {
	kit_feed(&kit, n, s);
	kit_drain(&kit);
}

static void end(void) {
	kit_close(&kit);
	provider->functions->close(provider);
	faulty_detach();
	kit_end(&kit);
}

/* Bursts of any number, submitted and collected as it comes. */
static void turns(unsigned n) {
	for (unsigned turn = 0; turn < n; turn++) {
		unsigned room = 600 - RTE_MIN(kit.given - kit.done, 600u);

		make(random_below(&kit.random, RTE_MIN(room, 64u) + 1), &any);
		for (unsigned i = random_below(&kit.random, 4); i > 0; i--)
			kit_submit(&kit, 1 + random_below(&kit.random, CRYPTO_BURST));
		for (unsigned i = random_below(&kit.random, 4); i > 0; i--)
			kit_collect(&kit);
	}
}

static unsigned submit_all(void) {
	unsigned some, taken = 0;

	do
		taken += some = kit_submit(&kit, CRYPTO_BURST);
	while (some > 0);
	return taken;
}

/* Returns how many frames were given back. */
static unsigned collect(unsigned polls) {
	unsigned came = 0;

	while (polls-- > 0)
		came += kit_collect(&kit);
	return came;
}

static void are_lost(unsigned lost, unsigned held) {
	assert_int_equal(kit.lost, lost);
	assert_int_equal(kit_held(&kit), held);
}

/* What it had is lost, what comes then is at once, but for frames that need no device; and all is as before when it is
 * there again. */
TEST(disappears_and_comes_back) {
	const struct kit_shape clear = {60, 100, CIPHER_NONE, CRYPTO_CRC, KIT_ANY};

	start(KIT_DEVICE, CRYPTO_DOWNLINK);
	feed(100, &any);
	faults.gives_nothing = true;
	make(100, &ciphered);
	assert_int_equal(submit_all(), 100);
	assert_int_equal(collect(900), 0); /* it may be late */
	assert_int_equal(collect(PATIENCE_POLLS), 100);
	are_lost(100, 100);

	make(20, &ciphered);
	assert_int_equal(submit_all(), 20);
	assert_int_equal(collect(1), 20);
	faulty_scribble();
	are_lost(120, 100);
	feed(100, &clear);
	are_lost(120, 100);

	faults.gives_nothing = false;
	feed(1, &ciphered); /* lost, but the device is seen again */
	feed(300, &any);
	assert_true(kit.lost <= 121);
	assert_int_equal(kit_held(&kit), 0);
	end();
}

TEST(takes_nothing) {
	unsigned taken = 0;

	start(KIT_DEVICE, CRYPTO_DOWNLINK);
	faults.takes_nothing = true;
	make(64, &ciphered);
	for (unsigned i = 0; i < 900; i++)
		taken += kit_submit(&kit, CRYPTO_BURST);
	assert_int_equal(taken, 0);
	for (unsigned i = 0; i < PATIENCE_POLLS; i++)
		taken += kit_submit(&kit, CRYPTO_BURST);
	assert_int_equal(taken, 64);
	assert_int_equal(collect(1), 64);
	are_lost(64, 0);
	make(64, &ciphered);
	assert_int_equal(submit_all(), 64);
	assert_int_equal(collect(1), 64);

	faults.takes_nothing = false;
	feed(64, &ciphered);
	are_lost(128, 0);
	end();
}

/*
 * A queue is given up while the device has frames of it, or takes no second operation of theirs: the patience for them is
 * over, or nobody has collected them. Their buffers come back when the device has done them and a queue has its pair
 * again, or when it is closed, as it is stopped by then; not when the queue is.
 */
static const struct closing {
	const char *device;
	enum crypto_direction direction;
	struct faults faults;
	bool patience_is_over, opened_again;
} closings[] = {
	{KIT_DEVICE, CRYPTO_UPLINK, {.gives_nothing = true}, true, true},
	{"crypto_openssl0", CRYPTO_DOWNLINK, {.gives_nothing = true}, true, false},
	{"crypto_openssl0", CRYPTO_DOWNLINK, {.gives_nothing = true}, false, true},
	{"crypto_openssl0", CRYPTO_DOWNLINK, {.takes_nothing = true}, false, true},
};

static void open_again(const struct closing *c) {
	struct crypto_queue *queues[2];

	queues[0] = crypto_queue_open(provider, c->direction);
	assert_non_null(queues[0]);
	if (c->faults.gives_nothing) /* the pair of the first has frames */
		assert_null(crypto_queue_open(provider, c->direction));
	faulty_scribble();
	faults = (struct faults){0};
	queues[1] = crypto_queue_open(provider, c->direction);
	assert_non_null(queues[1]); /* it has none now */
	assert_int_equal(kit_held(&kit), 0);
	crypto_queue_close(queues[0]);
	crypto_queue_close(queues[1]);
}

TEST(closed_with_frames_in_the_device) {
	for (const struct closing *c = closings; c < closings + ARRAY_COUNT(closings); c++) {
		unsigned left;

		start(c->device, c->direction);
		make(100, &ciphered);
		assert_int_equal(submit_all(), 100);
		faults = c->faults;
		collect(c->patience_is_over ? PATIENCE_POLLS : 10);
		assert_true(kit.done < 100 || c->patience_is_over);
		left = c->patience_is_over ? 100 : 100 - kit.done;
		are_lost(c->patience_is_over ? 100 : 0, left);
		kit.given = kit.taken = kit.done;
		kit_close(&kit);
		assert_int_equal(kit_held(&kit), c->faults.takes_nothing ? 0 : left);
		if (c->opened_again)
			open_again(c);
		provider->functions->close(provider);
		assert_int_equal(kit_held(&kit), 0);
		faulty_detach();
		kit_end(&kit);
	}
}

TEST(swallows_some) {
	unsigned held;

	start(KIT_DEVICE, CRYPTO_DOWNLINK);
	faults = (struct faults){.swallows = 50, .late = 100, .any_order = true};
	for (unsigned turn = 0; turn < 500; turn++) {
		make(1, &ciphered);
		kit_submit(&kit, CRYPTO_BURST);
		collect(10);
	}
	faults.swallows = UINT32_MAX; /* those that it has, and no other */
	kit_drain(&kit);
	held = faulty_counts().held;
	assert_true(held > 2 && held < 50);
	are_lost(held, held);
	faults = (struct faults){0};
	for (unsigned turn = 0; turn < 100; turn++) /* as late as they may be */
		feed(1, &ciphered);
	assert_int_equal(kit_held(&kit), 0);
	end();
}

/* Late, out of order, failing, in parts; and disappearing as well. Whatever it does, each frame comes back once, and each
 * buffer in the end. */
static void anything(const char *device, enum crypto_direction direction, bool disappears) {
	start(device, direction);
	for (unsigned mix = 0; mix < 60; mix++) {
		faults = (struct faults){
			.late = random_below(&kit.random, 100),
			.fails = random_below(&kit.random, 2) * random_below(&kit.random, 20),
			.any_order = random_below(&kit.random, 2),
			.takes_part = random_below(&kit.random, 2),
		};
		if (disappears) {
			faults.swallows = random_below(&kit.random, 4) == 0 ? 30 : 0;
			faults.gives_nothing = random_below(&kit.random, 4) == 0;
			faults.takes_nothing = random_below(&kit.random, 4) == 0;
		}
		turns(disappears ? 10 : 20);
		collect(disappears * random_below(&kit.random, 2) * PATIENCE_POLLS);
		assert_true(kit_held(&kit) <= IN_FLIGHT + kit.given - kit.done);
	}
	if (disappears)
		faults = (struct faults){0};
	kit_drain(&kit);
	assert_int_equal(kit.lost > 0, disappears);
	if (disappears) {
		collect(10);
		feed(200, &ciphered);
	} else {
		assert_true(kit.failed > 100);
		assert_int_equal(kit.failed, faulty_counts().failed);
	}
	assert_int_equal(kit.done, kit.given);
	assert_int_equal(kit_held(&kit), 0);
	end();
}

TEST(anything_that_it_does) {
	static const char *const devices[] = {KIT_DEVICE, "crypto_openssl0"};

	for (unsigned i = 0; i < 8; i++)
		anything(devices[i % 2], (enum crypto_direction)(i / 2 % 2), i / 4);
}

ALL_TESTS(fixture_start, fixture_stop)
