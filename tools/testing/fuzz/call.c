// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A call: the parts that requests of all interfaces have in common.
 */
#include <string.h>

#include "fuzz.h"

const struct twist *twist_of(const struct call *call, unsigned int row, enum how how)
{
	for (unsigned int i = 0; i < call->num_twists; i++) {
		if (call->twists[i].row == row && call->twists[i].how == how)
			return &call->twists[i];
	}
	return NULL;
}

/* Has the call a twist of the row that is only possible if the request has the row? */
bool twisted(const struct call *call, unsigned int row)
{
	for (unsigned int i = 0; i < call->num_twists; i++) {
		if (call->twists[i].row == row && call->twists[i].how != ABSENT)
			return true;
	}
	return false;
}

/* A row that is in the request and requires the value of this one. */
static const struct row *meant_by(const struct call *call, const struct row *row)
{
	const struct command *cmd = &commands[call->cmd];

	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		if (!strcmp(cmd->rows[i].means, row->name) && twisted(call, i))
			return &cmd->rows[i];
	}
	return NULL;
}

static unsigned int good_bytes(const struct call *call, const struct row *row, uint8_t *to,
			       unsigned int room)
{
	const struct row *other = meant_by(call, row);
	unsigned int len = row->size ?: row->least;

	if (len > room)
		len = room;
	memset(to, 0, len);
	if (other) {
		memcpy(to, &other->meant, len < 8 ? len : 8);
	} else if (row->num_samples) {
		len = row->samples[0].len < room ? row->samples[0].len : room;
		memcpy(to, row->samples[0].data, len);
	}
	return len;
}

static void fill(uint8_t *to, unsigned int len, uint64_t seed)
{
	for (unsigned int i = 0; i < len; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		to[i] = seed >> 56;
	}
}

unsigned int row_bytes(const struct call *call, unsigned int number, uint8_t *to,
		       unsigned int room)
{
	const struct row *row = &commands[call->cmd].rows[number];
	unsigned int len = good_bytes(call, row, to, room), cut;

	for (unsigned int i = 0; i < call->num_twists; i++) {
		const struct twist *one = &call->twists[i];
		const struct bytes *sample;

		if (one->row != number)
			continue;
		switch (one->how) {
		case SAMPLE:
			if (!row->num_samples)
				break;
			sample = &row->samples[one->value % row->num_samples];
			len = sample->len < room ? sample->len : room;
			memcpy(to, sample->data, len);
			break;
		case VALUE: case GIVEN:
			if (row->kind == INT || row->kind == MASK || row->kind == NLA)
				memcpy(to, &one->value, len < 8 ? len : 8);
			break;
		case WORD:
			if (len >= 4)
				memcpy(to + (one->value >> 32) % (len / 4) * 4, &one->value, 4);
			break;
		case BYTES:
			fill(to, len, one->value);
			break;
		case LEN:
			cut = one->value % (room + 1);
			if (cut > len)
				memset(to + len, one->value & 1, cut - len);
			len = cut;
			break;
		default:
			break;
		}
	}
	return len;
}

uint64_t row_handle(const struct call *call, unsigned int number)
{
	const struct row *row = &commands[call->cmd].rows[number];
	uint64_t handle = object_live(call->file, row->type, 0);

	for (unsigned int i = 0; i < call->num_twists; i++) {
		const struct twist *one = &call->twists[i];

		if (one->row != number)
			continue;
		switch (one->how) {
		case NTH:
			handle = object_live(call->file, row->type, one->value);
			break;
		case OTHER:
			handle = object_live(call->file, one->value % TYPES, 0);
			break;
		case DEAD:
			handle = object_dead(call->file, row->type, one->value);
			break;
		case FOREIGN:
			handle = object_live((call->file + 1) % FILES, row->type, one->value);
			break;
		case RAW:
			handle = one->value;
			break;
		default:
			break;
		}
	}
	return handle;
}

/* The address where the twists of a row put its data. */
uint64_t row_place(const struct call *call, unsigned int row, unsigned int thread,
		   const void *data, unsigned int len)
{
	static const enum how places[] = { READONLY, EDGE, UNMAPPED, KERNEL, RACED, LATE };

	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const struct twist *one = twist_of(call, row, places[i]);

		if (one)
			return memory_put(thread, one->how, one->value, data, len);
	}
	return memory_put(thread, SAMPLE, 0, data, len);
}
