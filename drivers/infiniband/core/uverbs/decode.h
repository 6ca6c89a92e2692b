/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The decoders: from the forms in which a request can come to the argument block of its command,
 * and back.
 */
#ifndef CORE_UVERBS_DECODE_H
#define CORE_UVERBS_DECODE_H

#include "take.h"

/* ---- argument blocks (args.c) ---- */

/**
 * uverbs_args_alloc() - make the argument block of a request
 * @call: the request
 *
 * Return: 0 or -ENOMEM.
 */
static inline int uverbs_args_alloc(struct uverbs_call *call)
{
	unsigned int words = DIV_ROUND_UP(call->cmd->args_size, sizeof(u64));

	call->args = uverbs_call_alloc(call, words * sizeof(u64));
	if (IS_ERR(call->args))
		return PTR_ERR(call->args);
	memset64(call->args, 0, words);
	return 0;
}

/**
 * struct uverbs_pinned - pinned user memory of a response, to which writing cannot fail
 * @offset: offset of the response in the first page, in bytes
 * @num: number of pages
 * @pages: the pages
 */
struct uverbs_pinned {
	size_t offset;
	int num;
	struct page **pages;
};

int uverbs_arg_from_attr(struct uverbs_call *call, const struct uverbs_arg *arg,
			 const struct uverbs_attr *attr);
int uverbs_args_from_request(struct uverbs_call *call);
int uverbs_args_to_attrs(struct uverbs_call *call);
int uverbs_args_to_response(struct uverbs_call *call);
int uverbs_pin_response(struct uverbs_call *call, size_t len, struct uverbs_pinned *to);
void uverbs_write_pinned(const struct uverbs_pinned *to, size_t at, const void *from, size_t len);
void uverbs_unpin_response(const struct uverbs_pinned *to);
bool uverbs_cmd_destroys(const struct uverbs_cmd *cmd);

/* ---- attributes (attrs.c) ---- */

int uverbs_decode_attr(struct uverbs_call *call, struct ib_uverbs_attr *uattr,
		       const struct uverbs_attr_spec *spec, unsigned int key, const char *name);
const char *uverbs_attr_name(const struct uverbs_call *call, u16 id);
const char *uverbs_attr_key_name(const struct uverbs_method *method, unsigned int key);
int uverbs_attr_written(struct uverbs_call *call, const struct uverbs_attr *attr);
void uverbs_udata_from_attrs(struct uverbs_call *call, struct ib_udata *udata, u16 in, u16 out);

/* ---- write() forms (write.c) ---- */

int uverbs_run_written(struct uverbs_call *call, const void __user *req, size_t req_len);
void *uverbs_tail_copy(struct uverbs_call *call, size_t len, const char *name);

#endif /* CORE_UVERBS_DECODE_H */
