// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The commands, as "describe" writes them: a line "command", and lines "row" and "sample" behind
 * it; lines "module".
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

struct command *commands;
unsigned int num_commands;
struct module modules[MODULES];
unsigned int num_modules;

const char *const form_names[FORMS] = {
	"ioctl", "write", "extended", "invoke", "nldev", "umad", "ucma", "sysfs", "sys",
};

const char *const kind_names[] = {
	"int", "mask", "blob", "out", "handle_out", "read", "write", "new", "destroy", "list",
	"nla", NULL
};

static void broken(const char *line)
{
	fprintf(stderr, "fuzz: not understood: %s\n", line);
	exit(2);
}

static void *more(void *array, unsigned int num, size_t size)
{
	array = reallocarray(array, num + 1, size);
	if (!array)
		abort();
	memset((char *)array + num * size, 0, size);
	return array;
}

static int named(const char *const *names, unsigned int num, const char *name)
{
	for (unsigned int i = 0; i < num && names[i]; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return -1;
}

/* Commands of SYS that not every run has. */
static bool allowed(const char *name, bool removal, bool refusals)
{
	if (!strcmp(name, "remove") || !strcmp(name, "fault"))
		return removal;
	return strcmp(name, "refuse") || refusals;
}

static void read_command(const char *line, const char *only, bool removal, bool refusals)
{
	struct command *cmd;
	char form[16];

	if (num_commands == COMMANDS)
		broken("too many commands");
	commands = more(commands, num_commands, sizeof(*commands));
	cmd = &commands[num_commands++];
	if (sscanf(line, "command %63s %15s %hu %hu %u %hhu %hu %hu %hu %hu", cmd->name, form,
		   &cmd->object, &cmd->method, &cmd->number, &cmd->flags, &cmd->request,
		   &cmd->response, &cmd->id_at, &cmd->response_at) != 10)
		broken(line);
	cmd->form = named(form_names, FORMS, form);
	if ((int)cmd->form < 0)
		broken(line);
	cmd->wanted = !*only || strstr(form, only) || cmd->form == SYS ||
		      (!strcmp(only, "uverbs") && cmd->form <= INVOKE);
	if (cmd->form == SYS)
		cmd->wanted = allowed(cmd->name, removal, refusals);
}

static void read_row(const char *line)
{
	struct command *cmd = &commands[num_commands - 1];
	struct row *row;
	unsigned int good;
	char kind[16];

	if (!num_commands)
		broken(line);
	cmd->rows = more(cmd->rows, cmd->num_rows, sizeof(*row));
	row = &cmd->rows[cmd->num_rows++];
	if (sscanf(line, "row %31s %15s %hhu %hu %hu %hu %hu %hu %hu %hu %hu %lx %u %31s %lu",
		   row->name, kind, &row->flags, &row->attr, &row->type, &row->size, &row->least,
		   &row->at[WRITE], &row->len[WRITE], &row->at[EXTENDED], &row->len[EXTENDED],
		   &row->mask, &good, row->means, &row->meant) != 15)
		broken(line);
	row->good = good;
	row->kind = named(kind_names, sizeof(kind_names) / sizeof(*kind_names), kind);
	if ((int)row->kind < 0 || row->type >= TYPES || cmd->num_rows >= REQUEST)
		broken(line);
}

static void read_sample(const char *line)
{
	struct command *cmd = &commands[num_commands - 1];
	struct row *row = &cmd->rows[cmd->num_rows - 1];
	const char *hex = line + strlen("sample ");
	struct bytes *sample;

	row->samples = more(row->samples, row->num_samples, sizeof(*sample));
	sample = &row->samples[row->num_samples++];
	sample->len = strlen(hex) / 2;
	sample->data = calloc(1, sample->len + 8);
	for (unsigned int i = 0; i < sample->len; i++) {
		if (sscanf(hex + 2 * i, "%2hhx", &sample->data[i]) != 1)
			broken(line);
	}
}

static void read_module(const char *line)
{
	struct module *module = &modules[num_modules];

	if (num_modules == MODULES ||
	    sscanf(line, "module %31s %lx %lu %u", module->name, &module->base, &module->size,
		   &module->blocks) != 4)
		broken(line);
	module->seen = calloc(module->size, sizeof(*module->seen));
	num_modules++;
}

/*
 * only: an interface's name, "" for all; removal: the device may be removed; refusals: it may
 * refuse to destroy objects
 */
void tables_read(const char *path, const char *only, bool removal, bool refusals)
{
	static char line[8192];
	FILE *file = fopen(path, "r");

	if (!file)
		broken(path);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "command ", 8))
			read_command(line, only, removal, refusals);
		else if (!strncmp(line, "row ", 4))
			read_row(line);
		else if (!strncmp(line, "sample ", 7))
			read_sample(line);
		else if (!strncmp(line, "module ", 7))
			read_module(line);
		else
			broken(line);
	}
	fclose(file);
	if (!num_commands)
		broken(path);
}

int command_named(const char *form, const char *name)
{
	for (unsigned int i = 0; i < num_commands; i++) {
		if (!strcmp(commands[i].name, name) &&
		    !strcmp(form_names[commands[i].form], form))
			return i;
	}
	return -1;
}

int row_named(const struct command *cmd, const char *name, const char *kind)
{
	if (!strcmp(name, "request"))
		return REQUEST;
	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		if (!strcmp(cmd->rows[i].name, name) &&
		    !strcmp(kind_names[cmd->rows[i].kind], kind))
			return i;
	}
	return -1;
}

/* One of the commands under test that make an object of the type, or -1. */
int maker_of(unsigned int type, unsigned int choice)
{
	int found[32], num = 0;

	for (unsigned int i = 0; i < num_commands && num < 32; i++) {
		const struct command *cmd = &commands[i];

		for (unsigned int k = 0; cmd->wanted && k < cmd->num_rows; k++) {
			if (cmd->rows[k].kind != NEW || cmd->rows[k].type != type)
				continue;
			found[num++] = i;
			break;
		}
	}
	return num ? found[choice % num] : -1;
}
