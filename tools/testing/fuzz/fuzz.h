/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fuzzer of the user API.  A program is a list of calls; a call is a valid request of a
 * command, and the twists that make it invalid.  From top to bottom: main.c (the loop), grow.c
 * (random programs), text.c (programs as text), run.c (processes and threads that run one), left.c
 * (what is left behind), request.c, others.c, files.c and sys.c on maps.c, around.c and net.c (a
 * call of each interface), call.c (common parts of calls), removal.c on faults.c and link.c
 * (removal, return and faults of the device), message.c (netlink), memory.c on late.c (what
 * processes share, and where requests are in memory), objects.c (objects of programs), delays.c on
 * cover.c (where the kernel is delayed, what it executed), tables.c (the commands), chance.c.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/netlink.h>

#define THREADS		4	/* of a program */
#define TRACES		(THREADS + 1)	/* of those, and of the thread that removes the device */
#define FILES		3	/* of each interface that a program has open */
#define CALLS		40	/* of a program at most */
#define TWISTS		6	/* of a call at most */
#define DELAYS		6	/* of a program at most */
#define MODULES		12
#define NAME		64	/* of a command: at most one character less */
#define COMMANDS	600	/* in all forms */
#define PAGE		4096UL

/* ---- commands (tables.c) ---- */

enum form { IOCTL, WRITE, EXTENDED, INVOKE, NETLINK, UMAD, UCMA, SYSFS, SYS, FORMS };

enum kind { INT, MASK, BLOB, OUT, HANDLE_OUT, READ, CHANGE, NEW, DESTROY, LIST, NLA };

#define ROW_ZERO_TAIL	2
#define ROW_FD		4
#define ROW_CONST	8
#define ROW_BYTES_OUT	16
#define NO_ATTR		0xffff
#define SYS_CONTEXT	1	/* of a command of SYS: a file of uverbs with a context */
#define FOLDER_MADE	3	/* numbers of commands of SYSFS; below: access mode of open() */
#define FOLDER_END	4
#define DRIVER_IN	0x1000	/* attributes of the driver's part */
#define DRIVER_OUT	0x1001
#define TAIL		0x1002	/* not an attribute: bytes behind a request by write() */

/* Types of objects: those of the user verbs API, and these. */
#define TYPE_COMP_CHANNEL	2
#define TYPE_ASYNC_EVENT	16
#define TYPE_CM_ID		20
#define TYPE_GROUP		21
#define TYPE_AGENT		22
#define TYPE_NUMBER		23	/* and those behind it: what netlink calls objects */
#define TYPES			32

struct bytes {
	uint8_t *data;
	unsigned int len;
};

/* A value of a command. */
struct row {
	char name[32];
	enum kind kind;
	uint8_t flags;
	uint16_t attr, type, size, least;
	uint16_t at[3], len[3];		/* by form: place in the structure of WRITE, EXTENDED */
	uint64_t mask;
	bool good;			/* a good request has it */
	char means[32];			/* if another row has the value @meant, */
	uint64_t meant;			/* this row has a meaning */
	struct bytes *samples;		/* good values, the first one first */
	unsigned int num_samples;
};

/* A command in one of its forms. */
struct command {
	char name[NAME];
	enum form form;
	uint16_t object, method;
	uint32_t number;
	uint8_t flags;
	uint16_t request, response;
	uint16_t id_at, response_at;
	struct row *rows;
	unsigned int num_rows;
	bool wanted;			/* its interface is to be tested */
};

/* A module of the kernel, and the addresses of its code. */
struct module {
	char name[32];
	uint64_t base, size;
	unsigned int blocks;		/* traced places in it */
	struct seen {
		uint32_t programs;	/* that have executed it */
		uint32_t last;		/* number of the last one */
	} *seen;			/* for each byte */
	unsigned int covered;
};

extern struct command *commands;
extern unsigned int num_commands;
extern struct module modules[MODULES];
extern unsigned int num_modules;
extern const char *const form_names[FORMS], *const kind_names[];

void tables_read(const char *path, const char *only, bool removal, bool refusals);
int command_named(const char *form, const char *name);
int row_named(const struct command *cmd, const char *name, const char *kind);
int maker_of(unsigned int type, unsigned int choice);

/* ---- programs (text.c, grow.c) ---- */

enum how {
	SAMPLE, VALUE, WORD, BYTES, NTH, OTHER, DEAD, FOREIGN, RAW, ABSENT, GIVEN, TWICE, LEN,
	READONLY, EDGE, UNMAPPED, KERNEL, RACED, LATE, RESERVED,
	/* of the request itself */
	IN_WORDS, OUT_WORDS, NUMBER, OBJECT, METHOD, ATTRS, FLAGS, REPEAT, HOWS
};

#define REQUEST	0xff	/* instead of a row: the request itself */

struct twist {
	uint8_t row, how;
	uint64_t value;
};

struct call {
	uint16_t cmd;
	uint8_t thread, file, num_twists;
	struct twist twists[TWISTS];
};

/* Who executes an instruction of a module is delayed there. */
struct delay {
	uint8_t module;
	uint16_t usec;
	uint32_t offset;
};

struct prog {
	bool user;		/* without privileges */
	bool good;		/* none of its calls may be refused */
	bool refused;		/* its last call must be refused */
	unsigned int num, num_delays;
	struct call calls[CALLS];
	struct delay delays[DELAYS];
};

size_t prog_text(const struct prog *prog, char *to, size_t room);
bool prog_read(struct prog *prog, char **from, unsigned int *unknown);
void prog_grow(struct prog *prog);
bool prog_walk(struct prog *prog, unsigned int number);
bool prog_races(const struct prog *prog);
void prog_mutate(struct prog *prog, const struct prog *other);

/* ---- chance (chance.c) ---- */

void chance_seed(uint64_t seed);
uint64_t chance(void);
uint64_t chance_number(void);
static inline unsigned int chance_of(unsigned int n) { return chance() % n; }

/* ---- what the kernel executed (cover.c) ---- */

bool cover_open(void);
bool cover_works(void);
void cover_end(void);
void cover_thread(unsigned int slot, bool on);
unsigned int cover_collect(void);
unsigned int cover_edges(void);
void cover_write(const char *path);
bool cover_rare(struct delay *delay);

/* ---- delays (delays.c) ---- */

bool delays_setup(void);
void delays_end(void);
void delays_choose(struct prog *prog);
void delays_arm(const struct prog *prog);
unsigned int delays_armed(void);
void delays_clear(const struct prog *prog);

/* ---- a program runs (run.c) ---- */

void run_setup(const char *device, const char *umad);
bool run_prog(const struct prog *prog);

/* ---- removal and return of the device (removal.c) ---- */

enum removal_kind { REMOVAL_UNBIND, REMOVAL_RESET, REMOVAL_RESCAN, REMOVAL_FATAL, REMOVALS };

bool removal_setup(void);
bool removal_over(double seconds);
int removal_ask(enum removal_kind kind, bool wait);
void device_folder(const char *class, char *path, size_t room);
bool device_entry(const char *class, const char *prefix, char *name, size_t room);
extern const char *device_pci;
extern bool removal;

/* ---- messages of netlink (message.c) ---- */

struct message {
	struct nlmsghdr head;
	uint8_t attrs[256];
};

struct message message_begin(unsigned int type, unsigned int head);
void message_put(struct message *message, unsigned int type, const void *data, unsigned int len);
void message_put_text(struct message *message, unsigned int type, const char *text);
unsigned int message_nest(struct message *message, unsigned int type);
void message_ends(struct message *message, unsigned int at);
int message_ask(const struct message *message, int protocol);

/* ---- a device that is a link on a net device (link.c) ---- */

void link_setup(char *what);
uint32_t link_driver(void);
int link_end(uint32_t index);
int link_make(void);
bool link_ends(const void *data, size_t len);
extern const char *device_link;

/* ---- faults of the device (faults.c) ---- */

void faults_setup(const char *adapter_name);
int fault_make(uint64_t value);
int fault_fatal(void);
int faults_clear(void);

/* ---- what is left of a program (left.c) ---- */

void left_setup(void);
bool left_behind(double seconds);
int refuse(uint64_t value);
extern bool refusals;

/* ---- one call (request.c, others.c, files.c, sys.c on maps.c) ---- */

#define CALL_FORKS	-1	/* instead of an errno: the caller forks */

int request_run(const struct call *call, const struct command *cmd, unsigned int thread);
int others_run(const struct call *call, const struct command *cmd, unsigned int thread);
int files_run(const struct call *call, const struct command *cmd, unsigned int thread);
void files_clean(void);
int sys_run(const struct call *call, const struct command *cmd, unsigned int thread);
int map_pages(int fd, uint64_t value);
int map_many(int fd, uint64_t value);
int unmap(uint64_t value);
int touch(uint64_t value);

/* ---- the interface of IPoIB (net.c) ---- */

bool net_name(char *name, size_t room);
int net_run(uint64_t value);
void net_clean(void);

/* ---- parts of a call (call.c) ---- */

const struct twist *twist_of(const struct call *call, unsigned int row, enum how how);
bool twisted(const struct call *call, unsigned int row);

/* The bytes of a row, twisted; returns how many. */
unsigned int row_bytes(const struct call *call, unsigned int number, uint8_t *to,
		       unsigned int room);
uint64_t row_handle(const struct call *call, unsigned int number);
uint64_t row_place(const struct call *call, unsigned int row, unsigned int thread,
		   const void *data, unsigned int len);

/* ---- files and objects (objects.c) ---- */

enum file_kind { FILE_UVERBS, FILE_UMAD, FILE_UCMA, FILE_SYSFS, FILE_KINDS };

extern int files[FILE_KINDS][FILES];

void objects_reset(void);
void object_made(unsigned int file, unsigned int type, uint32_t handle);
void object_gone(unsigned int file, unsigned int type, uint32_t handle);
uint32_t object_live(unsigned int file, unsigned int type, unsigned int nth);
uint32_t object_dead(unsigned int file, unsigned int type, unsigned int nth);

/* ---- memory (memory.c) ---- */

/* Memory that all processes of a program, and the fuzzer, share. */
struct shared {
	unsigned int calls, good;	/* made, and answered with success */
	unsigned int done;		/* threads that have ended */
	uint32_t first_done;		/* calls of the first thread that have ended */
	uint32_t asked, removed;	/* number of removals requested, and complete */
	uint32_t kind;			/* of the one requested last */
	uint32_t faulty;		/* the device may have faults */
	uint32_t refuses;		/* it may have refused to destroy something */
	uint32_t last_good;		/* the last call of the program was not refused */
	uint32_t device_index;		/* netlink's number of the device */
	uint32_t folders;		/* a program has made one in configfs */
	uint32_t nets;			/* one has changed the interface of IPoIB */
	char paths[FILE_KINDS][64];	/* of its files */
	struct {
		unsigned int calls, good;
		int last;		/* errno of the last that was refused */
	} of[COMMANDS];
};

extern struct shared *shared;

#define RINGS		0x100000000000ULL	/* for rings of objects */
#define RING_PAGES	256

void memory_setup(void);
void memory_begin(unsigned int thread);
uint64_t memory_put(unsigned int thread, enum how where, uint64_t value, const void *data,
		    unsigned int len);
void memory_race(unsigned int rounds);

/* ---- pages that come late (late.c) ---- */

void late_setup(const unsigned int *calls_made);
void late_begin(unsigned int thread);
uint64_t late_put(unsigned int thread, uint64_t value, const void *data, unsigned int len);

/* ---- groups and namespaces (around.c) ---- */

void around_setup(void);
int enter_group(uint64_t value);
int enter_namespace(uint64_t value);

#endif /* FUZZ_H */
