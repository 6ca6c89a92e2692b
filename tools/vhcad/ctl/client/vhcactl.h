/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhcactl: talks to the control socket of a running vhcad.
 */
#ifndef VHCACTL_H
#define VHCACTL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

/* Options, which may stand anywhere in the command line. */
struct options {
	const char *control;	/* socket */
	bool json;
	bool verbose;
	bool once;
	unsigned int interval;	/* seconds */
};

/* talk.c */
/** fail() - print a line on standard error and exit with status 2 */
void fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/**
 * ask() - have vhcad carry out a request
 * @path: path of the control socket, to which the first call connects
 * @request: stays the caller's
 * @line: receives the line of the answer, which the caller frees
 *
 * Returns the answer, to be released by json_object_put().  Exits if there is none.
 */
struct json_object *ask(const char *path, struct json_object *request, char **line);
/** ask_for() - the answer to a request, or NULL after printing vhcad's error */
struct json_object *ask_for(const struct options *opt, struct json_object *request);

/* members of an answer; NULL, "?", 0 or false if they are missing */
struct json_object *get(struct json_object *o, const char *key);
const char *str(struct json_object *o, const char *key);
unsigned long long num(struct json_object *o, const char *key);
bool yes(struct json_object *o, const char *key);
/* length of an array; 0 without one */
size_t items(struct json_object *list);
/**
 * ask_on() - change a request to ask for the next page
 * @request: request
 * @answer: its answer, which is released
 *
 * Returns false if there are no more pages.
 */
bool ask_on(struct json_object *request, struct json_object *answer);
/** ask_whole() - the first page with all entries of @list; NULL after printing vhcad's error */
struct json_object *ask_whole(const struct options *opt, struct json_object *request,
			      const char *list);

/* words.c */
/** make_request() - turn a command line into a request; NULL if there is no such command */
struct json_object *make_request(int argc, char **argv);
void add_word(struct json_object *o, const char *key, const char *word);

/* show.c */
/** show() - print vhcad's answer for people; @first: with the heading if it is a list */
void show(const struct options *opt, const char *command, struct json_object *answer, bool first);

/* work.c: what the engine and the adapters do */
/** work_look() - a sample; NULL after printing vhcad's error */
struct json_object *work_look(const struct options *opt);
/** work_rates() - what has happened between two samples, @passed seconds apart, per second */
struct json_object *work_rates(struct json_object *old, struct json_object *now, double passed);
/** work_rows() - number of lines that work_print() prints */
size_t work_rows(struct json_object *rates);
/** work_print() - print rates for people */
void work_print(struct json_object *rates);

/* fabric.c: nodes and edges of the fabric */
/**
 * fabric_look() - collect the fabric from vhcad's answers
 *
 * Returns an object with the lists "switches", "hcas", "edges" and "faults"; NULL after printing
 * vhcad's error.
 */
struct json_object *fabric_look(const struct options *opt);
/* the first object of @list whose member @key is the string @value; NULL if there is none */
struct json_object *find(struct json_object *list, const char *key, const char *value);
/* writes the state and the address of a port to @words */
void fabric_port(struct json_object *port, char *words, size_t room);
/* writes the kind of a fault, and how often it strikes, to @words */
void fabric_fault(struct json_object *fault, char *words, size_t room);
/* state of an adapter, in a word or two */
const char *fabric_hca(struct json_object *hca);
/* packets that a link has lost */
unsigned long long fabric_losses(struct json_object *link);

/* draw_dot.c */
/** draw_dot() - print the fabric in the language of graphviz */
void draw_dot(struct json_object *fabric, FILE *to);
/** draw_svg() - have graphviz draw the fabric on standard output */
void draw_svg(struct json_object *fabric);

/* draw.c */
/**
 * draw() - draw the fabric
 * @how: "text", "dot" or "svg"
 *
 * Returns false after printing vhcad's error.
 */
bool draw(const struct options *opt, const char *how);

/* top.c */
/** top() - show the live view; false if an error has ended it */
bool top(const struct options *opt);

#endif /* VHCACTL_H */
