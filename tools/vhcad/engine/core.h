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
/* The same in time: what takes longer is charged to the adapter beyond its turns, up to a bound. */
#define SLICE_NS	20000u
#define DEBT_MAX	(16 * SLICE_NS)
/* Entries of the loops of a slice between two looks at the time. */
#define LOOK_EVERY	8u
/* An entry of a list of pieces costs as much as so many bytes that are moved, */
#define PIECE_COST	64u
/* and when a run of packets has come to so many, those behind have to come again. */
#define RUN_PIECES	(SLICE_BYTES / PIECE_COST)
/* A packet has fewer, those without bytes included, or its memory is not there. */
#define MAX_PIECES	(2 * WIRE_MAX_MTU)
/* Work between two looks at the doorbells. */
#define PASS_COMMANDS	8u
#define PASS_PACKETS	64u
#define PASS_TIMERS	64u
/* Words of doorbells that are looked at, and rings that are told, of one device. */
#define PASS_DOORBELLS	256u
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
	u64 mark;			/* up to when time is charged */
	u32 looks;			/* at whether a slice has taken too long */
	u32 pieces;			/* of lists, gone through for one side of a run */
	u32 all_pieces;			/* and before, in this slice; they are to be charged */

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

	const struct vqp *why_qp;	/* whose request was refused last, */
	u8 why;				/* and enum vhca_why */

	u8 scraps[WIRE_MAX_MTU];	/* a packet's bytes whose pieces are too many */
};

/** engine_now - the time, exactly */
static inline u64 engine_now(struct engine *e)
{
	return e->clock.now(e->clock.arg);
}

/* cost.c */
/** cost_spent - for clocks that are real, see struct engine_clock */
u64 cost_spent(void *arg);

/** cost_begin - what has taken time up to now is nobody's */
static inline void cost_begin(struct engine *e)
{
	if (e->clock.spent)
		e->mark = e->clock.spent(e->clock.arg);
}

/** cost_add - a device has caused what was done since, and @free_ns of it is its right */
void cost_add(struct vhca_dev *dev, u64 free_ns);

/** cost_over - has what is being done taken longer than a slice may? */
static inline bool cost_over(const struct engine *e)
{
	return e->clock.spent && e->clock.spent(e->clock.arg) - e->mark > SLICE_NS;
}

/** cost_late - the same for loops that come by often: it is not asked each time */
static inline bool cost_late(struct engine *e)
{
	return !(++e->looks % LOOK_EVERY) && cost_over(e);
}

/** pieces_begin - the sender's, or the receiver's, lists are about to be gone through */
static inline void pieces_begin(struct engine *e)
{
	e->all_pieces += e->pieces;
	e->pieces = 0;
}

/**
 * pieces_enough - so many were gone through for a run that the rest of it has to wait
 * @e: engine
 * @run: packets that are being placed
 * @done: bytes that are; at least one packet always is
 */
static inline bool pieces_enough(const struct engine *e, const struct run *run, u32 done)
{
	return e->pieces > RUN_PIECES && run->npkts > 1 && done >= run->mtu;
}

/** cost_pieces - pieces of lists that were gone through use up bytes of the slice */
static inline void cost_pieces(struct engine *e, u32 *bytes)
{
	u64 n = e->pieces + e->all_pieces;

	if (!n)
		return;
	*bytes -= MIN((u64)*bytes, n * PIECE_COST);
	e->pieces = 0;
	e->all_pieces = 0;
}

/* why.c */
/** why - remember why something of a QP is refused; returns the status */
int why(const struct vqp *qp, enum vhca_why number, int status);
/** why_failed - enum vhca_why for a completion with an error */
u8 why_failed(const struct vqp *qp, u8 status, bool recv);

/* doorbell.c */
/** doorbell_poll - look at kicks and hot doorbell areas; true if news were found, or may be left */
bool doorbell_poll(struct vhca_dev *dev);
/** doorbell_arm - arm hot areas; true if news came at the last moment, or some are left */
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

/* dev/port.c */
/** vport_changed - a port's addresses have changed: see struct port_ops */
void vport_changed(struct fab_port *fab, u32 what);

#endif /* VHCAD_CORE_H */
