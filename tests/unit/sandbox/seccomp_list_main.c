#include "seccomp_list.h"

int main(void)
{
	seccomp_list_write(stdout);
	return 0;
}
