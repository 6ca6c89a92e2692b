/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The engine's inside, for engine/ and dev/.
 */
#ifndef VHCAD_CORE_H
#define VHCAD_CORE_H

#include <pthread.h>

#include "dev/dev.h"
#include "engine/engine.h"
#include "engine/wqe.h"

/* A slice: what one QP may do before the next one's turn. */
#define SLICE_BYTES	(64u << 10)
#define SLICE_WQES	32u
/* Bytes that a slice has moved, behind which whoever waits for them is told at once. */
#define TELL_BYTES	(32u << 10)
/* Work between two looks at the doorbells. */
#define PASS_COMMANDS	8u
#define PASS_PACKETS	64u
/* Passes without news after which a doorbell area is armed again. */
#define UAR_QUIET_PASSES	64u

struct engine {
	struct engine_clock clock;
	struct fabric *fabric;
	u64 now;			/* time of the current pass */
	struct timers timers;
	struct link devs;
	struct link ready;		/* devices with QPs that have work */
	u16 slices;			/* that QPs have had */
	struct vhca_dev *turn;		/* one that is not among them: it is working, or was last */
	struct link no_room;		/* ports with QPs that wait for room in the fabric */
	struct link cq_news;		/* CQs with entries that nobody was told of yet */

	pthread_mutex_t run;		/* held while the engine works */
	pthread_mutex_t gate;		/* who wants @run next */
	u32 waiters;			/* threads in engine_lock(); atomic */
	int wakefd;
	u32 asleep;			/* the thread is in, or about to enter, ppoll; atomic */
	bool stop;			/* atomic */
	u64 spin_ns;
	u64 help_ns;
	u64 nap_until;			/* when the sleeping thread wakes by itself */

	/* The descriptors being worked on; every slice loads its own. */
	struct send_wqe tx_wqe;
	struct send_wqe rd_wqe;
	struct recv_wqe rx_wqe;

	u8 scraps[WIRE_MAX_MTU];	/* a packet's bytes whose pieces are too many */
};

/** engine_now - the time, exactly */
static inline u64 engine_now(struct engine *e)
{
	return e->clock.now(e->clock.arg);
}

/* doorbell.c */
/** doorbell_poll - look at kicks and hot doorbell areas; true if news were found */
bool doorbell_poll(struct vhca_dev *dev);
/** doorbell_arm - arm all hot areas; true if news came at the last moment */
bool doorbell_arm(struct vhca_dev *dev);

/* sched.c */
/** sched_ready - a QP has work */
void sched_ready(struct vqp *qp);
/** sched_drop - forget a QP */
void sched_drop(struct vqp *qp);
/** sched_wait_room - a QP has work as soon as the fabric takes packets again */
void sched_wait_room(struct vqp *qp);
/** sched_run - run about a slice's worth of turns; true if any ran */
bool sched_run(struct engine *e);
/** sched_waiting - is there a QP that has work? */
bool sched_waiting(const struct engine *e);
/** sched_forget - a device without objects goes */
void sched_forget(struct vhca_dev *dev);
/** sched_room - wake QPs that waited for room where there is some; true if there was */
bool sched_room(struct engine *e);

/* soon.c */
/** soon_turn - a QP begins its slice: who comes behind it? */
void soon_turn(struct vqp *qp);
/** soon_arrives - something is about to be sent to this QP */
void soon_arrives(const struct vhca_dev *dev, u32 qpn);

/* rx.c */
extern const struct fab_port_ops vport_ops;

#endif /* VHCAD_CORE_H */
