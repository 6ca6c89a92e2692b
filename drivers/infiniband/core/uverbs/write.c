// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The write() forms of the user API: a header, a structure, the driver's data.  In the extended
 * form the header counts words of eight bytes and holds the response's address; in the older form
 * it counts words of four bytes, and the address is the first member of the structure.
 */
#include <linux/fs.h>
#include <rdma/ib.h>

#include "api.h"
#include "decode.h"
#include "handles.h"

/**
 * uverbs_run_written() - run a command that came as structures
 * @call: the request; @call->cmd, its response place and driver data are set
 * @req: the structure
 * @req_len: bytes of it
 *
 * Return: 0, or a negative errno with the reason recorded.  The caller gives back the objects.
 */
int uverbs_run_written(struct uverbs_call *call, const void __user *req, size_t req_len)
{
	const struct uverbs_cmd *cmd = call->cmd;
	size_t known = call->extended ? cmd->x_req : cmd->w_req;
	size_t len = min(known, req_len);
	int ret;

	call->written = true;
	call->req = uverbs_call_alloc(call, known);
	if (IS_ERR(call->req))
		return PTR_ERR(call->req);
	if (copy_from_user(call->req, req, len))
		return uverbs_refuse(call, -EFAULT, "request cannot be read");
	if (len < known)
		memset(call->req + len, 0, known - len);
	if (cmd->flags & UV_C_TAIL) {
		if (len < known)
			return uverbs_refuse(call, -ENOSPC, "request has %zu bytes, needs %zu", len,
					     known);
		call->tail = req + len;
		call->tail_len = req_len - len;
	} else if (req_len > len && !ib_is_buffer_cleared(req + len, req_len - len)) {
		return uverbs_refuse(call, -EOPNOTSUPP,
				     "bytes behind the %zu known ones are not zero", known);
	}

	ret = uverbs_args_alloc(call) ?: uverbs_args_from_request(call);
	if (ret)
		return ret;

	if (call->doomed) {
		struct ib_uobject *uobj = *(struct ib_uobject **)(call->args + call->doomed->off);

		ret = uverbs_uobj_destroy(uobj, &call->bundle);
		if (ret)
			return uverbs_refuse_destroy(call, ret, call->doomed->name, uobj);
	}

	ret = cmd->run(call);
	if (!ret && !call->replied)
		ret = uverbs_args_to_response(call);
	return ret;
}

/**
 * uverbs_tail_copy() - copy what follows the structure of a %UV_C_TAIL command
 * @call: the request
 * @len: bytes to copy; only padding of zeros may follow them
 * @name: their name in the request, for the reason of a refusal
 *
 * Return: the bytes, which live as long as the request, or an error pointer with the reason
 * recorded: -ENOSPC when there are fewer, -EOPNOTSUPP when more follow, -ENOMEM, -EFAULT.
 */
void *uverbs_tail_copy(struct uverbs_call *call, size_t len, const char *name)
{
	void *copy;

	if (len > call->tail_len)
		return ERR_PTR(uverbs_refuse(call, -ENOSPC, "%s: %zu bytes do not fit %zu", name,
					     len, call->tail_len));
	copy = uverbs_alloc(&call->bundle, len);
	if (IS_ERR(copy))
		return copy;
	if (copy_from_user(copy, call->tail, len))
		return ERR_PTR(uverbs_refuse(call, -EFAULT, "%s: cannot be read", name));
	if (!ib_is_buffer_cleared(call->tail + len, call->tail_len - len))
		return ERR_PTR(uverbs_refuse(call, -EOPNOTSUPP, "%s: bytes behind it are not zero",
					     name));
	return copy;
}

/*
 * Checks the sizes of the extended form.  @len is the number of bytes behind both headers.  A short
 * request or response is no error here: missing members are zero, or not wanted.
 */
static int check_extended(struct uverbs_call *call, const struct ib_uverbs_cmd_hdr *hdr,
			  const struct ib_uverbs_ex_cmd_hdr *ex, size_t len)
{
	size_t out = (hdr->out_words + ex->provider_out_words) * 8;

	if ((hdr->in_words + ex->provider_in_words) * 8 != len)
		return uverbs_refuse(call, -EINVAL, "in_words %u + %u do not match %zu bytes",
				     hdr->in_words, ex->provider_in_words, len);
	if (ex->cmd_hdr_reserved)
		return uverbs_refuse(call, -EINVAL, "cmd_hdr_reserved is not zero");
	if (!ex->response)
		return out ? uverbs_refuse(call, -EINVAL, "out_words without a response address") :
			     0;
	if (!out)
		return uverbs_refuse(call, -EINVAL, "response address without out_words");
	if (!access_ok(u64_to_user_ptr(ex->response), out))
		return uverbs_refuse(call, -EFAULT, "response address is no user address");
	return 0;
}

static void udata_set(struct ib_udata *udata, const void __user *in, size_t inlen,
		      void __user *out, size_t outlen)
{
	udata->inbuf = inlen ? in : NULL;
	udata->inlen = inlen;
	udata->outbuf = outlen ? out : NULL;
	udata->outlen = outlen;
}

static int serve_extended(struct uverbs_call *call, const struct ib_uverbs_cmd_hdr *hdr,
			  const char __user *buf, size_t count)
{
	struct ib_uverbs_ex_cmd_hdr ex;
	size_t in = hdr->in_words * 8;
	int ret;

	if (count < sizeof(ex))
		return uverbs_refuse(call, -EINVAL, "%zu bytes do not hold the extended header",
				     count);
	if (copy_from_user(&ex, buf, sizeof(ex)))
		return uverbs_refuse(call, -EFAULT, "extended header cannot be read");
	ret = check_extended(call, hdr, &ex, count - sizeof(ex));
	if (ret)
		return ret;

	buf += sizeof(ex);
	call->extended = true;
	call->resp = u64_to_user_ptr(ex.response);
	call->resp_len = hdr->out_words * 8;
	udata_set(&call->bundle.driver_udata, buf + in, ex.provider_in_words * 8,
		  call->resp + call->resp_len, ex.provider_out_words * 8);
	return uverbs_run_written(call, buf, in);
}

/*
 * The header that rdma-core 18 and 19 send with DESTROY_CQ is eight bytes short of the request.
 * Kernels of their time did not check, and 6.12 still accepts that one length and reads the whole
 * structure.
 */
static bool is_short_destroy_cq(const struct uverbs_cmd *cmd, size_t len)
{
	return cmd->w_num == IB_USER_VERBS_CMD_DESTROY_CQ &&
	       len == sizeof(struct ib_uverbs_destroy_cq) - 8;
}

static int serve_plain(struct uverbs_call *call, const struct ib_uverbs_cmd_hdr *hdr,
		       const char __user *buf, size_t count)
{
	const struct uverbs_cmd *cmd = call->cmd;
	size_t in = count, out = hdr->out_words * 4;
	u64 response;

	if (hdr->in_words * 4 != count + sizeof(*hdr))
		return uverbs_refuse(call, -EINVAL, "in_words %u do not match %zu bytes",
				     hdr->in_words, count + sizeof(*hdr));
	if (in < cmd->w_req) {
		if (!is_short_destroy_cq(cmd, in))
			return uverbs_refuse(call, -ENOSPC, "request has %zu bytes, needs %u", in,
					     cmd->w_req);
		in = cmd->w_req;
	}
	if (out < cmd->w_resp)
		return uverbs_refuse(call, -ENOSPC, "room for %zu bytes of response, needs %u",
				     out, cmd->w_resp);

	if (cmd->w_resp) {
		/* Every request that is answered starts with the address of the answer. */
		if (get_user(response, (const u64 __user *)buf))
			return uverbs_refuse(call, -EFAULT, "request cannot be read");
		call->resp = u64_to_user_ptr(response);
		call->resp_len = out;
	}
	if (cmd->flags & UV_C_W_UHW) {
		in = min_t(size_t, in, cmd->w_req);
		out = min_t(size_t, out, cmd->w_resp);
		udata_set(&call->bundle.driver_udata, buf + in, count - in, call->resp + out,
			  cmd->w_resp ? call->resp_len - out : 0);
		call->resp_len = out;
	}
	return uverbs_run_written(call, buf, in);
}

static int serve(struct uverbs_call *call, const struct ib_uverbs_cmd_hdr *hdr,
		 const char __user *buf, size_t count)
{
	int ret;

	ret = uverbs_call_enter(call, uverbs_cmd_destroys(call->cmd));
	if (ret)
		return ret;
	if (hdr->command & IB_USER_VERBS_CMD_FLAG_EXTENDED)
		ret = serve_extended(call, hdr, buf, count);
	else
		ret = serve_plain(call, hdr, buf, count);
	uverbs_give_back(call, !ret);
	uverbs_call_leave(call);
	return ret;
}

/*
 * Refuses a command that the device lacks.  Linux 6.12 checks the length first, and in words of
 * four bytes even for an extended command, so that most extended requests fail that check.
 */
static int refuse_missing(const struct ib_uverbs_cmd_hdr *hdr, size_t count)
{
	u32 last = hdr->command & IB_USER_VERBS_CMD_FLAG_EXTENDED ?
		   IB_USER_VERBS_EX_CMD_MODIFY_CQ : IB_USER_VERBS_CMD_OPEN_QP;

	/* The command with an unknown flag is larger than the last number. */
	if ((hdr->command & ~IB_USER_VERBS_CMD_FLAG_EXTENDED) > last || hdr->in_words * 4 == count)
		return uverbs_api_no_write(hdr->command);
	return rdma_refuse(-EINVAL, "write: no command %#x here, and in_words %u are wrong",
			   hdr->command, hdr->in_words);
}

static int serve_buffer(struct ib_uverbs_file *file, const char __user *buf, size_t count,
			struct rdma_reject_scope *scope)
{
	const struct uverbs_cmd *cmd;
	struct ib_uverbs_cmd_hdr hdr;
	struct uverbs_call *call;
	UV_STACK(stack);
	int ret;

	if (count < sizeof(hdr))
		return rdma_refuse(-EINVAL, "write: %zu bytes do not hold a header", count);
	if (copy_from_user(&hdr, buf, sizeof(hdr)))
		return rdma_refuse(-EFAULT, "write: header cannot be read");
	cmd = uverbs_api_find_write(file->device->uapi, hdr.command);
	if (!cmd)
		return refuse_missing(&hdr, count);

	call = uverbs_call_begin(stack, file, 0, 0);
	if (!call)
		return -ENOMEM;
	call->cmd = cmd;
	call->scope = scope;
	ret = serve(call, &hdr, buf + sizeof(hdr), count - sizeof(hdr));
	uverbs_call_end(call);
	return ret;
}

/**
 * ib_uverbs_write() - write operation of a file
 * @filp: the file
 * @buf: one request
 * @count: its length
 * @pos: unused
 *
 * Requests carry addresses to be written to, so a file passed to a more privileged process must not
 * work there: only the credentials that opened it may use it.
 *
 * Return: @count or a negative errno, its reason recorded.
 */
ssize_t ib_uverbs_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos)
{
	struct ib_uverbs_file *file = filp->private_data;
	struct rdma_reject_scope scope = {};
	int ret;

	rdma_reject_enter(&file->rejects, &scope);
	if (!ib_safe_file_access(filp))
		ret = rdma_refuse(-EACCES, "write: other credentials than at open");
	else
		ret = serve_buffer(file, buf, count, &scope);
	rdma_reject_leave(&scope);
	return ret ?: count;
}
