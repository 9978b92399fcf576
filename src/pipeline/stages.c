/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, closes and stops the stages of a direction, in all of its lists. */
#include "pipeline/pipeline.h"

int stages_open(const struct stage_list *lists, unsigned count, void *direction,
		const struct service_group *sg, const void *resources) {
	for (unsigned l = 0; l < count; l++) {
		for (unsigned s = 0; s < lists[l].count; s++) {
			const struct stage *stage = &lists[l].stages[s];

			if (stage->open != NULL &&
			    stage->open(stage_context(stage, direction), sg, resources) != 0)
				return -1;
		}
	}
	return 0;
}

void stages_close(const struct stage_list *lists, unsigned count, void *direction) {
	for (unsigned l = count; l > 0; l--) {
		for (unsigned s = lists[l - 1].count; s > 0; s--) {
			const struct stage *stage = &lists[l - 1].stages[s - 1];

			if (stage->close != NULL)
				stage->close(stage_context(stage, direction));
		}
	}
}

uint64_t stages_pending(const struct stage_list *lists, unsigned count, const void *direction,
			enum unit unit) {
	uint64_t pending = 0;

	for (unsigned l = 0; l < count; l++) {
		for (unsigned s = 0; s < lists[l].count; s++) {
			const struct stage *stage = &lists[l].stages[s];

			if (stage->pending != NULL)
				pending += stage->pending(stage_context(stage, direction), unit);
		}
	}
	return pending;
}

void stages_stop(const struct stage_list *lists, unsigned count, void *direction) {
	for (unsigned l = 0; l < count; l++) {
		for (unsigned s = 0; s < lists[l].count; s++) {
			const struct stage *stage = &lists[l].stages[s];

			if (stage->stop != NULL)
				stage->stop(stage_context(stage, direction));
		}
	}
}
