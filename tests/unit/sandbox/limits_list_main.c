#include "limits_list.h"

int main(void)
{
	limits_list_write(stdout);
	return 0;
}
