// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Random programs.  A call that needs an object comes after one that makes it, as far as the
 * program has room for that; most requests are valid except for one or two twists.
 */
#include <string.h>

#include "fuzz.h"

static bool one_in(unsigned int n)
{
	return !chance_of(n);
}

static enum how how_of_request(enum form form)
{
	static const enum how hows[] = {
		IN_WORDS, OUT_WORDS, NUMBER, OBJECT, METHOD, ATTRS, FLAGS, LEN, READONLY, EDGE,
		UNMAPPED, RACED, LATE, RESERVED,
	};

	static const enum how of_file[] = { VALUE, LEN, FLAGS };

	if (one_in(8))
		return REPEAT;
	if (form == SYS)
		return VALUE;
	if (form == SYSFS)
		return of_file[chance_of(sizeof(of_file) / sizeof(*of_file))];
	return one_in(2) ? (one_in(3) ? LATE : one_in(2) ? RACED : EDGE) :
			   hows[chance_of(sizeof(hows) / sizeof(*hows))];
}

static enum how how_of(enum form form, const struct row *row)
{
	static const enum how objects[] = {
		NTH, NTH, OTHER, DEAD, DEAD, FOREIGN, RAW, ABSENT, GIVEN, LEN, TWICE, RESERVED,
	};
	static const enum how numbers[] = {
		VALUE, VALUE, VALUE, VALUE, GIVEN, ABSENT, TWICE, LEN, RESERVED,
	};
	static const enum how places[] = {
		READONLY, EDGE, UNMAPPED, KERNEL, RACED, LATE, LEN, ABSENT, GIVEN, TWICE, RESERVED,
	};

	/* the other twists are for attributes only */
	if (row->kind == OUT && form != IOCTL)
		return places[chance_of(6)];
	switch (row->kind == NLA && row->type && one_in(2) ? READ : row->kind) {
	case READ: case CHANGE: case DESTROY: case NEW: case HANDLE_OUT:
		return objects[chance_of(sizeof(objects) / sizeof(*objects))];
	case INT: case MASK:
		return numbers[chance_of(sizeof(numbers) / sizeof(*numbers))];
	case OUT:
		return places[chance_of(sizeof(places) / sizeof(*places))];
	default:
		if (one_in(3))
			return places[chance_of(sizeof(places) / sizeof(*places))];
		return row->num_samples && one_in(2) ? SAMPLE : one_in(3) ? BYTES : WORD;
	}
}

static uint64_t value_of(const struct command *cmd, const struct row *row, enum how how)
{
	switch (how) {
	case SAMPLE:
		return row && row->num_samples ? chance_of(row->num_samples) : 0;
	case VALUE: case GIVEN:
		if (cmd->form == SYS && !one_in(4))	/* fields of few bits each */
			return chance_of(4096);
		if (row && row->kind == MASK && !one_in(3))
			return chance() & row->mask;
		return chance_number();
	case WORD:	/* which word, and what it becomes */
		return (uint64_t)chance_of(64) << 32 | (uint32_t)chance_number();
	case NTH: case FOREIGN: case DEAD:
		return chance_of(4);
	case OTHER:
		return chance_of(TYPES);
	case LEN:
		return row && one_in(2) ? row->size + (int64_t)chance_of(9) - 4 : chance_of(300);
	case EDGE:
		return chance_of(cmd->form == IOCTL ? 300 : 130);
	case RAW: case FLAGS:
		return chance_number();
	default:
		return chance_of(8);
	}
}

static bool has_answer(const struct row *row)
{
	return row->kind == OUT || row->kind == HANDLE_OUT;
}

/*
 * A row that takes a part of the answer: a request whose result cannot be written is hardest to
 * undo.
 */
static unsigned int an_answer(const struct command *cmd)
{
	unsigned int first = chance_of(cmd->num_rows), at;

	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		at = (first + i) % cmd->num_rows;
		if (has_answer(&cmd->rows[at]))
			return at;
	}
	return first;
}

static void twist(struct call *call)
{
	const struct command *cmd = &commands[call->cmd];
	struct twist *one = &call->twists[call->num_twists];
	const struct row *row = NULL;

	if (call->num_twists == TWISTS)
		one = &call->twists[chance_of(TWISTS)];
	else
		call->num_twists++;
	if (!cmd->num_rows || one_in(8)) {
		one->row = REQUEST;
		one->how = how_of_request(cmd->form);
	} else {
		one->row = one_in(6) ? an_answer(cmd) : chance_of(cmd->num_rows);
		row = &cmd->rows[one->row];
		one->how = how_of(cmd->form, row);
	}
	one->value = value_of(cmd, row, one->how);
}

static void insert(struct prog *prog, unsigned int at, struct call call)
{
	if (prog->num == CALLS)
		return;
	memmove(&prog->calls[at + 1], &prog->calls[at], (prog->num - at) * sizeof(call));
	prog->calls[at] = call;
	prog->num++;
}

/* Does a call before this place make an object of the type? */
static bool made_before(const struct prog *prog, unsigned int at, unsigned int type,
			unsigned int file)
{
	while (at--) {
		const struct command *cmd = &commands[prog->calls[at].cmd];

		for (unsigned int i = 0; prog->calls[at].file == file && i < cmd->num_rows; i++) {
			if (cmd->rows[i].kind == NEW && cmd->rows[i].type == type)
				return true;
		}
	}
	return false;
}

/* Does an earlier call make what this one needs: a file, its context? */
static bool called_before(const struct prog *prog, unsigned int at, int cmd, unsigned int file)
{
	while (at--) {
		if (prog->calls[at].cmd == cmd && prog->calls[at].file == file)
			return true;
	}
	return false;
}

static void add(struct prog *prog, unsigned int *at, unsigned int cmd, unsigned int file,
		unsigned int thread, unsigned int depth);

/* A context that was refused may be opened once more. */
static void insert_opening(struct prog *prog, unsigned int *at, unsigned int cmd,
			   unsigned int file)
{
	struct call call = { .cmd = cmd, .file = file };

	if (one_in(16)) {
		twist(&call);
		insert(prog, (*at)++, call);
		call.num_twists = 0;
	}
	insert(prog, (*at)++, call);
}

static void add_opening(struct prog *prog, unsigned int *at, const struct command *cmd,
			unsigned int file)
{
	bool uverbs = cmd->form <= INVOKE || (cmd->form == SYS && cmd->flags & SYS_CONTEXT);
	const char *name = uverbs ? "open_uverbs" :
			   cmd->form == UMAD ? "open_umad" : cmd->form == UCMA ? "open_ucma" : NULL;
	int opening = name ? command_named("sys", name) : -1;

	if (cmd->form == SYSFS && *cmd->name == 'C' && cmd->number < FOLDER_MADE)
		opening = command_named("sysfs", "C");
	if (opening >= 0 && !called_before(prog, *at, opening, file)) {
		insert(prog, (*at)++, (struct call){ .cmd = opening, .file = file });
		/* the header of MADs as today's programs have it */
		if (cmd->form == UMAD && !one_in(4))
			insert(prog, (*at)++, (struct call){
				.cmd = command_named("umad", "ENABLE_PKEY"), .file = file,
			});
	}
	if (uverbs && strcmp(cmd->name, "GET_CONTEXT")) {
		opening = command_named("write", "GET_CONTEXT");
		if (opening >= 0 && !called_before(prog, *at, opening, file) &&
		    !called_before(prog, *at, command_named("ioctl", "GET_CONTEXT"), file))
			insert_opening(prog, at, opening, file);
	}
}

/* Adds the call, behind those that it needs. */
static void add(struct prog *prog, unsigned int *at, unsigned int number, unsigned int file,
		unsigned int thread, unsigned int depth)
{
	const struct command *cmd = &commands[number];
	struct call call = { .cmd = number, .file = file, .thread = thread };

	add_opening(prog, at, cmd, file);
	for (unsigned int i = 0; i < cmd->num_rows && depth < 5; i++) {
		const struct row *row = &cmd->rows[i];
		int maker;

		if (!row->good || (row->kind != READ && row->kind != CHANGE &&
				   row->kind != DESTROY && row->kind != INT && row->kind != NLA))
			continue;
		if ((row->kind == INT || row->kind == NLA) && !row->type)
			continue;
		if (made_before(prog, *at, row->type, file))
			continue;
		maker = maker_of(row->type, chance_of(32));
		if (maker >= 0)
			add(prog, at, maker, file, 0, depth + 1);
	}
	/* calls for others are valid, as a rule */
	if (depth ? one_in(16) : !one_in(4)) {
		do
			twist(&call);
		while (one_in(3));
	}
	insert(prog, (*at)++, call);
}

static unsigned int any_command(void)
{
	unsigned int cmd;

	do
		cmd = chance_of(num_commands);
	while (!commands[cmd].wanted || (commands[cmd].form == SYS && !one_in(2)) ||
	       (commands[cmd].form == SYSFS && !one_in(4)));
	return cmd;
}

static void add_any(struct prog *prog, unsigned int at)
{
	add(prog, &at, any_command(), one_in(6) ? chance_of(FILES) : 0,
	    one_in(2) ? chance_of(THREADS) : 0, 0);
}

/* The device is removed while the program runs, or when it has done everything. */
static void add_removal(struct prog *prog)
{
	struct call call = { .cmd = command_named("sys", "remove"), .num_twists = 1 };

	call.thread = chance_of(THREADS);
	call.twists[0] = (struct twist){ .row = REQUEST, .how = VALUE,
					 .value = chance_of(2 * REMOVALS) };
	insert(prog, prog->num - chance_of(prog->num / 2 + 1), call);
}

/* The device has faults from some call on. */
static void add_fault(struct prog *prog)
{
	struct call call = { .cmd = command_named("sys", "fault"), .num_twists = 1 };

	call.twists[0] = (struct twist){ .row = REQUEST, .how = VALUE, .value = chance() };
	insert(prog, chance_of(prog->num + 1), call);
}

/* Several threads make the same call at the same time, repeatedly. */
static void add_twins(struct prog *prog, unsigned int at)
{
	struct call call = prog->calls[at];

	if (call.num_twists < TWISTS)
		call.twists[call.num_twists++] = (struct twist){
			.row = REQUEST, .how = REPEAT, .value = chance_of(64),
		};
	for (unsigned int i = 1 + chance_of(2); i < THREADS; i++) {
		call.thread = i;
		insert(prog, at + 1, call);
	}
}

void prog_grow(struct prog *prog)
{
	unsigned int num = 1 + chance_of(6);

	*prog = (struct prog){ .user = one_in(6) };
	while (num--)
		add_any(prog, prog->num);
	if (prog->num && one_in(6))
		add_twins(prog, prog->num - 1);
	if (removal && one_in(3))
		add_removal(prog);
	if (removal && !device_link && one_in(4))
		add_fault(prog);
}

/*
 * One of the programs that call each command with a result that cannot be written: number 0 is the
 * first.  Returns false behind the last one.
 */
bool prog_walk(struct prog *prog, unsigned int number)
{
	static const struct twist ends[] = { { .how = READONLY }, { .how = LATE, .value = 3 } };
	const unsigned int num_ends = sizeof(ends) / sizeof(*ends);
	unsigned int at = 0;

	for (unsigned int i = 0; i < num_commands; i++) {
		const struct command *cmd = &commands[i];
		int row = cmd->form == UMAD ? REQUEST : row_named(cmd, "answer", "out");
		struct call *call;

		if (row < 0 && cmd->num_rows)
			row = an_answer(cmd);
		if (!cmd->wanted || cmd->form >= SYSFS || row < 0 ||
		    (row != REQUEST && !has_answer(&cmd->rows[row])))
			continue;
		if (number >= num_ends) {
			number -= num_ends;
			continue;
		}
		*prog = (struct prog){};
		add(prog, &at, i, 0, 0, 1);
		/* unless there was no room for it behind what it needs */
		call = &prog->calls[prog->num - 1];
		if (call->cmd == i) {
			call->num_twists = 1;
			call->twists[0] = ends[number];
			call->twists[0].row = row;
		}
		return true;
	}
	return false;
}

/* Does something of the program happen beside something else? */
bool prog_races(const struct prog *prog)
{
	for (unsigned int i = 0; i < prog->num; i++) {
		if (prog->calls[i].thread ||
		    prog->calls[i].cmd == command_named("sys", "remove"))
			return true;
	}
	return false;
}

static void take_out(struct prog *prog, unsigned int at)
{
	prog->num--;
	memmove(&prog->calls[at], &prog->calls[at + 1],
		(prog->num - at) * sizeof(prog->calls[0]));
}

/* other: a program of which a part may be added */
void prog_mutate(struct prog *prog, const struct prog *other)
{
	struct call *call;

	prog->good = false;
	prog->refused = false;
	prog->num_delays = 0;
	do {
		unsigned int at = prog->num ? chance_of(prog->num) : 0;

		if (!prog->num) {
			add_any(prog, 0);
			continue;
		}
		call = &prog->calls[at];
		switch (chance_of(13)) {
		case 0: case 1: case 2: case 3:
			twist(call);
			break;
		case 4:
			if (call->num_twists)
				call->num_twists--;
			break;
		case 5: case 6:
			add_any(prog, at + 1);
			break;
		case 7:
			take_out(prog, at);
			break;
		case 8:
			insert(prog, at, *call);
			break;
		case 9:
			call->thread = chance_of(THREADS);
			break;
		case 10:
			add_twins(prog, at);
			break;
		case 11:
			for (unsigned int i = chance_of(other->num + 1); i < other->num; i++)
				insert(prog, prog->num, other->calls[i]);
			break;
		default:
			if (call->num_twists) {
				struct twist *one = &call->twists[chance_of(call->num_twists)];
				const struct command *cmd = &commands[call->cmd];

				one->value = value_of(cmd, one->row == REQUEST ? NULL :
						      &cmd->rows[one->row], one->how);
			}
			break;
		}
	} while (one_in(2));
}
