/* SPDX-License-Identifier: BSD-3-Clause */
#include "congestion.h"

#include <math.h>

#define INITIAL_WINDOW 10 /* packets */
#define WINDOW_MIN 2
#define RENO_BETA 0.5
#define CUBIC_BETA 0.7 /* RFC 9438, section 4.6 */
#define CUBIC_C 0.4 /* packets per cubic second, section 5.1 */
#define CUBIC_GROWTH_MAX 1.5 /* of the window per round trip */

void congestion_init(struct congestion *c, enum congestion_control control) {
	*c = (struct congestion){
		.control = control,
		.window = INITIAL_WINDOW,
		.threshold = INFINITY,
	};
}

/* Starts congestion avoidance; on the plateau if slow start has exceeded W_max. */
static void cubic_begin(struct congestion *c, uint64_t now) {
	struct congestion_cubic *q = &c->cubic;

	if (q->maximum < c->window)
		q->maximum = c->window;
	q->period = cbrt((q->maximum - c->window) / CUBIC_C);
	q->estimate = c->window;
	q->epoch = now;
	q->epoch_known = true;
}

/* W_cubic(t), `seconds` after the epoch. */
static double cubic_window(const struct congestion_cubic *q, double seconds) {
	double away = seconds - q->period;

	return CUBIC_C * away * away * away + q->maximum;
}

/* The window of Reno with CUBIC's decrease factor (section 4.3): slower growth until the reduction
 * is regained, then Reno's own. */
static void cubic_estimate(struct congestion *c) {
	double alpha =
		c->cubic.estimate < c->cubic.prior ? 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) : 1;

	c->cubic.estimate += alpha / c->window;
}

static void cubic_on_ack(struct congestion *c, uint64_t now, uint64_t rtt) {
	struct congestion_cubic *q = &c->cubic;
	double elapsed, target;

	if (!q->epoch_known)
		cubic_begin(c, now);
	elapsed = (double)(now - q->epoch) / 1e9;
	cubic_estimate(c);
	if (cubic_window(q, elapsed) < q->estimate) {
		c->window = fmax(c->window, q->estimate);
		return;
	}
	target = cubic_window(q, elapsed + (double)rtt / 1e9);
	target = fmin(fmax(target, c->window), CUBIC_GROWTH_MAX * c->window);
	c->window += (target - c->window) / c->window;
}

void congestion_on_ack(struct congestion *c, uint64_t now, uint64_t rtt) {
	if (c->window < c->threshold)
		c->window += 1;
	else if (c->control == CONGESTION_RENO)
		c->window += 1 / c->window;
	else
		cubic_on_ack(c, now, rtt);
}

/* A flow whose window shrinks from loss to loss releases bandwidth to others (fast convergence,
 * section 4.7). */
static void cubic_on_loss(struct congestion *c) {
	struct congestion_cubic *q = &c->cubic;

	q->maximum = c->window < q->maximum ? c->window * (1 + CUBIC_BETA) / 2 : c->window;
	q->prior = c->window;
	q->epoch_known = false;
}

void congestion_on_loss(struct congestion *c) {
	double beta = c->control == CONGESTION_RENO ? RENO_BETA : CUBIC_BETA;

	if (c->control == CONGESTION_CUBIC)
		cubic_on_loss(c);
	c->threshold = fmax(c->window * beta, WINDOW_MIN);
	c->window = c->threshold;
}

void congestion_on_timeout(struct congestion *c) {
	congestion_on_loss(c);
	c->window = 1;
}
