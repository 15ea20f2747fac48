/*
 * doctor.h: which layers of confinement this host gives, printed.
 */
#ifndef SANDBAR_DOCTOR_H
#define SANDBAR_DOCTOR_H

#include "sandbox/layer.h"

#include <stdbool.h>
#include <stdio.h>

/* Print REPORT as a table, or as JSON. True if every essential layer is on. */
bool doctor_print(const struct layer_report *report, bool json, FILE *out);

/* Prepare a host as the server would, print what it gives, and undo it. Returns an enum exit_code. */
int doctor_run(bool json);

#endif
