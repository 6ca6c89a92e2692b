/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The connection manager for programs: /dev/infiniband/rdma_cm, whose open files have ids, and
 * events of these ids.
 *
 * Locks, from the outside in: a file's deliver mutex, an id's lock, the connection manager's lock
 * of the id's handler, an id's room_lock, a file's lock.  What the connection manager calls takes
 * the last two alone, under which nothing sleeps.  User memory is touched under none but the
 * deliver mutex, for which only requests of the same file wait: a program that makes its own
 * request wait does not hold up a device's removal.
 */
#ifndef CORE_UCMA_H
#define CORE_UCMA_H

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/rdma_cm.h>
#include <rdma/rdma_cm_ib.h>
#include <rdma/rdma_ext_cm.h>
#include <rdma/rdma_reject.h>
#include <rdma/rdma_user_cm.h>

/**
 * struct ucma_file - an open file
 * @deliver: held while a reader gets an event, and while events of its ids are taken away
 * @lock: protects the members below, the ids' and events' entries in them, and the ids' @events
 * @events: events to be read, the oldest first
 * @ids: ids that the program knows
 * @lost: events that came beyond those that were promised, when there was no memory
 * @wait: readers
 * @rejects: why requests were refused
 */
struct ucma_file {
	struct mutex deliver;
	spinlock_t lock;
	struct list_head events;
	struct list_head ids;
	u64 lost;
	wait_queue_head_t wait;
	struct rdma_reject_log rejects;
};

/**
 * struct ucma_id - an id
 * @ref: requests that use it, and its place in the table
 * @rcu: for look-ups
 * @number: by which the program names it
 * @lock: protects the members up to @room_lock; held over calls of the connection manager for @cm
 * @cm: the connection manager's id; NULL when the device is removed or the id is being destroyed
 * @known: the program may name it
 * @entry: in the file's ids (under the file's lock)
 * @groups: multicast groups that it has joined
 * @removal: destroys @cm when the device is removed
 * @room_lock: protects the members below
 * @file: its file; changed under @lock, too
 * @room: events that are there for what is promised, and for what nobody asks for
 * @unasked: those of the latter, in one piece of memory; constant
 * @uid: the program's name for it in events; changed under @lock and the handler's lock
 * @named: the program has said @uid: not so for a connection request that was not accepted
 * @unread: bits of types of events, by their numbers, of which one is unread and tells as much as
 *	several would
 * @backlog: connection requests that may be unread
 * @requests: connection requests that are unread
 * @reported: events that were read (under the file's lock)
 * @events: its unread ones (under the file's lock)
 */
struct ucma_id {
	struct kref ref;
	struct rcu_head rcu;
	u32 number;
	struct mutex lock;
	struct rdma_cm_id *cm;
	bool known;
	struct list_head entry;
	struct list_head groups;
	struct work_struct removal;
	spinlock_t room_lock;
	struct ucma_file *file;
	struct list_head room;
	struct ucma_event *unasked;
	u64 uid;
	bool named;
	u32 unread;
	u32 backlog;
	u32 requests;
	u32 reported;
	struct list_head events;
};

/**
 * struct ucma_group - a multicast group that an id has joined
 * @entry: in the id's groups
 * @id: the id
 * @number: by which the program names it
 * @uid: the program's name for it in events
 * @reported: its events that were read (under the file's lock)
 * @told: its events that have come (under the id's room_lock)
 * @addr: the group's address
 */
struct ucma_group {
	struct list_head entry;
	struct ucma_id *id;
	u32 number;
	u64 uid;
	u32 reported;
	u32 told;
	struct sockaddr_storage addr;
};

/* Whom an event's room is for: none takes that of another kind. */
enum ucma_room {
	UCMA_UNPROMISED,	/* it was made when the event came */
	UCMA_ANSWER,		/* the outcome of a request */
	UCMA_OF_GROUP,
	UCMA_UNASKED,		/* from here on those that nobody asks for, one for each */
	UCMA_ADDR_CHANGE = UCMA_UNASKED,
	UCMA_UNREACHABLE,
	UCMA_DISCONNECTED,
	UCMA_TIMEWAIT_EXIT,
	UCMA_DEVICE_REMOVAL,
	UCMA_ROOMS,
};

/**
 * struct ucma_event - an event, or room for one
 * @entry: in the file's events, or in the id's room
 * @of_id: in the id's events
 * @id: the id
 * @room: what its room is for
 * @request: for a connection request, the new id, which the program knows once it has read this
 * @group: the multicast group it is about, or NULL
 * @resp: the response that the program reads
 */
struct ucma_event {
	struct list_head entry;
	struct list_head of_id;
	struct ucma_id *id;
	enum ucma_room room;
	struct ucma_id *request;
	struct ucma_group *group;
	struct rdma_ucm_event_resp resp;
};

/* Any request. */
union ucma_request {
	struct rdma_ucm_create_id create_id;
	struct rdma_ucm_destroy_id destroy_id;
	struct rdma_ucm_bind_ip bind_ip;
	struct rdma_ucm_bind bind;
	struct rdma_ucm_resolve_ip resolve_ip;
	struct rdma_ucm_resolve_addr resolve_addr;
	struct rdma_ucm_resolve_route resolve_route;
	struct rdma_ucm_query query;
	struct rdma_ucm_connect connect;
	struct rdma_ucm_listen listen;
	struct rdma_ucm_accept accept;
	struct rdma_ucm_reject reject;
	struct rdma_ucm_disconnect disconnect;
	struct rdma_ucm_init_qp_attr init_qp_attr;
	struct rdma_ucm_get_event get_event;
	struct rdma_ucm_set_option set_option;
	struct rdma_ucm_notify notify;
	struct rdma_ucm_join_ip_mcast join_ip_mcast;
	struct rdma_ucm_join_mcast join_mcast;
	struct rdma_ucm_migrate_id migrate_id;
};

/* Paths that are described at most. */
#define UCMA_PATHS	4

/* Any response that is not written by the command itself. */
union ucma_response {
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_query_addr_resp addr;
	struct {
		u32 num_paths;
		u32 reserved;
		struct ib_path_rec_data data[UCMA_PATHS];
	} paths;
	struct ib_uverbs_qp_attr qp_attr;
};

/* Any value of an option. */
union ucma_optval {
	u8 byte;
	int number;
	struct ib_path_rec_data path;
};

/**
 * struct ucma_call - a request that is served
 * @filp: the file
 * @file: the file, too
 * @in: bytes of @req that the program gave; the others are zero
 * @out: bytes there is room for at @response
 * @response: where the response goes
 * @id: the id it names, locked, for commands with UCMA_ID
 * @req: the request
 * @optval: the value of the option that it sets
 * @resp: the response
 * @resp_len: bytes of @resp that are written, as far as there is room
 */
struct ucma_call {
	struct file *filp;
	struct ucma_file *file;
	u16 in;
	u16 out;
	void __user *response;
	struct ucma_id *id;
	union ucma_request req;
	union ucma_optval optval;
	union ucma_response resp;
	size_t resp_len;
};

/* The command names an id, which is locked while it runs. */
#define UCMA_ID		BIT(0)
/* And that has a device. */
#define UCMA_DEVICE	BIT(1)
/**
 * struct ucma_command - a command
 * @run: serves a request; 0 or a negative errno
 * @check: looks at the request before the id is looked up; may be NULL
 * @in: bytes of the request
 * @in_least: bytes that the oldest programs give
 * @out_least: room that a response needs
 * @id_at: where the number of the id stands in the request
 * @response_at: where the address of the response stands, if there is one
 * @flags: UCMA_ID and others
 */
struct ucma_command {
	int (*run)(struct ucma_call *call);
	int (*check)(struct ucma_call *call);
	u16 in;
	u16 in_least;
	u16 out_least;
	u16 id_at;
	u16 response_at;
	u16 flags;
};

/*
 * The connection manager, as far as it is used: each member is the function of rdma/rdma_cm.h,
 * rdma/rdma_cm_ib.h or rdma/rdma_ext_cm.h that has "rdma_" before its name.  Unit tests put another
 * one here.
 */
struct ucma_cm_calls {
	struct rdma_cm_id *(*create_user_id)(rdma_cm_event_handler handler, void *context,
					     enum rdma_ucm_port_space ps, enum ib_qp_type qp_type);
	void (*destroy_id)(struct rdma_cm_id *id);
	int (*bind_addr)(struct rdma_cm_id *id, struct sockaddr *addr);
	int (*resolve_addr)(struct rdma_cm_id *id, struct sockaddr *src,
			    const struct sockaddr *dst, unsigned long timeout_ms);
	int (*resolve_route)(struct rdma_cm_id *id, unsigned long timeout_ms);
	int (*connect_ece)(struct rdma_cm_id *id, struct rdma_conn_param *param,
			   struct rdma_ucm_ece *ece);
	int (*listen)(struct rdma_cm_id *id, int backlog);
	int (*accept_ece)(struct rdma_cm_id *id, struct rdma_conn_param *param,
			  struct rdma_ucm_ece *ece);
	int (*reject)(struct rdma_cm_id *id, const void *data, u8 len, u8 reason);
	int (*disconnect)(struct rdma_cm_id *id);
	int (*init_qp_attr)(struct rdma_cm_id *id, struct ib_qp_attr *attr, int *mask);
	int (*notify)(struct rdma_cm_id *id, enum ib_event_type event);
	int (*join_multicast)(struct rdma_cm_id *id, struct sockaddr *addr, u8 join_state,
			      void *context);
	void (*leave_multicast_of)(struct rdma_cm_id *id, const void *context);
	void (*set_service_type)(struct rdma_cm_id *id, int tos);
	int (*set_reuseaddr)(struct rdma_cm_id *id, int reuse);
	int (*set_afonly)(struct rdma_cm_id *id, int afonly);
	int (*set_ack_timeout)(struct rdma_cm_id *id, u8 timeout);
	int (*set_ib_path)(struct rdma_cm_id *id, struct sa_path_rec *path);
	void (*read_gids)(struct rdma_cm_id *id, union ib_gid *sgid, union ib_gid *dgid);
	__be64 (*get_service_id)(struct rdma_cm_id *id, struct sockaddr *addr);
	void (*lock_handler)(struct rdma_cm_id *id);
	void (*unlock_handler)(struct rdma_cm_id *id);
};

/* How many events a command promises. */
#define UCMA_RESOLVE_EVENTS	1
/* An answer; and, of one that is to be accepted, that it came to nothing. */
#define UCMA_CONNECT_EVENTS	2
#define UCMA_ACCEPT_EVENTS	1
/* Events of a group: joined or not, and that it is lost. */
#define UCMA_JOIN_EVENTS	2

/**
 * ucma_reply() - give the program a response
 * @call: the request
 * @resp: the response
 * @size: its bytes, of which as many are written as there is room for
 *
 * Context: may sleep; under no lock but the deliver mutex.
 * Return: 0 or -EFAULT.
 */
static inline int ucma_reply(struct ucma_call *call, const void *resp, size_t size)
{
	if (copy_to_user(call->response, resp, min_t(size_t, size, call->out)))
		return rdma_refuse(-EFAULT, "the response cannot be written");
	return 0;
}

/* calls.c */
extern const struct ucma_cm_calls *ucma_cm;

/* file.c */
extern const struct file_operations ucma_fops;

/* commands.c */
int ucma_serve(struct file *filp, const char __user *buf, size_t count);

/* handler.c */
int ucma_handle_event(struct rdma_cm_id *cm, struct rdma_cm_event *event);

/* id.c */
void ucma_ids_exit(void);
struct ucma_id *ucma_id_alloc(void);
void ucma_id_discard(struct ucma_id *id);
void ucma_id_publish(struct ucma_id *id);
struct ucma_id *ucma_id_lock(struct ucma_file *file, u32 number);
struct ucma_id *ucma_id_claim(struct ucma_file *file, u32 number);
void ucma_id_unlock(struct ucma_id *id);
u32 ucma_id_destroy(struct ucma_id *id);
int ucma_id_move(u32 number, struct ucma_file *from, struct ucma_file *to, u32 *reported);

/* group.c */
void ucma_groups_exit(void);
struct ucma_group *ucma_group_alloc(struct ucma_id *id);
void ucma_group_free(struct ucma_group *group);
void ucma_group_publish(struct ucma_group *group);
int ucma_group_owner(struct ucma_file *file, u32 number, u32 *id_number);

/* events.c */
int ucma_reserve(struct ucma_id *id, enum ucma_room room, unsigned int events);
void ucma_unreserve(struct ucma_id *id, enum ucma_room room, unsigned int events);
struct ucma_event *ucma_event_alloc(void);
void ucma_event_free(struct ucma_event *event);
void ucma_tell(struct ucma_id *id, struct rdma_cm_id *cm, const struct rdma_cm_event *told);
int ucma_tell_request(struct ucma_id *listener, struct ucma_event *event, struct rdma_cm_id *cm,
		      const struct rdma_cm_event *told);
void ucma_event_done(struct ucma_event *event);
void ucma_events_take(struct ucma_id *id, const struct ucma_group *group,
		      struct list_head *taken);
u32 ucma_events_move(struct ucma_id *id, struct ucma_file *to);

/* cmd_*.c */
int ucma_create_id(struct ucma_call *call);
int ucma_destroy_id(struct ucma_call *call);
int ucma_migrate_id(struct ucma_call *call);
int ucma_get_event(struct ucma_call *call);
int ucma_check_bind_ip(struct ucma_call *call);
int ucma_bind_ip(struct ucma_call *call);
int ucma_check_bind(struct ucma_call *call);
int ucma_bind(struct ucma_call *call);
int ucma_check_resolve_ip(struct ucma_call *call);
int ucma_resolve_ip(struct ucma_call *call);
int ucma_check_resolve_addr(struct ucma_call *call);
int ucma_resolve_addr(struct ucma_call *call);
int ucma_resolve_route(struct ucma_call *call);
int ucma_check_connect(struct ucma_call *call);
int ucma_connect(struct ucma_call *call);
int ucma_listen(struct ucma_call *call);
int ucma_accept(struct ucma_call *call);
int ucma_check_reject(struct ucma_call *call);
int ucma_reject(struct ucma_call *call);
int ucma_disconnect(struct ucma_call *call);
int ucma_check_init_qp_attr(struct ucma_call *call);
int ucma_init_qp_attr(struct ucma_call *call);
int ucma_notify(struct ucma_call *call);
int ucma_query(struct ucma_call *call);
int ucma_query_route(struct ucma_call *call);
int ucma_check_set_option(struct ucma_call *call);
int ucma_set_option(struct ucma_call *call);
int ucma_join_ip_mcast(struct ucma_call *call);
int ucma_join_mcast(struct ucma_call *call);
int ucma_leave_mcast(struct ucma_call *call);
extern unsigned int ucma_max_backlog;

#endif /* CORE_UCMA_H */
