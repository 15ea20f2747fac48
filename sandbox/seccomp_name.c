#include "seccomp.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>

void seccomp_call_name(int number, char name[SECCOMP_NAME_BYTES])
{
	char *known = seccomp_syscall_resolve_num_arch(seccomp_arch_native(), number);
	if (known)
		snprintf(name, SECCOMP_NAME_BYTES, "%s", known);
	else
		snprintf(name, SECCOMP_NAME_BYTES, "%d", number);
	free(known);
}
