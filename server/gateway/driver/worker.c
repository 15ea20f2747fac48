#include "namespaces_state.h"

static void answered(void *owner, uint32_t process, const struct keeper_answer *answer)
{
	struct namespaces *namespaces = owner;
	(void)process;
	bool is_there = answer->reply->status == KEEPER_OK && answer->fd_count == 1;
	int socket = is_there ? answer->fds[0] : -1;
	if (is_there)
		answer->fds[0] = -1;
	namespaces->hired(namespaces->hirer, socket);
}

void namespaces_driver_hire(struct driver *driver, void (*hired)(void *owner, int socket), void *owner)
{
	struct namespaces *namespaces = driver->context;
	namespaces->hired = hired;
	namespaces->hirer = owner;
	keeper_client_send(namespaces->keeper, &(struct keeper_request){.type = KEEPER_WORKER}, answered, namespaces);
}
