// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Why a request failed, for the vendor_err of its completion.
 *
 * Most statuses have one reason.  Where there are several, the code that refuses stores the right
 * one here, and the completion that follows takes it.
 */
#include "qp/complete.h"
#include "qp/scratch.h"

int why(const struct vqp *qp, enum vhca_why number, int status)
{
	struct scratch *s = qp_scratch(qp);

	s->why_qp = qp;
	s->why = number;
	return status;
}

/* The usual reason for a status, of sends and of receives. */
static const u8 usual[][2] = {
	[VHCA_CS_LOC_LEN_ERR]		= { VHCA_WHY_ENTRY_LENGTH, VHCA_WHY_RECV_SHORT },
	[VHCA_CS_LOC_QP_OP_ERR]		= { VHCA_WHY_ENTRY_CHANGED, VHCA_WHY_RECV_ENTRY },
	[VHCA_CS_LOC_PROT_ERR]		= { VHCA_WHY_LOCAL_MEMORY, VHCA_WHY_LOCAL_MEMORY },
	[VHCA_CS_WR_FLUSH_ERR]		= { VHCA_WHY_FLUSHED, VHCA_WHY_FLUSHED },
	[VHCA_CS_MW_BIND_ERR]		= { VHCA_WHY_BIND, VHCA_WHY_BIND },
	[VHCA_CS_BAD_RESP_ERR]		= { VHCA_WHY_ANSWER_LENGTH, VHCA_WHY_ANSWER_LENGTH },
	[VHCA_CS_LOC_ACCESS_ERR]	= { VHCA_WHY_PEER_ACCESS, VHCA_WHY_PEER_ACCESS },
	[VHCA_CS_REM_INV_REQ_ERR]	= { VHCA_WHY_NAK_REQUEST, VHCA_WHY_PEER_REQUEST },
	[VHCA_CS_REM_ACCESS_ERR]	= { VHCA_WHY_NAK_ACCESS, VHCA_WHY_PEER_ACCESS },
	[VHCA_CS_REM_OP_ERR]		= { VHCA_WHY_NAK_OPERATION, VHCA_WHY_NAK_OPERATION },
	[VHCA_CS_RETRY_EXC_ERR]		= { VHCA_WHY_RETRIES, VHCA_WHY_RETRIES },
	[VHCA_CS_RNR_RETRY_EXC_ERR]	= { VHCA_WHY_RNR_RETRIES, VHCA_WHY_RNR_RETRIES },
};

u8 why_failed(const struct vqp *qp, u8 status, bool recv)
{
	struct scratch *s = qp_scratch(qp);
	u8 number = status < ARRAY_SIZE(usual) ? usual[status][recv] : VHCA_WHY_NONE;

	if (s->why_qp == qp && !recv && status != VHCA_CS_WR_FLUSH_ERR)
		number = s->why;
	if (s->why_qp == qp)
		s->why_qp = NULL;
	return number;
}
