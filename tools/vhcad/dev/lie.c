// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults that falsify fields of event and completion queue entries.  They leave the owner as it is:
 * with a false one the entry would only look as if it had not been written.
 */
#include <string.h>

#include "dev/hca.h"
#include "res/names.h"

struct place {
	u32 at, size;
};

#define FIELD(type, f)	{ offsetof(struct type, f), sizeof(((struct type *)0)->f) }

/* Where a field is in an entry; size 0: entries of this kind do not have it. */
static const struct {
	const char *name;
	struct place in[2];		/* enum entry_kind */
} lies[] = {
	[VLIE_CHANCE] = { "chance", { { 0, offsetof(struct vhca_eqe, owner) },
				      { 0, offsetof(struct vhca_cqe, owner) } } },
	[VLIE_NUMBER] = { "number", { FIELD(vhca_eqe, number), FIELD(vhca_cqe, qpn) } },
	[VLIE_KIND] = { "kind", { FIELD(vhca_eqe, event), FIELD(vhca_cqe, opcode) } },
	[VLIE_PORT] = { "port", { FIELD(vhca_eqe, port), FIELD(vhca_cqe, port) } },
	[VLIE_FLAGS] = { "flags", { FIELD(vhca_eqe, flags), FIELD(vhca_cqe, flags) } },
	[VLIE_LENGTH] = { "length", { { 0 }, FIELD(vhca_cqe, byte_len) } },
	[VLIE_INDEX] = { "index", { { 0 }, FIELD(vhca_cqe, wqe_index) } },
	[VLIE_ID] = { "id", { { 0 }, FIELD(vhca_cqe, wr_id) } },
};

const char *vlie_name(u32 lie)
{
	return lie < ARRAY_SIZE(lies) ? lies[lie].name : "?";
}

int vlie_by_name(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(lies); i++)
		if (!strcmp(lies[i].name, name))
			return i;
	return -1;
}

bool lie_valid(const struct vfault *f)
{
	return f->lie < ARRAY_SIZE(lies) &&
	       lies[f->lie].in[f->kind == VFAULT_COMPLETION ? ENTRY_COMPLETION : ENTRY_EVENT].size;
}

/* The next bytes by chance: a linear congruential generator, of which the upper half is used. */
static u32 draw(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 32;
}

void lie_in(const struct vfault *f, enum entry_kind kind, void *entry)
{
	const struct place *p = &lies[f->lie].in[kind];
	u64 state = (u64)f->seed << 32 | f->count;
	u8 *bytes = entry;

	/* Each entry that one fault strikes gets other bytes. */
	draw(&state);
	for (u32 i = 0; i < p->size; i++)
		bytes[p->at + i] = f->lie == VLIE_CHANCE ? (u8)draw(&state) : (u8)~bytes[p->at + i];
}
