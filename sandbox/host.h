/*
 * host.h: the inside of a struct sandbox_host, for the files of this folder alone.
 */
#ifndef SANDBAR_HOST_H
#define SANDBAR_HOST_H

#include "cgroup.h"
#include "id_range.h"
#include "sandbox.h"
#include "seccomp.h"

struct sandbox_host {
	int init_fd; /* borrowed */
	char *staging;
	struct id_pair own; /* ids of this process, in the namespace above the sandboxes' */
	bool has_ranges;    /* a block of ids for each sandbox; else one id alone */
	struct id_range ids;
	int filters[SECCOMP_PROGRAMS]; /* seccomp programs */
	struct cgroup_host cgroups;
	struct layer_report report;
	unsigned boxes;
};

/* probe.c: try each layer, and fill the report. */
void sandbox_probe(struct sandbox_host *host);

#endif
