/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhcactl: talks to the control socket of a running vhcad.
 */
#ifndef VHCACTL_H
#define VHCACTL_H

#include <json-c/json.h>
#include <stdbool.h>

/* What may stand anywhere in the command line. */
struct options {
	const char *control;	/* socket */
	bool json;
	bool verbose;
	bool once;
	unsigned int interval;	/* seconds */
};

/* talk.c */
/** fail() - one line on standard error, exit status 2 */
void fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/**
 * ask() - have vhcad carry out a request
 * @path: of the control socket; dialled the first time
 * @request: stays the caller's
 * @line: receives the answer as it came, to be freed
 *
 * Returns the answer, to be put.  Does not return without one.
 */
struct json_object *ask(const char *path, struct json_object *request, char **line);

/* answer.c: members of an answer; what is missing is NULL, "?", 0 or false */
struct json_object *get(struct json_object *o, const char *key);
const char *str(struct json_object *o, const char *key);
unsigned long long num(struct json_object *o, const char *key);
bool yes(struct json_object *o, const char *key);
/* items of an array, or of none */
size_t items(struct json_object *list);
/**
 * ask_on() - have a request ask for the page that follows
 * @request: what was asked
 * @answer: what came; put
 *
 * Returns false if there is none.
 */
bool ask_on(struct json_object *request, struct json_object *answer);

/* words.c */
/** make_request() - the words of a command as a request; NULL if there is no such command */
struct json_object *make_request(int argc, char **argv);
void add_word(struct json_object *o, const char *key, const char *word);

/* show.c */
/** show() - print what vhcad answered for people */
void show(const struct options *opt, const char *command, struct json_object *answer);
/** show_list_head() - the line above a list of "qps" and the like */
void show_list_head(const char *list);

/* top.c */
/** top() - the live view; true when it was ended, not by an error */
bool top(const struct options *opt);

#endif /* VHCACTL_H */
