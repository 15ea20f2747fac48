#include "probe.h"

const struct probe_group PROBE_GROUPS[] = {
#define PROBE_GROUP(id, flags, summary) {#id, summary, flags, PROBES_##id, &PROBES_##id##_COUNT},
#include "groups.def"
#undef PROBE_GROUP
};
const size_t PROBE_GROUP_COUNT = COUNT(PROBE_GROUPS);
