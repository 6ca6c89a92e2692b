// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fabric in dot, the language of graphviz, and as SVG drawn by graphviz.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/client/vhcactl.h"

#define GOOD	"#2a7f3f"
#define WAITING	"#b36b00"	/* a manager has not brought it up yet */
#define BAD	"#b3261e"

/* Fonts by whose widths graphviz lays out, then a kind that most viewers have */
#define FONTS	"Helvetica,Arial,sans-serif"

#define BR	"<br align=\"left\"/>"

/* A string: names may be anything that a command line holds. */
static void put_text(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', to);
		fputc(*text, to);
	}
}

/* Adapters and switches may have the same names. */
static void put_node(FILE *to, bool hca, const char *name)
{
	fprintf(to, "\"%s ", hca ? "hca" : "switch");
	put_text(to, name);
	fputc('"', to);
}

static void put_hca(FILE *to, struct json_object *hca)
{
	fputc('\t', to);
	put_node(to, true, str(hca, "name"));
	fputs(" [shape=box, style=\"rounded,filled\", fillcolor=\"", to);
	fputs(num(hca, "fatal") ? "#f6d5d3" : yes(hca, "driver") ? "#dcefe1" : "#eeeeee", to);
	fputs("\", label=\"", to);
	put_text(to, str(hca, "name"));
	fprintf(to, "\\n%s\"];\n", fabric_hca(hca));
}

static void put_switch(FILE *to, struct json_object *node)
{
	fputc('\t', to);
	put_node(to, false, str(node, "name"));
	fputs(" [shape=box, style=filled, fillcolor=\"#dfe7f5\", label=\"", to);
	put_text(to, str(node, "name"));
	if (get(node, "lid"))
		fprintf(to, "\\nlid %llu", num(node, "lid"));
	fputs("\"];\n", to);
}

static const char *colour(struct json_object *edge)
{
	struct json_object *port = get(edge, "port"), *link = get(edge, "link");
	const char *state = str(port, "state");

	if ((link && !yes(link, "up")) || !strcmp(state, "DOWN"))
		return BAD;
	if (!port || !strcmp(state, "ACTIVE"))
		return GOOD;
	return WAITING;
}

static void put_edge(FILE *to, struct json_object *edge)
{
	struct json_object *port = get(edge, "port"), *link = get(edge, "link");
	struct json_object *faults = get(edge, "faults");
	const char *how = colour(edge);
	char words[64];

	fputc('\t', to);
	put_node(to, port, str(edge, "a"));
	fputs(" -- ", to);
	put_node(to, false, str(edge, "b"));
	/* The padding of a table cell keeps the label away from the line of its edge. */
	fprintf(to, " [color=\"%s\", fontcolor=\"%s\"%s, label=<<table border=\"0\" "
		"cellpadding=\"5\"><tr><td>", how, how, strcmp(how, BAD) ? "" : ", style=dashed");
	if (port) {
		fabric_port(port, words, sizeof(words));
		fprintf(to, "port %llu" BR "%s" BR, num(port, "port"), words);
	}
	if (link)
		fprintf(to, "%s%s" BR, str(link, "rate"), yes(link, "up") ? "" : ", down");
	if (num(link, "latency"))
		fprintf(to, "latency %llu ns" BR, num(link, "latency"));
	if (fabric_losses(link))
		fprintf(to, "lost %llu" BR, fabric_losses(link));
	for (size_t i = 0; i < items(faults); i++)
		fprintf(to, "%s" BR,
			json_object_get_string(json_object_array_get_idx(faults, i)));
	fputs("</td></tr></table>>];\n", to);
}

/* The title holds the faults that are armed at every link. */
static void put_title(FILE *to, struct json_object *faults)
{
	char words[96];

	fputs("\tlabel=\"", to);
	for (size_t i = 0; i < items(faults); i++) {
		struct json_object *f = json_object_array_get_idx(faults, i);

		fabric_fault(f, words, sizeof(words));
		if (!get(f, "link"))
			fprintf(to, "every link: %s\\n", words);
	}
	fputs("\";\n", to);
}

void draw_dot(struct json_object *fabric, FILE *to)
{
	static const struct {
		const char *list;
		void (*put)(FILE *to, struct json_object *o);
	} parts[] = {
		{ "hcas", put_hca }, { "switches", put_switch }, { "edges", put_edge },
	};

	fputs("graph fabric {\n\tranksep=1;\n\tfontname=\"" FONTS "\";\n"
	      "\tnode [fontname=\"" FONTS "\"];\n\tedge [fontname=\"" FONTS "\", "
	      "fontsize=10, penwidth=2];\n", to);
	put_title(to, get(fabric, "faults"));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct json_object *list = get(fabric, parts[i].list);

		for (size_t k = 0; k < items(list); k++)
			parts[i].put(to, json_object_array_get_idx(list, k));
	}
	fputs("}\n", to);
}

void draw_svg(struct json_object *fabric)
{
	char *const args[] = { "dot", "-Tsvg", NULL };
	posix_spawn_file_actions_t actions;
	int pipes[2], status, rc;
	pid_t pid;
	FILE *to;

	fflush(stdout);
	if (pipe(pipes))
		fail("pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[0], STDIN_FILENO);
	posix_spawn_file_actions_addclose(&actions, pipes[0]);
	posix_spawn_file_actions_addclose(&actions, pipes[1]);
	rc = posix_spawnp(&pid, args[0], &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc == ENOENT)
		fail("draw: there is no program dot here: install graphviz, or draw text");
	if (rc)
		fail("draw: dot: %s", strerror(rc));
	close(pipes[0]);
	/* If graphviz ends early, its exit status says so. */
	signal(SIGPIPE, SIG_IGN);
	to = fdopen(pipes[1], "w");
	if (!to)
		fail("no memory");
	draw_dot(fabric, to);
	fclose(to);
	if (waitpid(pid, &status, 0) != pid || status)
		fail("draw: dot has failed");
}
