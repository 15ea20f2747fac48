/*
 * startup.h: init's side of boot.h: what it does once, before it hears its first request.
 */
#ifndef SANDBAR_INIT_STARTUP_H
#define SANDBAR_INIT_STARTUP_H

#include "boot.h"
#include "settings.h"

/* Read ARGV into SETTINGS. False if it is not exactly what boot.h says. */
bool startup_read_arguments(int argc, char **argv, struct settings *settings);

/* Take every step up to INIT_BOOT_CONFINE. Returns 0, or the one that failed, with errno. */
enum init_boot_step startup_take(int argc, char **argv, struct settings *settings);

#endif
