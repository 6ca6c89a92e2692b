// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device of test_uverbs.h: contexts, PDs, CQs, QPs, SRQs, address handles and memory.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>

#include "test_uverbs.h"

/**
 * fake_made() - account for a driver call that makes an object
 * @fake: the device
 * @count: number of such objects
 * @udata: the driver's part of the request, or NULL
 *
 * Return: the result that the test has set for such calls.
 */
int fake_made(struct fake_device *fake, int *count, struct ib_udata *udata)
{
	fake->udata_in = udata ? udata->inlen : 0;
	if (!fake->answer)
		(*count)++;
	return fake->answer;
}

/**
 * fake_gone() - account for a driver call that destroys an object
 * @fake: the device
 * @count: number of such objects
 *
 * Return: the result that the test has set for such calls.
 */
int fake_gone(struct fake_device *fake, int *count)
{
	if (!fake->destroy)
		(*count)--;
	return fake->destroy;
}

/* ---- device and port ---- */

static int fake_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	attr->max_pkeys = 1;
	return 0;
}

static int fake_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	return 0;
}

static int fake_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	return 0;
}

static int fake_query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	gid->global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	gid->global.interface_id = cpu_to_be64(port);
	return 0;
}

static int fake_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

/* ---- objects ---- */

static int fake_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(context->device);

	return fake_made(fake, &fake->made.contexts, udata);
}

static void fake_dealloc_ucontext(struct ib_ucontext *context)
{
	fake_of(context->device)->made.contexts--;
}

static void fake_disassociate(struct ib_ucontext *context)
{
}

/* Maps a page of the test in place of one of the device. */
static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(pd->device);

	return fake_made(fake, &fake->made.pds, udata);
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(pd->device);

	return fake_gone(fake, &fake->made.pds);
}

static void others_act(struct fake_device *fake)
{
	void (*meanwhile)(struct fake_device *fake) = fake->meanwhile;

	fake->meanwhile = NULL;
	if (meanwhile)
		meanwhile(fake);
}

static int fake_mmap(struct ib_ucontext *context, struct vm_area_struct *vma)
{
	struct fake_device *fake = fake_of(context->device);

	others_act(fake);
	return rdma_user_mmap_io(context, vma, page_to_pfn(fake->page), PAGE_SIZE,
				 vma->vm_page_prot, NULL);
}

static int fake_alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(xrcd->device);

	others_act(fake);
	return fake_made(fake, &fake->made.xrcds, udata);
}

static int fake_dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(xrcd->device);

	return fake_gone(fake, &fake->made.xrcds);
}

static int fake_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(ah->device);

	fake->ah_attr = *attr->ah_attr;
	return fake_made(fake, &fake->made.ahs, udata);
}

static int fake_destroy_ah(struct ib_ah *ah, u32 flags)
{
	struct fake_device *fake = fake_of(ah->device);

	return fake_gone(fake, &fake->made.ahs);
}

static int fake_create_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr,
			   struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(srq->device);

	fake->last_srq = srq;
	fake->srq_attr = attr->attr;
	if (attr->srq_type == IB_SRQT_XRC)
		srq->ext.xrc.srq_num = 0x321;
	attr->attr.max_wr = roundup_pow_of_two(attr->attr.max_wr);
	return fake_made(fake, &fake->made.srqs, udata);
}

static int fake_modify_srq(struct ib_srq *srq, struct ib_srq_attr *attr,
			   enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(srq->device);

	fake->srq_attr = *attr;
	fake->srq_mask = mask;
	fake->udata_in = udata->inlen;
	return fake->answer;
}

static int fake_query_srq(struct ib_srq *srq, struct ib_srq_attr *attr)
{
	struct fake_device *fake = fake_of(srq->device);

	*attr = fake->srq_attr;
	return fake->answer;
}

static int fake_destroy_srq(struct ib_srq *srq, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(srq->device);

	return fake_gone(fake, &fake->made.srqs);
}

static int fake_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	struct fake_device *fake = fake_of(cq->device);

	fake->last_cq = cq;
	cq->cqe = attr->cqe;
	return fake_made(fake, &fake->made.cqs, &attrs->driver_udata);
}

static int fake_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(cq->device);

	return fake_gone(fake, &fake->made.cqs);
}

static int fake_resize_cq(struct ib_cq *cq, int cqe, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(cq->device);

	fake->udata_in = udata->inlen;
	if (!fake->answer)
		cq->cqe = cqe;
	return fake->answer;
}

static int fake_modify_cq(struct ib_cq *cq, u16 count, u16 period)
{
	return fake_of(cq->device)->answer;
}

static int fake_poll_cq(struct ib_cq *cq, int room, struct ib_wc *wc)
{
	struct fake_device *fake = fake_of(cq->device);
	int i;

	if (fake->waiting)
		others_act(fake);
	for (i = 0; i < room && fake->waiting; i++, fake->waiting--)
		wc[i] = (struct ib_wc){
			.wr_id = fake->next_wc++, .qp = fake->last_qp, .port_num = 1,
			.byte_len = 100 + i, .opcode = IB_WC_RECV, .slid = 7,
		};
	return i ?: fake->poll;
}

static int fake_req_notify(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	fake_of(cq->device)->armed = flags;
	return 0;
}

static int fake_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(qp->device);

	fake->last_qp = qp;
	qp->qp_num = 0x100 + fake->made.qps;
	return fake_made(fake, &fake->made.qps, udata);
}

static int fake_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	return fake_of(qp->device)->answer;
}

static int fake_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_qp_init_attr *init)
{
	attr->qkey = 0x1234;
	init->cap.max_send_wr = 5;
	return fake_of(qp->device)->answer;
}

static int fake_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(qp->device);

	return fake_gone(fake, &fake->made.qps);
}

static int fake_attach(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	struct fake_device *fake = fake_of(qp->device);

	return fake_made(fake, &fake->made.groups, NULL);
}

static int fake_detach(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	struct fake_device *fake = fake_of(qp->device);

	return fake_gone(fake, &fake->made.groups);
}

/**
 * fake_new_mr() - make a memory region for a driver call
 * @fake: the device
 * @udata: the driver's part of the request, or NULL
 *
 * Return: the region, or an error pointer.
 */
struct ib_mr *fake_new_mr(struct fake_device *fake, struct ib_udata *udata)
{
	struct ib_mr *mr;
	int ret = fake_made(fake, &fake->made.mrs, udata);

	if (ret)
		return ERR_PTR(ret);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr) {
		fake->made.mrs--;
		return ERR_PTR(-ENOMEM);
	}
	mr->lkey = 0x1200 + fake->made.mrs;
	mr->rkey = 0x3400 + fake->made.mrs;
	return mr;
}

static struct ib_mr *fake_reg_mr(struct ib_pd *pd, u64 start, u64 length, u64 va, int access,
				 struct ib_udata *udata)
{
	return fake_new_mr(fake_of(pd->device), udata);
}

static struct ib_mr *fake_rereg_mr(struct ib_mr *mr, int flags, u64 start, u64 length, u64 va,
				   int access, struct ib_pd *pd, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(mr->device);

	if (fake->answer)
		return ERR_PTR(fake->answer);
	return fake->replaces ? fake_new_mr(fake, udata) : NULL;
}

static int fake_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(mr->device);
	int ret = fake_gone(fake, &fake->made.mrs);

	if (!ret)
		kfree(mr);
	return ret;
}

static int fake_alloc_mw(struct ib_mw *mw, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(mw->device);
	int ret = fake_made(fake, &fake->made.mws, udata);

	fake->mw_type = mw->type;
	mw->rkey = 0x5600 + fake->made.mws;
	return ret;
}

static int fake_dealloc_mw(struct ib_mw *mw)
{
	struct fake_device *fake = fake_of(mw->device);

	return fake_gone(fake, &fake->made.mws);
}

static int fake_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
			  struct ib_sge *list, u32 num, struct uverbs_attr_bundle *attrs)
{
	struct fake_device *fake = fake_of(pd->device);

	fake->posted = num;
	fake->wr[0].sge[0] = list[num - 1];
	return fake->answer;
}

/* ---- posting ---- */

static void note_sges(struct fake_wr *to, const struct ib_sge *list, int num)
{
	for (int i = 0; i < num && i < FAKE_SGES; i++)
		to->sge[i] = list[i];
}

static int fake_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad)
{
	struct fake_device *fake = fake_of(qp->device);

	fake->posts++;
	for (; wr; wr = wr->next) {
		struct fake_wr *to = &fake->wr[fake->posted];

		if (fake->posted == fake->take) {
			*bad = wr;
			return fake->answer;
		}
		to->wr = *wr;
		note_sges(to, wr->sg_list, wr->num_sge);
		if (qp->qp_type == IB_QPT_UD)
			to->ud = *ud_wr(wr);
		else if (wr->opcode == IB_WR_RDMA_WRITE || wr->opcode == IB_WR_RDMA_READ ||
			 wr->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
			to->rdma = *rdma_wr(wr);
		else if (wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
			 wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD)
			to->atomic = *atomic_wr(wr);
		fake->posted++;
	}
	return 0;
}

static int post_recvs(struct fake_device *fake, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	fake->posts++;
	for (; wr; wr = wr->next) {
		struct fake_wr *to = &fake->wr[fake->posted];

		if (fake->posted == fake->take) {
			*bad = wr;
			return fake->answer;
		}
		to->wr.wr_id = wr->wr_id;
		to->wr.num_sge = wr->num_sge;
		note_sges(to, wr->sg_list, wr->num_sge);
		fake->posted++;
	}
	return 0;
}

static int fake_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad)
{
	return post_recvs(fake_of(qp->device), wr, bad);
}

static int fake_post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *wr,
			      const struct ib_recv_wr **bad)
{
	return post_recvs(fake_of(srq->device), wr, bad);
}

static const struct ib_device_ops fake_ops = {
	.owner = THIS_MODULE,
	.uverbs_abi_ver = 1,
	.uverbs_no_driver_id_binding = 1,
	.query_device = fake_query_device,
	.get_port_immutable = fake_port_immutable,
	.query_port = fake_query_port,
	.query_gid = fake_query_gid,
	.query_pkey = fake_query_pkey,
	.alloc_ucontext = fake_alloc_ucontext,
	.dealloc_ucontext = fake_dealloc_ucontext,
	.disassociate_ucontext = fake_disassociate,
	.mmap = fake_mmap,
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	.create_ah = fake_create_ah,
	.create_user_ah = fake_create_ah,
	.destroy_ah = fake_destroy_ah,
	.alloc_xrcd = fake_alloc_xrcd,
	.dealloc_xrcd = fake_dealloc_xrcd,
	.create_srq = fake_create_srq,
	.modify_srq = fake_modify_srq,
	.query_srq = fake_query_srq,
	.destroy_srq = fake_destroy_srq,
	.create_cq = fake_create_cq,
	.destroy_cq = fake_destroy_cq,
	.resize_cq = fake_resize_cq,
	.modify_cq = fake_modify_cq,
	.poll_cq = fake_poll_cq,
	.req_notify_cq = fake_req_notify,
	.create_qp = fake_create_qp,
	.modify_qp = fake_modify_qp,
	.query_qp = fake_query_qp,
	.destroy_qp = fake_destroy_qp,
	.attach_mcast = fake_attach,
	.detach_mcast = fake_detach,
	.reg_user_mr = fake_reg_mr,
	.rereg_user_mr = fake_rereg_mr,
	.dereg_mr = fake_dereg_mr,
	.advise_mr = fake_advise_mr,
	.alloc_mw = fake_alloc_mw,
	.dealloc_mw = fake_dealloc_mw,
	.post_send = fake_post_send,
	.post_recv = fake_post_recv,
	.post_srq_recv = fake_post_srq_recv,
	.size_ib_ah = sizeof(struct ib_ah),
	.size_ib_cq = sizeof(struct ib_cq),
	.size_ib_mw = sizeof(struct ib_mw),
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_qp = sizeof(struct ib_qp),
	.size_ib_srq = sizeof(struct ib_srq),
	.size_ib_xrcd = sizeof(struct ib_xrcd),
	.size_ib_ucontext = sizeof(struct ib_ucontext),
};

/**
 * fake_device_alloc() - make a device with the calls of fake_ops; it is not registered
 *
 * Return: the device or NULL.
 */
struct fake_device *fake_device_alloc(void)
{
	struct fake_device *fake = ib_alloc_device(fake_device, ib);

	if (!fake)
		return NULL;
	fake->take = FAKE_WRS;
	fake->ib.node_type = RDMA_NODE_IB_CA;
	fake->ib.phys_port_cnt = 1;
	fake->ib.num_comp_vectors = 1;
	fake->ib.uverbs_cmd_mask = U64_MAX;
	ib_set_device_ops(&fake->ib, &fake_ops);
	return fake;
}
