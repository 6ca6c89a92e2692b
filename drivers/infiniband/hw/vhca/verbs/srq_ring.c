// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rings of the kernel's shared receive queues.
 *
 * Receives are posted and taken by the device in order, but QPs complete the receives that they
 * took in any order, and the entry of a receive is free as soon as it is taken. Therefore the
 * driver's record of a receive (a note) is not tied to an entry of the ring; the entry has the
 * note's number, which the device returns in the completion. A receive counts as posted until its
 * completion is polled.
 *
 * While the ring is being replaced every receive is written to both rings: when the driver learns
 * which one the device uses, the device may have taken receives from it already.
 */
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "qp.h"
#include "srq.h"

#define NOTE_NONE	U32_MAX

/* The number of a note: its index, and its generation. */
static u64 note_id(const struct vhca_srq_kernel *k, u32 index)
{
	return (u64)k->notes[index].gen << 32 | index;
}

static void note_free(struct vhca_srq_kernel *k, u32 index)
{
	k->notes[index].busy = false;
	k->notes[index].next = k->free;
	k->free = index;
}

/* Replaces the array of notes by a longer one, and adds the new notes; returns the old array. */
static struct vhca_srq_note *notes_replace(struct vhca_srq_kernel *k, struct vhca_srq_note *notes,
					   u32 n)
{
	struct vhca_srq_note *former = k->notes;

	if (former)
		memcpy(notes, former, k->nnotes * sizeof(*notes));
	k->notes = notes;
	for (u32 i = n; i-- > k->nnotes;)
		note_free(k, i);
	k->nnotes = n;
	return former;
}

static struct vhca_srq_note *notes_alloc(u32 n)
{
	return kvcalloc(n, sizeof(struct vhca_srq_note), GFP_KERNEL);
}

/**
 * vhca_srq_ring_make() - allocate the ring and the notes
 * @k: filled in
 * @dev: device for DMA
 * @db: records of the queue
 * @log: log2 of the receives
 * @max_sge: scatter entries of a receive
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM.
 */
int vhca_srq_ring_make(struct vhca_srq_kernel *k, struct device *dev, const struct vhca_db *db,
		       u8 log, u32 max_sge)
{
	struct vhca_srq_note *notes;
	int err;

	spin_lock_init(&k->lock);
	k->db = db;
	k->max_sge = max_sge;
	k->free = NOTE_NONE;
	notes = notes_alloc(BIT(log));
	if (!notes)
		return -ENOMEM;
	err = vhca_ring_alloc(&k->ring, dev, log, order_base_2(VHCA_RWQE_SIZE(max(max_sge, 1U))));
	if (err) {
		kvfree(notes);
		return err;
	}
	notes_replace(k, notes, BIT(log));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_srq_ring_make);

/**
 * vhca_srq_ring_free() - undo of vhca_srq_ring_make()
 * @k: the ring, which the device does not use any more
 *
 * Context: may sleep.
 */
void vhca_srq_ring_free(struct vhca_srq_kernel *k)
{
	kvfree(k->notes);
	vhca_ring_free(&k->ring);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_srq_ring_free);

/* Reads the number of receives that the device has taken; a value that is invalid is ignored. */
static void look_taken(struct vhca_srq_kernel *k)
{
	u64 taken = vhca_ring_widen(k->tail, le64_to_cpu(READ_ONCE(*vhca_db_rec(k->db, 1))));

	/* The device read the entries before it stored the count; they are overwritten later. */
	virt_mb();
	if (taken <= k->head)
		k->tail = taken;
}

/* Maximum number of posted receives; while the ring is being replaced, that of the smaller ring. */
static u64 capacity(const struct vhca_srq_kernel *k)
{
	u64 n = vhca_ring_entries(&k->ring);

	return k->other ? min(n, vhca_ring_entries(k->other)) : n;
}

static bool has_room(struct vhca_srq_kernel *k)
{
	u64 max = capacity(k);

	if (k->free == NOTE_NONE || k->busy >= max)
		return false;
	if (k->head - k->tail >= max)
		look_taken(k);
	return k->head - k->tail < max;
}

static int put_recv(struct vhca_srq_kernel *k, const struct ib_recv_wr *wr)
{
	struct vhca_srq_note *note;
	u32 index;

	if (wr->num_sge < 0 || wr->num_sge > k->max_sge)
		return -EINVAL;
	if (!has_room(k))
		return -ENOMEM;
	index = k->free;
	note = &k->notes[index];
	k->free = note->next;
	k->busy++;
	note->busy = true;
	note->gen++;
	note->wr_id = wr->wr_id;
	note->room = vhca_write_rwqe(vhca_ring_at(&k->ring, k->head), wr, note_id(k, index),
				     k->head);
	if (k->other)
		vhca_write_rwqe(vhca_ring_at(k->other, k->head), wr, note_id(k, index), k->head);
	k->head++;
	return 0;
}

/**
 * vhca_srq_ring_post() - post receives
 * @k: the ring
 * @wr: list of requests
 * @bad_wr: the first request that was not posted, on error; those before it were
 *
 * Context: any.
 * Return: 0, -EINVAL for too long a scatter list, -ENOMEM when the queue is full.
 */
int vhca_srq_ring_post(struct vhca_srq_kernel *k, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&k->lock, flags);
	for (; wr; wr = wr->next) {
		err = put_recv(k, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	vhca_db_store(k->db, 0, k->head);
	spin_unlock_irqrestore(&k->lock, flags);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_srq_ring_post);

/**
 * vhca_srq_ring_finish() - find the receive of a completion, and free its note
 * @k: the ring
 * @id: number of the note, from the completion
 * @len: received bytes, from the completion
 * @wr_id: set to the consumer's wr_id
 *
 * Context: any.
 * Return: false if no such receive was posted, or it has not room for @len bytes.
 */
bool vhca_srq_ring_finish(struct vhca_srq_kernel *k, u64 id, u32 len, u64 *wr_id)
{
	u32 index = lower_32_bits(id);
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&k->lock, flags);
	found = index < k->nnotes && k->notes[index].busy && note_id(k, index) == id &&
		len <= k->notes[index].room;
	if (found) {
		*wr_id = k->notes[index].wr_id;
		note_free(k, index);
		k->busy--;
	}
	spin_unlock_irqrestore(&k->lock, flags);
	return found;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_srq_ring_finish);

static void copy_entries(struct vhca_srq_kernel *k, const struct vhca_ring *to)
{
	for (u64 count = k->tail; count < k->head; count++)
		memcpy(vhca_ring_at(to, count), vhca_ring_at(&k->ring, count),
		       BIT(to->log_entry));
}

/**
 * vhca_srq_ring_move_begin() - begin to replace the ring
 * @k: the ring; the caller serialises replacements
 * @to: new ring, zeroed, with entries of the same size as those of the current one
 *
 * Until the end of the replacement receives are posted to both rings.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if more receives are posted than fit; -ENOMEM.
 */
int vhca_srq_ring_move_begin(struct vhca_srq_kernel *k, struct vhca_ring *to)
{
	struct vhca_srq_note *notes = NULL;
	u32 n = vhca_ring_entries(to);
	bool fits;

	if (n > k->nnotes) {
		notes = notes_alloc(n);
		if (!notes)
			return -ENOMEM;
	}
	spin_lock_irq(&k->lock);
	look_taken(k);
	fits = k->head - k->tail <= n;
	if (fits) {
		copy_entries(k, to);
		if (notes)
			notes = notes_replace(k, notes, n);
		k->other = to;
	}
	spin_unlock_irq(&k->lock);
	kvfree(notes);
	return fits ? 0 : -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_srq_ring_move_begin);

/**
 * vhca_srq_ring_move_end() - finish replacing the ring
 * @k: the ring
 * @to: new ring; set to the ring that the device does not use (any more)
 * @moved: the device uses the new ring
 *
 * Context: may sleep.
 */
void vhca_srq_ring_move_end(struct vhca_srq_kernel *k, struct vhca_ring *to, bool moved)
{
	spin_lock_irq(&k->lock);
	if (moved)
		swap(k->ring, *to);
	k->other = NULL;
	spin_unlock_irq(&k->lock);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_srq_ring_move_end);
