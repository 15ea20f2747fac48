/*
 * sandbar-init: PID 1 of a sandbox. See boot.h for how it is executed, wire.h for what it is asked.
 */
#include "startup.h"
#include "outbox.h"

#include <errno.h>
#include <unistd.h>

static _Noreturn void give_up(enum init_boot_step step, int errnum)
{
	const struct init_message message = {
		.type = INIT_REFUSED,
		.flags = (uint32_t)errnum,
		.value = (int32_t)step,
	};
	(void)outbox_send(INIT_SOCKET_FD, &message, NULL, 0);
	_exit(1);
}

int main(int argc, char **argv)
{
	struct settings settings = {0};
	enum init_boot_step failed = startup_take(argc, argv, &settings);
	if (failed)
		give_up(failed, errno);
	struct init *init = init_create(INIT_SOCKET_FD, &settings);
	if (!init)
		give_up(INIT_BOOT_LOOP, errno);
	init_announce(init);
	while (init_turn(init, -1))
		;
	_exit(0);
}
