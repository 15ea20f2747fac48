#include "call_name.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>

void call_name(int number, char name[CALL_NAME_BYTES])
{
	char *known = seccomp_syscall_resolve_num_arch(seccomp_arch_native(), number);
	if (known)
		snprintf(name, CALL_NAME_BYTES, "%s", known);
	else
		snprintf(name, CALL_NAME_BYTES, "%d", number);
	free(known);
}
