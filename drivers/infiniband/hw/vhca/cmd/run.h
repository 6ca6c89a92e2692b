/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Running commands, for the files that build their requests. */
#ifndef VHCA_RUN_H
#define VHCA_RUN_H

#include "../hw/hw.h"

int vhca_run(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len, dma_addr_t out,
	     u32 out_len, void *resp, size_t resp_len);
void *vhca_run_out(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len, u32 out_len,
		   void *resp, size_t resp_len);
int vhca_run_create(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len, u32 *handle);
int vhca_run_destroy(struct vhca_hw *hw, u8 opcode, u32 handle);

/* Run a command without output; @req points to the structure of its request. */
#define RUN(hw, op, req)							\
	({									\
		static_assert(sizeof(*(req)) <= VHCA_ASQE_REQ);			\
		vhca_run(hw, op, req, sizeof(*(req)), 0, 0, NULL, 0);		\
	})

/* The same for a command that creates an object. */
#define RUN_CREATE(hw, op, req, handle)						\
	({									\
		static_assert(sizeof(*(req)) <= VHCA_ASQE_REQ);			\
		vhca_run_create(hw, op, req, sizeof(*(req)), handle);		\
	})

#endif /* VHCA_RUN_H */
