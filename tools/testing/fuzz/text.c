// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Programs as text: a line "program", or "program" and "user", "good" or "refused", a line for each
 * delay and for each call, and "end".  They are:
 *
 *	delay MODULE+OFFSET MICROSECONDS
 *	THREAD FILE FORM:COMMAND ROW/KIND.HOW=VALUE...
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const char *const how_names[HOWS] = {
	"sample", "value", "word", "bytes", "nth", "other", "dead", "foreign", "raw", "absent",
	"given", "twice", "len", "readonly", "edge", "unmapped", "kernel", "raced", "late",
	"reserved", "in_words", "out_words", "number", "object", "method", "attrs", "flags",
	"repeat",
};

/* Returns the length. */
size_t prog_text(const struct prog *prog, char *to, size_t room)
{
	size_t at = snprintf(to, room, "program%s\n",
			     prog->good ? " good" : prog->refused ? " refused" :
			     prog->user ? " user" : "");

	for (unsigned int i = 0; i < prog->num_delays && at < room; i++) {
		const struct delay *delay = &prog->delays[i];

		at += snprintf(to + at, room - at, "delay %s+%#x %u\n",
			       modules[delay->module].name, delay->offset, delay->usec);
	}
	for (unsigned int i = 0; i < prog->num && at < room; i++) {
		const struct call *call = &prog->calls[i];
		const struct command *cmd = &commands[call->cmd];

		at += snprintf(to + at, room - at, "%u %u %s:%s", call->thread, call->file,
			       form_names[cmd->form], cmd->name);
		for (unsigned int k = 0; k < call->num_twists && at < room; k++) {
			const struct twist *twist = &call->twists[k];
			const struct row *row = &cmd->rows[twist->row];

			if (twist->row == REQUEST)
				at += snprintf(to + at, room - at, " request");
			else
				at += snprintf(to + at, room - at, " %s/%s", row->name,
					       kind_names[row->kind]);
			if (at < room)
				at += snprintf(to + at, room - at, ".%s=%#lx",
					       how_names[twist->how], twist->value);
		}
		if (at < room)
			at += snprintf(to + at, room - at, "\n");
	}
	if (at < room)
		at += snprintf(to + at, room - at, "end\n");
	return at < room ? at : room - 1;
}

static bool read_twist(const struct command *cmd, char *word, struct twist *twist)
{
	char *how = strrchr(word, '.'), *value = strrchr(word, '='), *kind;
	int row;

	if (!how || !value || value < how)
		return false;
	*how++ = 0;
	*value++ = 0;
	kind = strchr(word, '/');
	if (kind)
		*kind++ = 0;
	row = row_named(cmd, word, kind ?: "");
	if (row < 0)
		return false;
	twist->row = row;
	twist->value = strtoull(value, NULL, 0);
	for (twist->how = 0; twist->how < HOWS; twist->how++) {
		if (!strcmp(how_names[twist->how], how))
			return true;
	}
	return false;
}

static bool read_call(char *line, struct call *call)
{
	unsigned int thread, file;
	char form[16], name[NAME], *rest;
	int cmd, at;

	if (sscanf(line, "%u %u %15[a-z]:%63s%n", &thread, &file, form, name, &at) != 4)
		return false;
	cmd = command_named(form, name);
	if (cmd < 0)
		return false;
	*call = (struct call){ .cmd = cmd, .thread = thread % THREADS, .file = file % FILES };
	for (char *word = strtok_r(line + at, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		if (call->num_twists == TWISTS ||
		    !read_twist(&commands[cmd], word, &call->twists[call->num_twists]))
			return false;
		call->num_twists++;
	}
	return true;
}

static bool read_delay(const char *line, struct delay *delay)
{
	unsigned int offset, usec;
	char name[32];

	if (sscanf(line, "delay %31[^+]+%x %u", name, &offset, &usec) != 3)
		return false;
	for (unsigned int i = 0; i < num_modules; i++) {
		if (strcmp(modules[i].name, name))
			continue;
		*delay = (struct delay){ .module = i, .offset = offset, .usec = usec };
		return true;
	}
	return false;
}

static bool read_line(char *line, struct prog *prog)
{
	if (!strncmp(line, "delay ", 6)) {
		if (prog->num_delays == DELAYS ||
		    !read_delay(line, &prog->delays[prog->num_delays]))
			return false;
		prog->num_delays++;
		return true;
	}
	if (prog->num == CALLS || !read_call(line, &prog->calls[prog->num]))
		return false;
	prog->num++;
	return true;
}

/*
 * Cuts the next program off a text, which is changed by this.  Lines that are not understood are
 * counted.
 */
bool prog_read(struct prog *prog, char **from, unsigned int *unknown)
{
	bool inside = false;
	char *line;

	while ((line = strsep(from, "\n"))) {
		if (!strncmp(line, "program", 7)) {
			*prog = (struct prog){
				.user = !strcmp(line, "program user"),
				.good = !strcmp(line, "program good"),
				.refused = !strcmp(line, "program refused"),
			};
			inside = true;
		} else if (inside && !strcmp(line, "end")) {
			return true;
		} else if (inside ? !read_line(line, prog) : *line && *line != '#') {
			++*unknown;
		}
	}
	return false;
}
