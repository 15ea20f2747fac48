#include "sandbox/id_range.h"

#include <criterion/criterion.h>

Test(id_range, a_block_is_never_given_twice_and_the_servers_own_never)
{
	struct id_range range;
	struct error err;
	id_range_init(&range);
	bool seen[ID_BLOCKS] = {true};
	seen[(ID_OF_GATEWAY - ID_RANGE_BASE) / ID_BLOCK] = true;
	for (int i = 0; i < ID_BLOCKS_GIVEN; i++) {
		int block = id_range_take(&range, &err);
		cr_assert(block > 0 && block < ID_BLOCKS && !seen[block], "%d", block);
		seen[block] = true;
	}
	cr_assert_eq(id_range_take(&range, &err), -1);
	id_range_give(&range, 77);
	cr_assert_eq(id_range_take(&range, &err), 77);
}

Test(id_range, what_etc_subuid_hands_out_is_left_alone)
{
	struct id_range range;
	id_range_init(&range);
	/* The second entry begins in block 2 and ends in block 4; the others are elsewhere, empty, or nonsense. */
	id_range_exclude(&range, "a:100000:65536\nb:1879179263:65538\nc:1879310336:0\nnonsense\nd:x:y\n");
	for (unsigned i = 0; i < 8; i++)
		cr_assert_eq(range.taken[0] >> i & 1, i == 0 || (i >= 1 && i <= 3), "%u", i);
	id_range_exclude(&range, "e:0:4294967296\n");
	cr_assert_eq(id_range_take(&range, NULL), -1);
}

Test(id_range, a_container_with_few_ids_is_seen)
{
	cr_assert(id_range_is_mapped("         0          0 4294967295\n"));
	cr_assert(!id_range_is_mapped("         0     100000      65536\n"));
	cr_assert(!id_range_is_mapped("         0       1000          1\n         1     100000      65536\n"));
	cr_assert(!id_range_is_mapped(""));
}
